/// Joins the bytes of tokens to text: a token may end in the middle of a character.
///
/// Whole scalars are returned at once; at most three bytes of an incomplete one are held. Bytes that belong to no
/// character are skipped and counted. They are not replaced by U+FFFD, because a reader could not distinguish it from
/// an answer that contains it. In an invalid sequence only the bytes before the error are dropped (the "maximal
/// subpart" of Unicode 3.9), so that an invalid byte never removes its neighbours.
package struct UTF8Assembler: Sendable {
    private var held: [UInt8] = []
    /// The number of skipped bytes so far.
    package private(set) var droppedBytes = 0

    /// Makes an empty assembler.
    package init() { held.reserveCapacity(64) }

    /// The bytes that wait for the rest of their character, 0...3.
    package var heldBytes: Int { held.count }

    /// Adds the next bytes and returns the text that they complete, empty if they complete none.
    package mutating func append(_ bytes: some Sequence<UInt8>) -> String {
        held.append(contentsOf: bytes)
        let end = held.count - unfinished
        defer { held.removeFirst(end) }
        // Nearly all bytes are whole characters, which are checked and copied together.
        if let text = String(validating: held[..<end], as: UTF8.self) { return text }
        var text = ""
        var parser = Unicode.UTF8.ForwardParser()
        var rest = held[..<end].makeIterator()
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let character): text.unicodeScalars.append(Unicode.UTF8.decode(character))
            case .error(let length): droppedBytes += length
            case .emptyInput: return text
            }
        }
    }

    /// Ends the text and drops an incomplete character.
    /// - Returns: the number of all dropped bytes.
    @discardableResult
    package mutating func flush() -> Int {
        droppedBytes += held.count
        held.removeAll(keepingCapacity: true)
        return droppedBytes
    }

    /// The number of bytes at the end that begin an incomplete character.
    private var unfinished: Int {
        for (distance, byte) in held.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
            let length =
                switch byte {
                case 0xC2...0xDF: 2
                case 0xE0...0xEF: 3
                case 0xF0...0xF4: 4
                default: 1
                }
            return length > distance + 1 ? distance + 1 : 0
        }
        return 0
    }
}
