// developer.apple.com/documentation/coregraphics/cgcolorspace
public final class CGColorSpace: @unchecked Sendable {
    init(stub: Void) {}
}

// developer.apple.com/documentation/coregraphics/cgcolorspacecreatedevicergb()
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace {}
