/// Ends a text before the first of some strings, wherever its pieces are cut.
///
/// Text is held back only as long as it can still be the beginning of a stop string. All strings are followed at once
/// (Aho and Corasick's automaton), so the cost of a byte does not grow with their number or length. The match that
/// ends first wins; of several that end together the longest, so that nothing of it is shown.
public struct StopStringMatcher: Sendable {
    /// A place in the tree of all strings: the bytes so far are the longest that are the beginning of one.
    private struct Node {
        var next: [UInt8: Int] = [:]
        /// The next node when no byte fits: the longest end of these bytes that begins a string.
        var fallback = 0
        var depth = 0
        /// The longest string that ends here.
        var match: (length: Int, index: Int)?
    }

    private let strings: [String]
    private let nodes: [Node]
    /// Which bytes begin a string: all others are passed over quickly.
    private let begins: [Bool]
    private var node = 0
    private var held: [UInt8] = []
    /// The bytes at the beginning of `held` that are given out: taking them away each time would cost as much as all of it.
    private var givenOut = 0
    /// The string that ended the text, once one has.
    public private(set) var matched: String?
    /// The text after the match in the piece that completed it.
    public private(set) var remainder = ""

    /// A matcher for the strings; empty ones are ignored.
    public init(_ strings: [String]) {
        self.strings = strings.filter { !$0.isEmpty }
        nodes = Self.tree(self.strings)
        var begins = [Bool](repeating: false, count: 256)
        for byte in nodes[0].next.keys { begins[Int(byte)] = true }
        self.begins = begins
    }

    /// The bytes held back now.
    public var heldBytes: Int { held.count - givenOut }

    /// Takes the next piece and gives the text that certainly belongs before any stop string; nothing after a match.
    public mutating func append(_ piece: String) -> String {
        guard matched == nil else { return "" }
        if strings.isEmpty { return piece }
        if node == 0, !piece.utf8.contains(where: { begins[Int($0)] }) { return piece }
        var piece = piece
        return piece.withUTF8 { take($0) }
    }

    /// Ends the text.
    /// - Returns: what was held back and turned out to be none.
    public mutating func finish() -> String {
        defer { forget() }
        node = 0
        return matched == nil ? String(decoding: held[givenOut...], as: UTF8.self) : ""
    }

    private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        for (index, byte) in bytes.enumerated() {
            if node == 0, !begins[Int(byte)] { continue }
            node = step(from: node, byte)
            guard let match = nodes[node].match else { continue }
            matched = strings[match.index]
            remainder = String(decoding: bytes[(index + 1)...], as: UTF8.self)
            defer { forget() }
            return give(heldBytes + index + 1 - match.length, of: bytes)
        }
        return give(heldBytes + bytes.count - nodes[node].depth, of: bytes)
    }

    /// Gives out so many of the held bytes and these, and holds the rest.
    private mutating func give(_ count: Int, of bytes: UnsafeBufferPointer<UInt8>) -> String {
        let fromHeld = min(count, heldBytes)
        let end = givenOut + fromHeld
        let text: String
        if fromHeld == 0 {
            text = String(decoding: bytes.prefix(count), as: UTF8.self)
        } else if fromHeld == count {
            text = String(decoding: held[givenOut..<end], as: UTF8.self)
        } else {
            text = String(decoding: held[givenOut..<end] + bytes.prefix(count - fromHeld), as: UTF8.self)
        }
        if end == held.count {
            forget()
        } else {
            givenOut = end
            // Each byte is moved once for as many that are gone.
            if givenOut > held.count / 2 {
                held.removeFirst(givenOut)
                givenOut = 0
            }
        }
        held.append(contentsOf: bytes.dropFirst(count - fromHeld))
        return text
    }

    private mutating func forget() {
        held.removeAll(keepingCapacity: true)
        givenOut = 0
    }

    private func step(from start: Int, _ byte: UInt8) -> Int {
        var node = start
        while true {
            if let next = nodes[node].next[byte] { return next }
            if node == 0 { return 0 }
            node = nodes[node].fallback
        }
    }

    private static func tree(_ strings: [String]) -> [Node] {
        var nodes = [Node()]
        for (index, string) in strings.enumerated() {
            var node = 0
            for byte in string.utf8 {
                if let next = nodes[node].next[byte] {
                    node = next
                } else {
                    nodes.append(Node(depth: nodes[node].depth + 1))
                    nodes[node].next[byte] = nodes.count - 1
                    node = nodes.count - 1
                }
            }
            nodes[node].match = nodes[node].match ?? (string.utf8.count, index)
        }
        var queue = Array(nodes[0].next.values)
        var read = 0
        while read < queue.count {
            let node = queue[read]
            read += 1
            for (byte, child) in nodes[node].next {
                var place = nodes[node].fallback
                while place != 0, nodes[place].next[byte] == nil { place = nodes[place].fallback }
                nodes[child].fallback = nodes[place].next[byte] ?? 0
                // The string that ends at this node is longer than any that ends at its fallback.
                nodes[child].match = nodes[child].match ?? nodes[nodes[child].fallback].match
                queue.append(child)
            }
        }
        return nodes
    }
}
