/// Ends a text before the first of several stop strings, also if a string spans several pieces.
///
/// Text is held only while it may be the beginning of a stop string. The match that ends first wins. Of several that
/// end together the longest wins, so that no part of it is shown.
package struct StopStringMatcher: Sendable {
    /// The strings with their matching state, the longest first.
    private var marks: [Mark]
    /// The first bytes of the strings; all other bytes are skipped quickly.
    private let begins: [Bool]
    /// The end of the text while it may begin a string.
    private var held: [UInt8] = []
    /// The string that ended the text.
    package private(set) var matched: String?
    /// The text after the match in the piece that completed it.
    package private(set) var remainder = ""

    /// Makes a matcher for the strings; empty ones are ignored.
    package init(_ strings: [String]) {
        marks = strings.filter { !$0.isEmpty }.map { Mark($0) }.sorted { $0.bytes.count > $1.bytes.count }
        var begins = [Bool](repeating: false, count: 256)
        for mark in marks { begins[Int(mark.bytes[0])] = true }
        self.begins = begins
    }

    /// The number of held bytes.
    package var heldBytes: Int { held.count }

    /// Adds the next piece and returns the text that certainly precedes any stop string; empty after a match.
    package mutating func append(_ piece: String) -> String {
        guard matched == nil else { return "" }
        if marks.isEmpty { return piece }
        if held.isEmpty, !piece.utf8.contains(where: { begins[Int($0)] }) { return piece }
        var piece = piece
        return piece.withUTF8 { take($0) }
    }

    /// Ends the text.
    /// - Returns: the held bytes, which began no stop string.
    package mutating func finish() -> String {
        for number in marks.indices { marks[number].reset() }
        defer { held = [] }
        return String(decoding: held, as: UTF8.self)
    }

    private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        var pending = held.count
        for (index, byte) in bytes.enumerated() where pending > 0 || begins[Int(byte)] {
            pending = 0
            var found: Mark?
            for number in marks.indices {
                if marks[number].take(byte) { found = found ?? marks[number] }
                pending = max(pending, marks[number].matched)
            }
            guard let found else { continue }
            matched = String(decoding: found.bytes, as: UTF8.self)
            remainder = String(decoding: bytes[(index + 1)...], as: UTF8.self)
            defer { held = [] }
            return String(decoding: (held + bytes[...index]).dropLast(found.bytes.count), as: UTF8.self)
        }
        held += bytes
        defer { held.removeFirst(held.count - pending) }
        return String(decoding: held.dropLast(pending), as: UTF8.self)
    }
}
