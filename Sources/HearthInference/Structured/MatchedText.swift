import HearthBase

/// The text that a matcher has taken, and its check for keys and items that appear twice.
struct MatchedText: Sendable {
    private var values: [UInt32] = []
    /// The keys or items before the place where a key or item begins; they are read once for each place.
    private var known: (origin: Int, isKey: Bool, texts: Set<String>)?

    mutating func append(_ value: UInt32) { values.append(value) }

    mutating func cut(to count: Int) {
        let count = max(0, count)
        if count < values.count { values.removeSubrange(count...) }
        if let origin = known?.origin, origin > count { known = nil }
    }

    /// Whether the key or item from a place to the end of the text differs from those before it.
    mutating func isFresh(from origin: Int, among twins: Grammar.Twins) -> Bool {
        let isKey = twins == .keys
        let before: Set<String>
        if let known, known.origin == origin, known.isKey == isKey {
            before = known.texts
        } else {
            before = siblings(before: origin, isKey: isKey)
            known = (origin, isKey, before)
        }
        guard !before.isEmpty, origin <= values.count else { return true }
        return !before.contains(Self.canonical(values[origin...], isOpen: twins != .items))
    }

    /// The keys of the object, or the items of the list, that is open at a place: read backwards to its bracket.
    private func siblings(before origin: Int, isKey: Bool) -> Set<String> {
        var found: Set<String> = []
        var depth = 0
        var place = min(origin, values.count) - 1
        // The end of the part between two commas, and the quotation marks of its first string.
        var end: Int?
        var first: Range<Int>?
        func finish(_ start: Int) {
            guard let end else { return }
            let part = isKey ? first.map { values[$0.lowerBound..<$0.upperBound] } : values[start..<end]
            if let part { found.insert(Self.canonical(part, isOpen: isKey)) }
        }
        while place >= 0 {
            switch values[place] {
            case 0x22:
                let close = place
                place -= 1
                while place >= 0, values[place] != 0x22 || isEscaped(place) { place -= 1 }
                if depth == 0, place >= 0 { first = place..<close }
            case 0x7D, 0x5D: depth += 1
            case 0x7B, 0x5B:
                if depth == 0 {
                    finish(place + 1)
                    return found
                }
                depth -= 1
            case 0x2C where depth == 0:
                finish(place + 1)
                (end, first) = (place, nil)
            default: break
            }
            place -= 1
        }
        return found
    }

    private func isEscaped(_ place: Int) -> Bool {
        var count = 0
        while place - count - 1 >= 0, values[place - count - 1] == 0x5C { count += 1 }
        return !count.isMultiple(of: 2)
    }

    /// One text for equal values: keys without their escapes, numbers by their value.
    /// - Parameter isOpen: whether the last quotation mark of a string is missing.
    private static func canonical(_ values: ArraySlice<UInt32>, isOpen: Bool) -> String {
        var text = String(String.UnicodeScalarView(values.compactMap(Unicode.Scalar.init)))
        if isOpen { text += "\"" }
        // Half a value is compared as the text that it is.
        guard let value = try? JSONValue(parsing: text) else { return text }
        return canonical(value).line
    }

    private static func canonical(_ value: JSONValue) -> JSONValue {
        switch value {
        case .number: value.number.map { .number("\($0)") } ?? value
        case .array(let items): .array(items.map(canonical))
        case .object(let members):
            .object(JSONMembers(members.mapValues(canonical)))
        default: value
        }
    }
}
