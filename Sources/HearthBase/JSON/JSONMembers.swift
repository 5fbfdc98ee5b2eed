/// The members of a JSON object in the order of their keys, each key once. Objects with the same members are equal in any
/// order.
package struct JSONMembers: Sendable, Hashable, ExpressibleByDictionaryLiteral, Sequence {
    package private(set) var keys: [String] = []
    private var found: [String: JSONValue] = [:]

    /// An object without members.
    package init() {}

    /// Members whose keys are known to be different; of two with the same key the last stays.
    package init(_ pairs: some Sequence<(String, JSONValue)>) {
        for (key, value) in pairs { self[key] = value }
    }

    /// The members of a dictionary, sorted by their keys.
    package init(_ values: [String: JSONValue]) {
        self.init(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

    package var isEmpty: Bool { keys.isEmpty }
    package var count: Int { keys.count }
    /// The values in the order of their keys.
    package var values: [JSONValue] { keys.compactMap { found[$0] } }

    /// The value of a key. A new key is the last one; `nil` removes the member.
    package subscript(key: String) -> JSONValue? {
        get { found[key] }
        set {
            if newValue == nil {
                if found[key] != nil { keys.removeAll { $0 == key } }
            } else if found[key] == nil {
                keys.append(key)
            }
            found[key] = newValue
        }
    }

    /// Takes the members of another object, which replace those of the same keys.
    package mutating func merge(_ others: JSONMembers) {
        for (key, value) in others { self[key] = value }
    }

    /// The members of another object, then these.
    package func after(_ first: JSONMembers) -> JSONMembers {
        var all = first
        all.merge(self)
        return all
    }

    /// The members that satisfy a condition.
    package func filter(_ isIncluded: ((key: String, value: JSONValue)) throws -> Bool) rethrows -> JSONMembers {
        var kept = JSONMembers()
        for member in self where try isIncluded(member) { kept[member.key] = member.value }
        return kept
    }

    /// What a function makes of the values, by their keys.
    package func mapValues<Mapped>(_ transform: (JSONValue) throws -> Mapped) rethrows -> [String: Mapped] {
        try found.mapValues(transform)
    }

    package func makeIterator() -> some IteratorProtocol<(key: String, value: JSONValue)> {
        keys.lazy.compactMap { [found] key in found[key].map { (key: key, value: $0) } }.makeIterator()
    }

    package static func == (left: Self, right: Self) -> Bool { left.found == right.found }

    package func hash(into hasher: inout Hasher) { hasher.combine(found) }
}
