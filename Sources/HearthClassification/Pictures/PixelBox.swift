/// A rectangle of pixels; y grows downwards.
public struct PixelBox: Sendable, Hashable, Codable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    /// A rectangle by its left upper corner and size.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    var maxX: Int { x + width }
    var maxY: Int { y + height }
    var centreX: Double { Double(x) + Double(width) / 2 }
    var centreY: Double { Double(y) + Double(height) / 2 }
    /// The longer side.
    var side: Int { max(width, height) }

    /// The rectangle with both axes exchanged.
    var transposed: PixelBox { PixelBox(x: y, y: x, width: height, height: width) }

    /// The smallest rectangle around both.
    func union(_ other: PixelBox) -> PixelBox {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return PixelBox(
            x: left, y: top, width: max(maxX, other.maxX) - left, height: max(maxY, other.maxY) - top)
    }
}
