import AppleFoundation

// developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct
public struct UTType: Hashable, Sendable {
    public static var image: UTType { get {} }
    public static var pdf: UTType { get {} }
}
