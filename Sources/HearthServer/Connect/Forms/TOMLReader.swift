import Foundation
import HearthBase

/// Reads the keys and values of a TOML text.
struct TOMLReader {
    let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ text: StaticString) -> Bool {
        guard bytes[position...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    func failure(_ problem: String) -> ConfigurationTextError { .broken(problem, at: position, in: bytes) }

    // MARK: Lines

    mutating func skipSpaces() { while let byte = peek, byte == 32 || byte == 9 { position += 1 } }

    /// Skips empty lines and comments.
    mutating func skipLines() {
        while true {
            skipSpaces()
            skipComment()
            guard let byte = peek, byte == 10 || byte == 13 else { return }
            position += 1
        }
    }

    private mutating func skipComment() {
        if peek == UInt8(ascii: "#") { while let byte = peek, byte != 10 { position += 1 } }
    }

    /// Requires that nothing but a comment follows in the line.
    mutating func endLine() throws(ConfigurationTextError) {
        skipSpaces()
        skipComment()
        guard let byte = peek, byte != 10, byte != 13 else { return }
        throw failure("the line goes on after its end")
    }

    // MARK: Keys

    /// The keys of `a.b."c"`.
    mutating func keys() throws(ConfigurationTextError) -> [String] {
        var keys: [String] = []
        repeat {
            skipSpaces()
            if peek == UInt8(ascii: "\"") || peek == UInt8(ascii: "'") {
                keys.append(try string())
            } else {
                let start = position
                while let byte = peek, Self.isBare(byte) { position += 1 }
                guard position > start else { throw failure("a key is expected here") }
                keys.append(String(decoding: bytes[start..<position], as: UTF8.self))
            }
            skipSpaces()
        } while take(".")
        return keys
    }

    static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    // MARK: Values

    mutating func value(depth: Int) throws(ConfigurationTextError) -> JSONValue {
        guard depth < JSONValue.maximumDepth else { throw failure("it is nested too deep") }
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string())
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "{"): return try table(depth: depth)
        default: return try word()
        }
    }

    private mutating func list(depth: Int) throws(ConfigurationTextError) -> JSONValue {
        var items: [JSONValue] = []
        position += 1
        skipLines()
        while !take("]") {
            items.append(try value(depth: depth + 1))
            skipLines()
            guard take(",") || peek == UInt8(ascii: "]") else { throw failure("a comma or ] is expected here") }
            skipLines()
        }
        return .array(items)
    }

    private mutating func table(depth: Int) throws(ConfigurationTextError) -> JSONValue {
        var members: JSONValue = [:]
        position += 1
        skipLines()
        while !take("}") {
            let path = try keys().map { ConfigurationStep.key($0) }
            guard take("=") else { throw failure("an equals sign is expected here") }
            skipSpaces()
            let new = try value(depth: depth + 1)
            guard members.at(path) == nil, let next = members.replacing(path, with: new) else {
                throw failure("the key is defined twice")
            }
            members = next
            skipLines()
            guard take(",") || peek == UInt8(ascii: "}") else { throw failure("a comma or } is expected here") }
            skipLines()
        }
        return members
    }

    /// A number, a date or a truth value. Dates stay texts.
    private mutating func word() throws(ConfigurationTextError) -> JSONValue {
        let start = position
        while let byte = peek, Self.isBare(byte) || "+.:".utf8.contains(byte) { position += 1 }
        var text = String(decoding: bytes[start..<position], as: UTF8.self)
        // A date and a time may have a space between them.
        if text.count == 10, text.contains("-"), peek == 32, position + 1 < bytes.count,
            (48...57).contains(bytes[position + 1])
        {
            position += 1
            while let byte = peek, Self.isBare(byte) || "+.:".utf8.contains(byte) { position += 1 }
            text = String(decoding: bytes[start..<position], as: UTF8.self)
        }
        switch text {
        case "true": return true
        case "false": return false
        default: break
        }
        let plain = text.replacing("_", with: "")
        if let number = try? JSONValue(parsing: plain), number.number != nil { return number }
        let isNumber =
            plain.wholeMatch(of: /[+-]?(inf|nan|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)|0x[0-9A-Fa-f]+|0o[0-7]+|0b[01]+/)
            != nil
        let isDate = text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}([T t].*)?|[0-9]{2}:[0-9]{2}.*/) != nil
        guard isNumber || isDate else {
            position = start
            throw failure("a value is expected here")
        }
        return .string(text)
    }

    /// A text in one of the four forms.
    private mutating func string() throws(ConfigurationTextError) -> String {
        let start = position
        let isBasic = peek == UInt8(ascii: "\"")
        let isLong = take("\"\"\"") || take("'''")
        if !isLong { position += 1 }
        let quote = UInt8(ascii: isBasic ? "\"" : "'")
        var text: [UInt8] = []
        if isLong, !take("\r\n") { _ = take("\n") }
        while let byte = peek, isLong || byte != 10 {
            position += 1
            if byte == UInt8(ascii: "\\"), isBasic {
                guard let escaped = escape() else { throw failure("an unknown escape") }
                text += escaped.utf8
            } else if byte != quote {
                text.append(byte)
            } else if !isLong {
                return String(decoding: text, as: UTF8.self)
            } else {
                let run = 1 + bytes[position...].prefix { $0 == quote }.count
                position += run - 1
                if run >= 3 {
                    text += Array(repeating: quote, count: min(run - 3, 2))
                    guard run <= 5 else { throw failure("a text has too many quotation marks") }
                    return String(decoding: text, as: UTF8.self)
                }
                text += Array(repeating: quote, count: run)
            }
        }
        position = start
        throw failure("a text has no end")
    }

    /// The characters after a backslash; `nil` for an unknown escape.
    private mutating func escape() -> String? {
        guard let byte = peek else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "e"): return "\u{1B}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return String(UnicodeScalar(byte))
        case UInt8(ascii: "x"), UInt8(ascii: "u"), UInt8(ascii: "U"):
            let count = byte == UInt8(ascii: "x") ? 2 : byte == UInt8(ascii: "u") ? 4 : 8
            let digits = bytes[position...].prefix(count)
            guard digits.count == count,
                let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                let scalar = UnicodeScalar(number)
            else { return nil }
            position += count
            return String(scalar)
        case 32, 9, 10, 13:
            // The line goes on at its next text.
            while let byte = peek, byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 }
            return ""
        default: return nil
        }
    }
}
