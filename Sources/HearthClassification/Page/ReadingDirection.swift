/// The order of the characters of a page.
public enum ReadingDirection: String, Sendable, Hashable, Codable, CaseIterable {
    /// The wider gaps between lines tell.
    case automatic = "auto"
    /// Columns from top to bottom, the rightmost first.
    case columns
    /// Rows from left to right, the uppermost first.
    case rows
}

/// A character's place on a page.
public struct PageCell: Sendable, Hashable {
    /// The square that is cut out, with its margin.
    public var box: PixelBox
    /// The ink of the character.
    public var ink: PixelBox
    /// The number of its column or row in reading order, from 0.
    public var line: Int
}
