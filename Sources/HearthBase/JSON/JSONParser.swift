import Foundation

/// A syntax error in a JSON text, with its place.
package struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    package let problem: String
    /// The line, from 1.
    package let line: Int
    /// The column in bytes, from 1.
    package let column: Int

    package var description: String { "line \(line), column \(column): \(problem)" }
}

extension JSONValue {
    /// The deepest accepted nesting; a manifest needs four levels.
    package static let maximumDepth = 64

    /// Reads one JSON document (RFC 8259) strictly: UTF-8, no bytes after it, no duplicate keys, at most 64 levels.
    package init(parsing data: Data) throws(JSONSyntaxError) {
        try self.init(parsing: Array(data))
    }

    /// Reads one JSON document.
    package init(parsing text: String) throws(JSONSyntaxError) { try self.init(parsing: Array(text.utf8)) }

    /// Reads one JSON document.
    package init(parsing bytes: [UInt8]) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: bytes)
        self = try parser.document()
    }
}

/// Recursive descent over bytes. Foundation's parsers accept duplicate keys and round integers, but a signed document
/// must have only one meaning.
private struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        // Skips the byte order mark that some editors write.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func document() throws(JSONSyntaxError) -> JSONValue {
        skipWhitespace()
        guard position < bytes.count else { throw failure("there is nothing in it") }
        let value = try value(depth: 0)
        skipWhitespace()
        guard position == bytes.count else { throw failure("there is something after the end of the document") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth < JSONValue.maximumDepth else {
            throw failure("it is nested deeper than \(JSONValue.maximumDepth) levels")
        }
        guard let byte = peek else { throw failure("it ends in the middle") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw failure("a value is expected here")
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        var members = JSONMembers()
        position += 1
        skipWhitespace()
        if take("}") { return .object(members) }
        while true {
            guard peek == UInt8(ascii: "\"") else { throw failure("a key in quotation marks is expected here") }
            let key = try string()
            guard members[key] == nil else { throw failure("the key \(key.quoted) appears twice in one object") }
            skipWhitespace()
            guard take(":") else { throw failure("a colon is expected here") }
            skipWhitespace()
            members[key] = try value(depth: depth + 1)
            skipWhitespace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("a comma or } is expected here") }
            skipWhitespace()
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        var items: [JSONValue] = []
        position += 1
        skipWhitespace()
        if take("]") { return .array(items) }
        while true {
            items.append(try value(depth: depth + 1))
            skipWhitespace()
            if take("]") { return .array(items) }
            guard take(",") else { throw failure("a comma or ] is expected here") }
            skipWhitespace()
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw failure("a value is expected here") }
        position += word.utf8.count
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        _ = take("-")
        if !take("0") {
            guard takeDigits() else { throw failure("a digit is expected here") }
        }
        if take(".") {
            guard takeDigits() else { throw failure("a digit is expected here") }
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard takeDigits() else { throw failure("a digit is expected here") }
        }
        return .number(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw failure("it is not UTF-8") }
                position += 1
                return string
            case UInt8(ascii: "\\"):
                position += 1
                text.append(contentsOf: try escape().utf8)
            case 0..<0x20: throw failure("a control character must be escaped")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw failure("a string has no end")
    }

    private mutating func escape() throws(JSONSyntaxError) -> String {
        guard let byte = peek else { throw failure("a string has no end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(UnicodeScalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let unit = try codeUnit()
            if let scalar = UnicodeScalar(UInt32(unit)) { return String(scalar) }
            guard UTF16.isLeadSurrogate(unit), take("\\"), take("u") else { throw failure("half a surrogate pair") }
            let trail = try codeUnit()
            guard UTF16.isTrailSurrogate(trail) else { throw failure("half a surrogate pair") }
            return String(decoding: [unit, trail], as: UTF16.self)
        default: throw failure("an unknown escape")
        }
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits are expected here") }
        position += 4
        return unit
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = peek, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func takeDigits() -> Bool {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private func failure(_ problem: String) -> JSONSyntaxError {
        let before = bytes[..<min(position, bytes.count)]
        let newline = UInt8(ascii: "\n")
        let line = before.count { $0 == newline } + 1
        let column = before.count - (before.lastIndex(of: newline).map { $0 + 1 } ?? 0) + 1
        return JSONSyntaxError(problem: problem, line: line, column: column)
    }
}
