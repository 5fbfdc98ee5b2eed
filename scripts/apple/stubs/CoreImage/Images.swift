import AppleFoundation
import CoreGraphics
import ImageIO

// developer.apple.com/documentation/coreimage/ciimage
open class CIImage: @unchecked Sendable {
    // developer.apple.com/documentation/coreimage/ciimage/init(data:)
    public init?(data: Data) {}
    // developer.apple.com/documentation/coreimage/ciimage/oriented(_:)
    open func oriented(_ orientation: CGImagePropertyOrientation) -> CIImage {}
}

// developer.apple.com/documentation/coreimage/cicontext
open class CIContext {
    public init() {}
    // developer.apple.com/documentation/coreimage/cicontext/jpegrepresentation(of:colorspace:options:)
    open func jpegRepresentation(
        of image: CIImage, colorSpace: CGColorSpace, options: [CIImageRepresentationOption: Any] = [:]
    ) -> Data? {}
}

// developer.apple.com/documentation/coreimage/ciimagerepresentationoption
public struct CIImageRepresentationOption: Hashable, Sendable {
    init(stub: Void) {}
}
