import AppleFoundation
import Foundation

// developer.apple.com/documentation/coregraphics/cgcolorspace
public final class CGColorSpace: Sendable {
    init(stub: Void) {}
}

// developer.apple.com/documentation/coregraphics/cgcolorspacecreatedevicegray()
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace {}

// developer.apple.com/documentation/coregraphics/cgcolorspacecreatedevicergb()
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace {}

// developer.apple.com/documentation/coregraphics/cgbitmapinfo
public struct CGBitmapInfo: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) {}
}

// developer.apple.com/documentation/coregraphics/cgcolorrenderingintent
public enum CGColorRenderingIntent: Int32, Sendable {
    case defaultIntent = 0, absoluteColorimetric, relativeColorimetric, perceptual, saturation
}

// developer.apple.com/documentation/coregraphics/cgdataprovider
public final class CGDataProvider {
    // developer.apple.com/documentation/coregraphics/cgdataprovider/init(data:)
    public init?(data: CFData) {}
}

// developer.apple.com/documentation/coregraphics/cgimage
public final class CGImage {
    // developer.apple.com/documentation/coregraphics/cgimage/init(width:height:bitspercomponent:bitsperpixel:bytesperrow:space:bitmapinfo:provider:decode:shouldinterpolate:intent:)
    public init?(
        width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
        bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
        intent: CGColorRenderingIntent
    ) {}
}
