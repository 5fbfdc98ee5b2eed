/// The order of the characters of a page.
package enum ReadingDirection: String, Sendable, Hashable, Codable, CaseIterable {
    /// The wider gaps between lines tell.
    case automatic = "auto"
    /// Columns from top to bottom, the rightmost first.
    case columns
    /// Rows from left to right, the uppermost first.
    case rows
}

/// A character's place on a page.
package struct PageCell: Sendable, Hashable {
    /// The square that is cut out, with its margin.
    package var box: PixelBox
    /// The ink of the character.
    package var ink: PixelBox
    /// The number of its column or row in reading order, from 0.
    package var line: Int
}
