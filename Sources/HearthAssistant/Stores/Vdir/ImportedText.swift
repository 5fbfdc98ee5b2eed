import Foundation

/// Finds the encoding of imported files: iCalendar and vCards are UTF-8, and some programs write them otherwise.
enum ImportedText {
    /// The characters of the bytes from 0x80 to 0x9F in Windows-1252; the other bytes are those of Latin-1.
    private static let windows = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

    /// The text in UTF-8 without a byte order mark. Bytes that are neither UTF-8 nor UTF-16 are taken as Windows-1252.
    static func utf8(_ data: Data) -> Data {
        switch [UInt8](data.prefix(3)) {
        case [0xEF, 0xBB, 0xBF]: return data.dropFirst(3)
        case let mark where mark.starts(with: [0xFF, 0xFE]): return utf16(data.dropFirst(2)) { $0 | $1 << 8 }
        case let mark where mark.starts(with: [0xFE, 0xFF]): return utf16(data.dropFirst(2)) { $0 << 8 | $1 }
        default: break
        }
        guard String(validating: data, as: UTF8.self) == nil else { return data }
        // The lines of an old vCard name their own encodings.
        if data.range(of: Data("CHARSET=".utf8)) != nil { return data }
        var text = String.UnicodeScalarView()
        for byte in data {
            text.append((0x80...0x9F).contains(byte) ? windows[Int(byte) - 0x80] : Unicode.Scalar(byte))
        }
        return Data(String(text).utf8)
    }

    /// The numbers of lines that begin an event, a reminder or a contact, and of those that make an event or a reminder a
    /// changed occurrence of a series: counted before a file is read.
    static func counts(in data: Data) -> (components: Int, occurrences: Int) {
        let marks = ["BEGIN:VEVENT", "BEGIN:VTODO", "BEGIN:VCARD"].map { Array($0.utf8) }
        let mark = Array("RECURRENCE-ID".utf8)
        return data.withUnsafeBytes { bytes in
            var counts = (components: 0, occurrences: 0)
            var isStart = true
            for index in bytes.indices {
                if isStart, [0x42, 0x52].contains(bytes[index] & 0xDF) {
                    let rest = bytes[index...].prefix(mark.count).map { $0 >= 0x61 && $0 <= 0x7A ? $0 - 0x20 : $0 }
                    if marks.contains(where: { rest.starts(with: $0) }) { counts.components += 1 }
                    if rest == mark { counts.occurrences += 1 }
                }
                isStart = bytes[index] == 10
            }
            return counts
        }
    }

    private static func utf16(_ data: Data, _ unit: (UInt16, UInt16) -> UInt16) -> Data {
        let bytes = [UInt8](data)
        let units = stride(from: 0, to: bytes.count - bytes.count % 2, by: 2).map {
            unit(UInt16(bytes[$0]), UInt16(bytes[$0 + 1]))
        }
        return Data(String(decoding: units, as: UTF16.self).utf8)
    }
}
