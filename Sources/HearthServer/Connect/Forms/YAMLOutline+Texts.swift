import HearthBase

/// The keys and the values that are no blocks.
extension YAMLOutline {
    /// The key at a place of a line, with the place of its colon; `nil` if there is no key.
    func key(at place: Int, _ end: Int) throws(ConfigurationTextError) -> (String, Int)? {
        let first = bytes[place]
        if first == UInt8(ascii: "?"), place + 1 == end || bytes[place + 1] == 32 {
            throw unsafe("it has a key of several lines", place)
        }
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            guard let close = closing(place, end) else { return nil }
            let colon = bytes[(close + 1)..<end].firstIndex { $0 != 32 } ?? end
            guard colon < end, bytes[colon] == UInt8(ascii: ":") else { return nil }
            return (YAMLText.unquoted(Array(bytes[place...close])), colon)
        }
        guard !"[{|>#,]}%@`".utf8.contains(first) else { return nil }
        for colon in place..<end
        where bytes[colon] == UInt8(ascii: ":") && (colon + 1 == end || bytes[colon + 1] == 32 || bytes[colon + 1] == 9)
        {
            guard
                !bytes[place..<colon].indices.contains(where: { bytes[$0] == 35 && $0 > place && bytes[$0 - 1] == 32 })
            else { return nil }
            return (String(decoding: bytes[place..<colon], as: UTF8.self).trimmed, colon)
        }
        return nil
    }

    /// The closing mark of a quoted text before `end`.
    func closing(_ place: Int, _ end: Int) -> Int? {
        let quote = bytes[place]
        var position = place + 1
        while position < end {
            if quote == UInt8(ascii: "\""), bytes[position] == UInt8(ascii: "\\") {
                position += 2
            } else if bytes[position] == quote {
                guard quote == UInt8(ascii: "'"), position + 1 < end, bytes[position + 1] == quote else {
                    return position
                }
                position += 2
            } else {
                position += 1
            }
        }
        return nil
    }

    /// The value that is no block: a text, a number, a value in brackets, a literal block. The next line becomes the present
    /// one.
    /// - Parameter parent: the column of the block that it belongs to.
    mutating func scalar(at place: Int, parent: Int) throws(ConfigurationTextError) -> Node {
        guard let line else { throw broken("a value is expected here", place) }
        switch bytes[place] {
        case UInt8(ascii: "|"), UInt8(ascii: ">"):
            var end = line.end
            index += 1
            while let next = self.line, next.text == next.end || next.indentation > parent {
                if next.text < next.end { end = next.end }
                index += 1
            }
            return opaque(place..<end)
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            guard let close = closing(place, bytes.count) else { throw broken("a text has no end", place) }
            try move(past: close)
            guard close < line.end else { return opaque(place..<(close + 1)) }
            let text = YAMLText.unquoted(Array(bytes[place...close]))
            return Node(kind: .scalar, value: .string(text), range: place..<(close + 1))
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            let close = try closingBracket(place)
            try move(past: close)
            let isEmpty = bytes[(place + 1)..<close].allSatisfy { $0 == 32 }
            guard isEmpty else { return opaque(place..<(close + 1)) }
            let value: JSONValue = bytes[place] == UInt8(ascii: "[") ? .array([]) : .object([:])
            return Node(kind: .scalar, value: value, range: place..<(close + 1))
        case UInt8(ascii: "@"), UInt8(ascii: "`"), UInt8(ascii: "%"):
            throw broken("a value cannot begin so", place)
        default:
            var end = plainEnd(place, line.end)
            guard try key(at: place, end) == nil else { throw broken("a key cannot stand here", place) }
            index += 1
            var isLong = false
            while let next = self.line, next.text == next.end || next.indentation > parent {
                if next.text < next.end {
                    if isEmpty(next.text, next.end) { break }
                    if try key(at: next.text, plainEnd(next.text, next.end)) != nil {
                        throw broken("a key cannot stand here", next.text)
                    }
                    end = plainEnd(next.text, next.end)
                    isLong = true
                }
                index += 1
            }
            if isLong || bytes[place] == UInt8(ascii: "*") { return opaque(place..<end) }
            let text = String(decoding: bytes[place..<end], as: UTF8.self)
            return Node(kind: .scalar, value: YAMLText.value(text), range: place..<end)
        }
    }

    func opaque(_ range: Range<Int>) -> Node {
        Node(kind: .opaque, value: .string(String(decoding: bytes[range], as: UTF8.self)), range: range)
    }

    /// The end of a plain text in a line: before a comment and white space.
    func plainEnd(_ place: Int, _ end: Int) -> Int {
        let comment = bytes[place..<end].indices.first { bytes[$0] == 35 && $0 > place && bytes[$0 - 1] == 32 } ?? end
        return (bytes[place..<comment].lastIndex { $0 != 32 && $0 != 9 } ?? place) + 1
    }

    /// Goes to the line after a place, after which only a comment may follow.
    mutating func move(past place: Int) throws(ConfigurationTextError) {
        while let line, line.end <= place { index += 1 }
        guard let line, isEmpty(place + 1, line.end) else { throw broken("the line goes on after its end", place) }
        index += 1
    }

    func closingBracket(_ place: Int) throws(ConfigurationTextError) -> Int {
        var open: [UInt8] = []
        var position = place
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "{"): open.append(byte + 2)
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                guard open.popLast() == byte else { throw broken("a bracket closes another one", position) }
                if open.isEmpty { return position }
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if " ,[{:".utf8.contains(bytes[position - 1]) || bytes[position - 1] == 10 {
                    guard let close = closing(position, bytes.count) else {
                        throw broken("a text has no end", position)
                    }
                    position = close
                }
            case UInt8(ascii: "#") where bytes[position - 1] == 32:
                position = bytes[position...].firstIndex(of: 10) ?? bytes.count
            default: break
            }
            position += 1
        }
        throw broken("a bracket has no end", place)
    }

    func broken(_ problem: String, _ place: Int) -> ConfigurationTextError {
        .broken(problem, at: place, in: bytes)
    }

    func unsafe(_ problem: String, _ place: Int) -> ConfigurationTextError {
        .unsafe(problem, at: place, in: bytes)
    }
}
