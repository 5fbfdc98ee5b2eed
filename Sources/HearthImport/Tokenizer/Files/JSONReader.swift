import HearthBase

/// Reads a large JSON text from front to back without a tree of all its values. The bytes must outlive the reader.
struct JSONReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    /// The file's name in messages.
    let name: String

    init(_ bytes: UnsafeRawBufferPointer, name: String) {
        self.bytes = bytes
        self.name = name
    }

    // MARK: - Values

    /// Reads an object. `member` reads or skips the value of each key.
    mutating func object(
        _ member: (inout JSONReader, TokenText) throws(ImportError) -> Void
    ) throws(ImportError) {
        try expect("{")
        if take("}") { return }
        while true {
            let key = try string()
            try expect(":")
            try member(&self, key)
            if take("}") { return }
            try expect(",")
        }
    }

    /// Reads an array. `element` reads or skips each value.
    mutating func array(_ element: (inout JSONReader) throws(ImportError) -> Void) throws(ImportError) {
        try expect("[")
        if take("]") { return }
        while true {
            try element(&self)
            if take("]") { return }
            try expect(",")
        }
    }

    /// Reads a string.
    mutating func string() throws(ImportError) -> TokenText {
        guard next == UInt8(ascii: "\"") else { throw failure("a string is expected") }
        let (range, hasEscapes) = try stringRange()
        // Escapes are rare in a vocabulary, so the reader of small documents decodes them.
        guard !hasEscapes else {
            guard case .string(let text) = try parsed(range) else { throw failure("a string is expected") }
            return TokenText(text)
        }
        let inner = UnsafeRawBufferPointer(rebasing: bytes[(range.lowerBound + 1)..<(range.upperBound - 1)])
        guard let text = String(validating: inner, as: UTF8.self) else { throw failure("a string is not UTF-8") }
        return TokenText(text)
    }

    /// Reads a whole number of at most nine digits.
    mutating func number() throws(ImportError) -> Int {
        _ = next
        var number = 0
        var digits = 0
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]), digits < 10 {
            number = number * 10 + Int(bytes[position] - UInt8(ascii: "0"))
            position += 1
            digits += 1
        }
        guard (1...9).contains(digits), next.map(Self.isMark) ?? true else {
            throw failure("a whole number of at most nine digits is expected")
        }
        return number
    }

    /// Reads a value of at most `limit` bytes as a tree.
    mutating func value(limit: Int = 1 << 20) throws(ImportError) -> JSONValue {
        _ = next
        let start = position
        try skip()
        guard position - start <= limit else { throw failure("a value has more than \(limit) bytes") }
        return try parsed(start..<position)
    }

    /// Skips a value. Only its brackets and strings are checked.
    mutating func skip() throws(ImportError) {
        var depth = 0
        repeat {
            switch next {
            case UInt8(ascii: "\""): _ = try stringRange()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                guard depth <= JSONValue.maximumDepth else { throw failure("it is nested too deep") }
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                guard depth >= 0 else { throw failure("a value is expected") }
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard depth > 0 else { throw failure("a value is expected") }
                position += 1
            case nil: throw failure("it ends too early")
            default: skipWord()
            }
        } while depth > 0
    }

    /// The first byte of the next value; `nil` at the end.
    var next: UInt8? {
        mutating get {
            while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
            return position < bytes.count ? bytes[position] : nil
        }
    }

    /// Checks that nothing follows.
    mutating func end() throws(ImportError) {
        guard next == nil else { throw failure("there is something after its end") }
    }

    // MARK: - Parts

    private mutating func take(_ letter: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: letter) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ letter: Unicode.Scalar) throws(ImportError) {
        guard take(letter) else { throw failure("\(letter) is expected") }
    }

    /// Moves behind a string, which starts here.
    private mutating func stringRange() throws(ImportError) -> (range: Range<Int>, hasEscapes: Bool) {
        let start = position
        var hasEscapes = false
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return (start..<position, hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 2
            case 0..<0x20: throw failure("a control character is not escaped")
            default: position += 1
            }
        }
        throw failure("a string has no end")
    }

    /// Moves behind a number, `true`, `false` or `null`.
    private mutating func skipWord() {
        while position < bytes.count, !Self.isBlank(bytes[position]), !Self.isMark(bytes[position]) { position += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "{"), UInt8(ascii: "}"):
            true
        default: false
        }
    }

    private func parsed(_ range: Range<Int>) throws(ImportError) -> JSONValue {
        do {
            return try JSONValue(parsing: Array(bytes[range]))
        } catch {
            throw failure(error.problem)
        }
    }

    /// An error at this place.
    func failure(_ problem: String) -> ImportError { .damaged("\(problem), at byte \(position)", file: name) }
}
