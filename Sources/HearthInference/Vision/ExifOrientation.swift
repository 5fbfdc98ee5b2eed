/// Reads the orientation (tag 0x0112 of Exif) from a part of a picture's file.
package enum ExifOrientation {
    private static let identifier = Array("Exif\0\0".utf8)
    private static let tag = 0x0112
    /// The type of a 16-bit number.
    private static let short = 3

    /// The orientation in a part, 1...8; `nil` if the part contains none.
    /// - Parameters:
    ///   - part: the range of the part's content, within `bytes`.
    ///   - isMarked: whether Exif's identifier must come first, because parts of other kinds have the same marker
    ///     (JPEG's APP1). In PNG and WebP the identifier has no place, and some programs write it all the same.
    package static func read(_ bytes: [UInt8], in part: Range<Int>, isMarked: Bool) -> Int? {
        let hasMark = bytes[part].starts(with: identifier)
        guard hasMark || !isMarked else { return nil }
        let start = part.lowerBound + (hasMark ? identifier.count : 0)
        guard part.upperBound - start > 8 else { return nil }
        let isLittleEndian = bytes[start] == UInt8(ascii: "I")
        func number(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= part.upperBound - start else { return nil }
            return isLittleEndian ? bytes.littleEndian(start + offset, count) : bytes.bigEndian(start + offset, count)
        }
        guard number(2, 2) == 42, let directory = number(4, 4), let count = number(directory, 2) else { return nil }
        for entry in (0..<count).map({ directory + 2 + 12 * $0 }) {
            guard let found = number(entry, 2) else { return nil }
            guard found == tag else { continue }
            guard number(entry + 2, 2) == short, let value = number(entry + 8, 2), (1...8).contains(value) else {
                return nil
            }
            return value
        }
        return nil
    }
}
