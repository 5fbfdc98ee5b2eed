import HearthBase

/// The places of the values in a JSON text that may have comments and trailing commas.
struct JSONOutline {
    /// A value with its place.
    struct Node {
        var range: Range<Int>
        var value: JSONValue
        /// The members or items of an object or a list.
        var entries: [Entry] = []
        /// Within an object or a list, the end of the last comma, value or comment, or of the opening bracket.
        var tail = 0

        var isContainer: Bool { value.members != nil || value.items != nil }

        /// The place of the entry of a step.
        func place(of step: ConfigurationStep) -> Int? {
            switch step {
            case .key(let key): value.members == nil ? nil : entries.firstIndex { $0.key == key }
            case .item(let key, let text):
                value.items == nil ? nil : entries.firstIndex { $0.node.value[key]?.string == text }
            }
        }
    }

    /// A member of an object or an item of a list.
    struct Entry {
        /// `nil` in a list.
        var key: String?
        /// The beginning of the key, or of the item.
        var start: Int
        var node: Node
        /// The place of the comma after it.
        var comma: Int?
    }

    let bytes: [UInt8]
    /// `nil` for a text without a value.
    private(set) var root: Node?

    private var position = 0
    /// The end of the last comment or token.
    private var tail = 0

    var value: JSONValue { root?.value ?? .null }

    /// - Throws: ``ConfigurationTextError``
    init(_ bytes: [UInt8]) throws(ConfigurationTextError) {
        self.bytes = bytes
        try skip()
        guard position < bytes.count else { return }
        root = try node(depth: 0)
        try skip()
        guard position == bytes.count else { throw failure("there is something after the end of the document") }
    }

    private mutating func node(depth: Int) throws(ConfigurationTextError) -> Node {
        guard depth < JSONValue.maximumDepth else { throw failure("it is nested too deep") }
        let start = position
        switch peek {
        case UInt8(ascii: "{"): return try container(isObject: true, depth: depth)
        case UInt8(ascii: "["): return try container(isObject: false, depth: depth)
        case UInt8(ascii: "\""):
            let text = try string()
            return Node(range: start..<position, value: .string(text))
        default:
            while let byte = peek, !" \t\r\n,]}:\"/{[".utf8.contains(byte) { position += 1 }
            guard let value = try? JSONValue(parsing: Array(bytes[start..<position])) else {
                position = start
                throw failure("a value is expected here")
            }
            tail = position
            return Node(range: start..<position, value: value)
        }
    }

    private mutating func container(isObject: Bool, depth: Int) throws(ConfigurationTextError) -> Node {
        let start = position
        let close = UInt8(ascii: isObject ? "}" : "]")
        position += 1
        tail = position
        var entries: [Entry] = []
        var keys: Set<String> = []
        try skip()
        while peek != close {
            let begin = position
            var key: String?
            if isObject {
                guard peek == UInt8(ascii: "\"") else { throw failure("a key in quotation marks is expected here") }
                let text = try string()
                guard keys.insert(text).inserted else { throw failure("the key \(text.quoted) appears twice") }
                key = text
                try skip()
                guard take(":") else { throw failure("a colon is expected here") }
                try skip()
            }
            var entry = Entry(key: key, start: begin, node: try node(depth: depth + 1))
            try skip()
            let comma = position
            if take(",") {
                entry.comma = comma
                tail = position
                try skip()
            } else if peek != close {
                throw failure("a comma or \(isObject ? "}" : "]") is expected here")
            }
            entries.append(entry)
        }
        var node = Node(range: start..<position, value: .null, entries: entries, tail: tail)
        position += 1
        tail = position
        node.range = start..<position
        let pairs = entries.map { ($0.key ?? "", $0.node.value) }
        node.value = isObject ? .object(JSONMembers(pairs)) : .array(pairs.map(\.1))
        return node
    }

    private mutating func string() throws(ConfigurationTextError) -> String {
        let start = position
        position += 1
        while let byte = peek, byte != UInt8(ascii: "\""), byte != 10 { position += byte == UInt8(ascii: "\\") ? 2 : 1 }
        guard peek == UInt8(ascii: "\"") else {
            position = start
            throw failure("a text has no end")
        }
        position += 1
        tail = position
        guard let text = try? JSONValue(parsing: Array(bytes[start..<position])).string else {
            position = start
            throw failure("a text is not as JSON has it")
        }
        return text
    }

    /// Skips white space and comments.
    private mutating func skip() throws(ConfigurationTextError) {
        while let byte = peek {
            if byte == 32 || (9...13).contains(byte) {
                position += 1
            } else if byte == UInt8(ascii: "/") {
                let next = position + 1 < bytes.count ? bytes[position + 1] : 0
                if next == UInt8(ascii: "/") {
                    while let byte = peek, byte != 10, byte != 13 { position += 1 }
                } else if next == UInt8(ascii: "*") {
                    let rest = bytes[(position + 2)...]
                    guard
                        let end = rest.indices.first(where: {
                            rest[$0] == UInt8(ascii: "*") && $0 + 1 < bytes.count && bytes[$0 + 1] == UInt8(ascii: "/")
                        })
                    else { throw failure("a comment has no end") }
                    position = end + 2
                } else {
                    return
                }
                tail = position
            } else {
                return
            }
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = peek, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    private func failure(_ problem: String) -> ConfigurationTextError { .broken(problem, at: position, in: bytes) }
}
