import Foundation

/// The text of bytes in UTF-8, UTF-16 with its mark, or Windows-1252, the Latin-1 of most files.
struct DecodedText: Sendable, Hashable {
    let text: String
    /// Whether bytes are left out.
    let isCut: Bool

    /// - Parameter limit: the most bytes of the text in UTF-8.
    /// - Returns: `nil` for bytes that are no text.
    init?(_ data: Data, limit: Int) {
        let bytes = [UInt8](data)
        let decoded: (text: String, isCut: Bool)? =
            if bytes.starts(with: [0xFF, 0xFE]) {
                Self.wide(bytes.dropFirst(2), limit, isLittle: true)
            } else if bytes.starts(with: [0xFE, 0xFF]) {
                Self.wide(bytes.dropFirst(2), limit, isLittle: false)
            } else if let text = Self.unicode(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], limit)
            {
                text
            } else {
                Self.latin(bytes, limit)
            }
        guard let decoded, !decoded.text.utf8.contains(0), decoded.text.contains(where: { !$0.isWhitespace })
        else { return nil }
        text = decoded.text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        isCut = decoded.isCut
    }

    private static func unicode(_ bytes: ArraySlice<UInt8>, _ limit: Int) -> (text: String, isCut: Bool)? {
        var part = bytes.prefix(limit)
        if part.count < bytes.count {
            // The last character stays whole.
            while !part.isEmpty, bytes[part.endIndex] & 0xC0 == 0x80 { part.removeLast() }
        }
        return String(validating: part, as: UTF8.self).map { ($0, part.count < bytes.count) }
    }

    /// A unit of two bytes needs at most three in UTF-8.
    private static func wide(_ bytes: ArraySlice<UInt8>, _ limit: Int, isLittle: Bool) -> (text: String, isCut: Bool)? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let end = min(bytes.endIndex, bytes.startIndex + limit * 2 / 3)
        var units = stride(from: bytes.startIndex, to: end, by: 2).map { place in
            isLittle
                ? UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
                : UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
        }
        let isCut = units.count * 2 < bytes.count
        if isCut, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
        return String(validating: units, as: UTF16.self).map { ($0, isCut) }
    }

    /// The characters of 0x80 to 0x9F in Windows-1252; five bytes have none.
    private static let signs: [UInt32] = [
        0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0xFFFD,
        0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0xFFFD, 0x017E, 0x0178,
    ]

    /// A byte needs at most three in UTF-8. Files that are no text have control characters, or signs without a meaning.
    private static func latin(_ bytes: [UInt8], _ limit: Int) -> (text: String, isCut: Bool)? {
        let part = bytes.prefix(limit / 3)
        var scalars = String.UnicodeScalarView()
        var odd = 0
        for byte in part {
            let value = (0x80..<0xA0).contains(byte) ? signs[Int(byte - 0x80)] : UInt32(byte)
            if value == 0xFFFD || (value < 0x20 && ![9, 10, 12, 13, 27].contains(value)) { odd += 1 }
            if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
        }
        guard odd * 500 <= part.count else { return nil }
        return (String(scalars), part.count < bytes.count)
    }
}
