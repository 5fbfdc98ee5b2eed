import AppleFoundation
import Foundation

// developer.apple.com/documentation/coreml/mlcomputeunits
public enum MLComputeUnits: Int, Sendable {
    case cpuOnly = 0
    case cpuAndGPU = 1
    case all = 2
    // developer.apple.com/documentation/coreml/mlcomputeunits/cpuandneuralengine
    @available(iOS 16.0, macOS 13.0, *)
    case cpuAndNeuralEngine = 3
}

// developer.apple.com/documentation/coreml/mlmodelconfiguration
open class MLModelConfiguration: NSObject {
    public override init() {}
    open var computeUnits: MLComputeUnits { get {} set {} }
}

// developer.apple.com/documentation/coreml/mlmodel
open class MLModel: NSObject {
    init(stub: Void) {}
    open var modelDescription: MLModelDescription { get {} }
    // developer.apple.com/documentation/coreml/mlmodel/load(contentsof:configuration:)
    @available(iOS 15.0, macOS 12.0, *)
    public class func load(
        contentsOf url: URL, configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> sending MLModel {}
    // developer.apple.com/documentation/coreml/mlmodel/compilemodel(at:)-6442s
    @available(iOS 16.0, macOS 13.0, *)
    public class func compileModel(at modelURL: URL) async throws -> URL {}
}

// developer.apple.com/documentation/coreml/mlmodeldescription
open class MLModelDescription: NSObject {
    init(stub: Void) {}
    open var inputDescriptionsByName: [String: MLFeatureDescription] { get {} }
    open var predictedFeatureName: String? { get {} }
    // developer.apple.com/documentation/coreml/mlmodeldescription/classlabels
    @available(iOS 14.0, macOS 11.0, *)
    open var classLabels: [Any]? { get {} }
}

// developer.apple.com/documentation/coreml/mlfeaturedescription
open class MLFeatureDescription: NSObject {
    init(stub: Void) {}
    open var imageConstraint: MLImageConstraint? { get {} }
}

// developer.apple.com/documentation/coreml/mlimageconstraint
open class MLImageConstraint: NSObject {
    init(stub: Void) {}
    open var pixelsHigh: Int { get {} }
    open var pixelsWide: Int { get {} }
    open var pixelFormatType: UInt32 { get {} }
}
