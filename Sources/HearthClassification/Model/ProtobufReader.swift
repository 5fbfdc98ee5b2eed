/// Walks the fields of a protobuf message (protobuf.dev/programming-guides/encoding), checking every length before it is used.
struct ProtobufReader {
    /// A field's value.
    enum Value {
        case integer(UInt64)
        /// The range of a text, of bytes or of another message.
        case bytes(Range<Int>)
        /// Four or eight bytes, which no reader here needs.
        case fixed
    }

    /// A message that contradicts the format or the limits.
    struct Damage: Error, Hashable {
        var reason: String
    }

    let bytes: [UInt8]
    /// The fields that may still be visited, so that a small file of empty messages ends too.
    private(set) var fieldsLeft = 4_000_000

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Calls `body` for each field of the message in a range.
    mutating func fields(
        in range: Range<Int>, _ body: (_ reader: inout ProtobufReader, _ number: Int, _ value: Value) throws -> Void
    ) throws {
        var place = range.lowerBound
        while place < range.upperBound {
            guard fieldsLeft > 0 else { throw Damage(reason: "it has too many parts") }
            fieldsLeft -= 1
            let key = try integer(&place, range.upperBound)
            let number = Int(clamping: key >> 3)
            guard number > 0 else { throw Damage(reason: "a field has no number") }
            let value: Value
            switch key & 7 {
            case 0: value = .integer(try integer(&place, range.upperBound))
            case 1: value = try fixed(8, &place, range.upperBound)
            case 2:
                let length = try integer(&place, range.upperBound)
                guard length <= UInt64(range.upperBound - place) else { throw Damage(reason: "it ends in the middle") }
                value = .bytes(place..<place + Int(length))
                place += Int(length)
            case 5: value = try fixed(4, &place, range.upperBound)
            default: throw Damage(reason: "a field is of no known kind")
            }
            try body(&self, number, value)
        }
    }

    /// The text in a range.
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func fixed(_ count: Int, _ place: inout Int, _ end: Int) throws -> Value {
        guard end - place >= count else { throw Damage(reason: "it ends in the middle") }
        place += count
        return .fixed
    }

    private func integer(_ place: inout Int, _ end: Int) throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 70, by: 7) {
            guard place < end else { throw Damage(reason: "it ends in the middle") }
            let byte = bytes[place]
            place += 1
            if shift < 64 { value |= UInt64(byte & 0x7F) << UInt64(shift) }
            if byte & 0x80 == 0 { return value }
        }
        throw Damage(reason: "a number is too long")
    }
}
