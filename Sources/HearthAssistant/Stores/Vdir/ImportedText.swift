import Foundation

/// Finds the encoding of files: iCalendar and vCards are UTF-8 with CRLF, and some programs write them otherwise.
enum ImportedText {
    /// The characters of the bytes from 0x80 to 0x9F in Windows-1252; the other bytes are those of Latin-1.
    private static let windows = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let (newline, carriage) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))

    /// The text in UTF-8, without byte order marks, and with LF or CRLF at the end of each line.
    ///
    /// Bytes that are neither UTF-8 nor UTF-16 are taken as Windows-1252, except for lines of old vCards that name their
    /// own character set. A text that is in this form already keeps its bytes.
    static func utf8(_ data: Data) -> Data { plain(decoded(data)) }

    private static func decoded(_ data: Data) -> Data {
        let head = [UInt8](data.prefix(3))
        switch head.first {
        case 0xFF where head.starts(with: [0xFF, 0xFE]): return utf16(data.dropFirst(2)) { $0 | $1 << 8 }
        case 0xFE where head.starts(with: [0xFE, 0xFF]): return utf16(data.dropFirst(2)) { $0 << 8 | $1 }
        // The B of BEGIN without a byte order mark.
        case 0x42 where head.dropFirst().first == 0, 0x62 where head.dropFirst().first == 0:
            return utf16(data) { $0 | $1 << 8 }
        case 0 where [0x42, 0x62].contains(head.dropFirst().first): return utf16(data) { $0 << 8 | $1 }
        default: break
        }
        guard String(validating: data, as: UTF8.self) == nil else { return data }
        return data.range(of: Data("CHARSET=".utf8)) == nil ? windows(data) : linewise(data)
    }

    /// Decodes the lines that are not UTF-8 and name no character set.
    private static func linewise(_ data: Data) -> Data {
        var result = Data()
        var namesCharset = false
        for line in data.split(separator: newline, omittingEmptySubsequences: false) {
            if !result.isEmpty || line.startIndex > data.startIndex { result.append(newline) }
            // A fold belongs to the line before it.
            if line.first != UInt8(ascii: " "), line.first != UInt8(ascii: "\t") {
                let parameters = line.prefix { $0 != UInt8(ascii: ":") }
                namesCharset = String(decoding: parameters, as: UTF8.self).uppercased().contains("CHARSET=")
            }
            let isText = namesCharset || String(validating: line, as: UTF8.self) != nil
            result.append(isText ? line : windows(line))
        }
        return result
    }

    private static func windows(_ data: Data) -> Data {
        var text = String.UnicodeScalarView()
        for byte in data {
            text.append((0x80...0x9F).contains(byte) ? windows[Int(byte) - 0x80] : Unicode.Scalar(byte))
        }
        return Data(String(text).utf8)
    }

    private static func utf16(_ data: Data, _ unit: (UInt16, UInt16) -> UInt16) -> Data {
        let bytes = [UInt8](data)
        let units = stride(from: 0, to: bytes.count - bytes.count % 2, by: 2).map {
            unit(UInt16(bytes[$0]), UInt16(bytes[$0 + 1]))
        }
        // Some programs end the text with a CR LF of two bytes.
        let text = bytes.suffix(2) == [carriage, newline] ? units.dropLast() + [UInt16(newline)] : units[...]
        return Data(String(decoding: text, as: UTF16.self).utf8)
    }

    /// The text without byte order marks at the beginnings of its lines, and with whole line endings.
    private static func plain(_ data: Data) -> Data {
        guard data.withUnsafeBytes({ needsWork($0) }) else { return data }
        let bytes = [UInt8](data)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        var isStart = true
        while position < bytes.count {
            let byte = bytes[position]
            if isStart, byte == mark[0], bytes[position...].starts(with: mark) {
                position += mark.count
                continue
            }
            position += 1
            guard byte == carriage else {
                isStart = byte == newline
                result.append(byte)
                continue
            }
            // Some programs write CR CR LF.
            while position < bytes.count, bytes[position] == carriage, position + 1 < bytes.count,
                bytes[position + 1] == newline
            {
                position += 1
            }
            if position < bytes.count, bytes[position] == newline { position += 1 }
            result += [carriage, newline]
            isStart = true
        }
        return Data(result)
    }

    private static func needsWork(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var previous = newline
        for byte in bytes {
            if previous == carriage, byte != newline { return true }
            if previous == newline, byte == mark[0] { return true }
            previous = byte
        }
        return previous == carriage
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
}
