import AppleFoundation
import CoreGraphics
import CoreML
import Foundation

// developer.apple.com/documentation/vision/vnimagecropandscaleoption
public enum VNImageCropAndScaleOption: UInt, Sendable {
    case centerCrop = 0
    case scaleFit = 1
    case scaleFill = 2
    // developer.apple.com/documentation/vision/vnimagecropandscaleoption/scalefitrotate90ccw
    @available(iOS 16.0, macOS 13.0, *)
    case scaleFitRotate90CCW = 257
    // developer.apple.com/documentation/vision/vnimagecropandscaleoption/scalefillrotate90ccw
    @available(iOS 16.0, macOS 13.0, *)
    case scaleFillRotate90CCW = 258
}

// developer.apple.com/documentation/vision/vnimageoption
public struct VNImageOption: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) {}
}

// developer.apple.com/documentation/vision/vnrequest
open class VNRequest: NSObject {
    init(stub: Void) {}
    open var results: [VNObservation]? { get {} }
}

// developer.apple.com/documentation/vision/vnimagebasedrequest
open class VNImageBasedRequest: VNRequest {}

// developer.apple.com/documentation/vision/vncoremlmodel
open class VNCoreMLModel: NSObject {
    // developer.apple.com/documentation/vision/vncoremlmodel/init(for:)
    public convenience init(for model: MLModel) throws {}
    init(stub: Void) {}
}

// developer.apple.com/documentation/vision/vncoremlrequest
open class VNCoreMLRequest: VNImageBasedRequest {
    public convenience init(model: VNCoreMLModel) {}
    // developer.apple.com/documentation/vision/vncoremlrequest/imagecropandscaleoption
    open var imageCropAndScaleOption: VNImageCropAndScaleOption { get {} set {} }
}

// developer.apple.com/documentation/vision/vnimagerequesthandler
open class VNImageRequestHandler: NSObject {
    // developer.apple.com/documentation/vision/vnimagerequesthandler/init(cgimage:options:)-4qda6
    public init(cgImage image: CGImage, options: [VNImageOption: Any] = [:]) {}
    // developer.apple.com/documentation/vision/vnimagerequesthandler/init(data:options:)
    public init(data imageData: Data, options: [VNImageOption: Any] = [:]) {}
    open func perform(_ requests: [VNRequest]) throws {}
}

// developer.apple.com/documentation/vision/vnobservation
open class VNObservation: NSObject {
    init(stub: Void) {}
    open var confidence: Float { get {} }
}

// developer.apple.com/documentation/vision/vnclassificationobservation
open class VNClassificationObservation: VNObservation {
    open var identifier: String { get {} }
}
