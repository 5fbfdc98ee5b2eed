/// The bytes of the process at the other end are not what was agreed on. Nothing of them is used.
struct WireError: Error, Hashable {}

/// Reads the values of a ``WireWriter``. Strict, because the bytes may come from a process that a hostile model file
/// has taken over: no length beyond the content, no number out of its range, no text that is not UTF-8, nothing left.
struct WireReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// Ends the reading.
    /// - Throws: ``WireError`` if anything is left.
    func end() throws(WireError) { guard rest.isEmpty else { throw WireError() } }

    mutating func bytes(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw WireError() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(WireError) -> Number {
        let size = Number.bitWidth / 8
        var value: Number = 0
        for (place, byte) in try bytes(size).enumerated() { value |= Number(truncatingIfNeeded: byte) << (8 * place) }
        return value
    }

    /// A count or size of at most `most`, 2^40 by default: sums of a few do not overflow.
    mutating func count(_ most: Int = 1 << 40) throws(WireError) -> Int {
        let value: Int64 = try number()
        guard value >= 0, value <= Int64(most) else { throw WireError() }
        return Int(value)
    }

    mutating func integer() throws(WireError) -> Int { Int(try number(Int64.self)) }

    mutating func bool() throws(WireError) -> Bool {
        switch try number(UInt8.self) {
        case 0: false
        case 1: true
        default: throw WireError()
        }
    }

    mutating func float() throws(WireError) -> Float { Float(bitPattern: try number()) }

    mutating func double() throws(WireError) -> Double { Double(bitPattern: try number()) }

    /// 0, or a number from a billionth to a billion: seconds and rates. Callers divide by it, and convert it to integers.
    mutating func amount() throws(WireError) -> Double {
        let value = try double()
        guard value == 0 || (1e-9...1e9).contains(value) else { throw WireError() }
        return value
    }

    mutating func data() throws(WireError) -> ArraySlice<UInt8> { try bytes(Int(try number(UInt32.self))) }

    mutating func text(_ most: Int = .max) throws(WireError) -> String {
        let bytes = try data()
        guard bytes.count <= most, let text = String(validating: bytes, as: UTF8.self) else { throw WireError() }
        return text
    }

    mutating func numbers<Number: WireNumber>(of type: Number.Type = Number.self) throws(WireError) -> [Number] {
        let count = Int(try number(UInt32.self))
        guard count <= rest.count / 4 else { throw WireError() }
        var values: [Number] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(Number(pattern: try number())) }
        return values
    }

    mutating func optional<Value>(_ read: (inout WireReader) throws(WireError) -> Value) throws(WireError) -> Value? {
        try bool() ? try read(&self) : nil
    }

    mutating func list<Value>(
        most: Int = .max, _ read: (inout WireReader) throws(WireError) -> Value
    ) throws(WireError) -> [Value] {
        let count = Int(try number(UInt32.self))
        // An element has at least one byte, so that a lie about the count costs no memory.
        guard count <= min(rest.count, most) else { throw WireError() }
        var values: [Value] = []
        for _ in 0..<count { values.append(try read(&self)) }
        return values
    }

    /// A case of an enumeration by its raw value.
    mutating func word<Word: RawRepresentable<String>>(_ type: Word.Type = Word.self) throws(WireError) -> Word {
        guard let word = Word(rawValue: try text(64)) else { throw WireError() }
        return word
    }
}
