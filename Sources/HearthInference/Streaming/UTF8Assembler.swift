/// Joins the bytes of tokens to text: a token may end in the middle of a character.
///
/// Whole scalars come out at once, at most three bytes of an unfinished one are held back. Bytes that belong to no
/// character are skipped and counted; U+FFFD is never put in their place, because the reader cannot tell it from an
/// answer that means it. Where a character goes wrong only its bytes so far are dropped (the "maximal subpart" of
/// Unicode 3.9), so one bad byte never costs its neighbours.
public struct UTF8Assembler: Sendable {
    private var held: [UInt8] = []
    private var whole: [UInt8] = []
    /// The bytes skipped until now.
    public private(set) var droppedBytes = 0

    /// An assembler that holds nothing.
    public init() { held.reserveCapacity(4) }

    /// The bytes that wait for the rest of their character, 0...3.
    public var heldBytes: Int { held.count }

    /// Takes the next bytes and gives the text they complete, empty if they complete none.
    public mutating func append(_ bytes: some Sequence<UInt8>) -> String {
        if let text = bytes.withContiguousStorageIfAvailable({ appendRun($0) }) { return text }
        whole.removeAll(keepingCapacity: true)
        for byte in bytes { take(byte) }
        return String(decoding: whole, as: UTF8.self)
    }

    /// Nearly all bytes are whole characters: those are checked and copied in one go.
    private mutating func appendRun(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        whole.removeAll(keepingCapacity: true)
        var index = 0
        while index < bytes.count, !held.isEmpty {
            take(bytes[index])
            index += 1
        }
        let end = bytes.count - Self.unfinished(bytes[index...])
        let run = UnsafeBufferPointer(rebasing: bytes[index..<end])
        if let text = String(validating: run, as: UTF8.self) {
            for byte in bytes[end...] { take(byte) }
            return whole.isEmpty ? text : String(decoding: whole, as: UTF8.self) + text
        }
        for byte in bytes[index...] { take(byte) }
        return String(decoding: whole, as: UTF8.self)
    }

    /// The number of bytes at the end that begin a longer character.
    private static func unfinished(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        for (distance, byte) in bytes.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
            return length(lead: byte) > distance + 1 ? distance + 1 : 0
        }
        return 0
    }

    /// Ends the text: an unfinished character is dropped.
    /// - Returns: all bytes dropped since the beginning.
    @discardableResult
    public mutating func flush() -> Int {
        droppedBytes += held.count
        held.removeAll(keepingCapacity: true)
        return droppedBytes
    }

    private mutating func take(_ byte: UInt8) {
        if let lead = held.first {
            if Self.isContinuation(byte, at: held.count, lead: lead) {
                held.append(byte)
                if held.count == Self.length(lead: lead) {
                    whole.append(contentsOf: held)
                    held.removeAll(keepingCapacity: true)
                }
                return
            }
            droppedBytes += held.count
            held.removeAll(keepingCapacity: true)
        }
        switch Self.length(lead: byte) {
        case 0: droppedBytes += 1
        case 1: whole.append(byte)
        default: held.append(byte)
        }
    }

    /// The bytes of a character that begins with `lead`, 0 if none does.
    private static func length(lead: UInt8) -> Int {
        switch lead {
        case 0x00...0x7F: 1
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 0
        }
    }

    /// Table 3-7 of the Unicode standard: the second byte excludes overlong forms, surrogates and what is past U+10FFFF.
    private static func isContinuation(_ byte: UInt8, at index: Int, lead: UInt8) -> Bool {
        guard index == 1 else { return (0x80...0xBF).contains(byte) }
        return switch lead {
        case 0xE0: (0xA0...0xBF).contains(byte)
        case 0xED: (0x80...0x9F).contains(byte)
        case 0xF0: (0x90...0xBF).contains(byte)
        case 0xF4: (0x80...0x8F).contains(byte)
        default: (0x80...0xBF).contains(byte)
        }
    }
}
