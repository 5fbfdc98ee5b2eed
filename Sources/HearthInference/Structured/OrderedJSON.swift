import Foundation
import HearthBase

/// A JSON document whose objects keep the order of their keys: a schema's order of properties is the order of an answer.
package indirect enum OrderedJSON: Sendable, Hashable {
    case object(Members)
    case array([OrderedJSON])
    case value(JSONValue)

    /// The members of an object.
    package struct Members: Sendable, Hashable {
        package private(set) var keys: [String] = []
        private var values: [String: OrderedJSON] = [:]

        package var isEmpty: Bool { keys.isEmpty }
        package var pairs: [(key: String, value: OrderedJSON)] {
            keys.compactMap { key in values[key].map { (key, $0) } }
        }

        package init() {}

        package subscript(key: String) -> OrderedJSON? {
            get { values[key] }
            set {
                if newValue == nil { keys.removeAll { $0 == key } } else if values[key] == nil { keys.append(key) }
                values[key] = newValue
            }
        }

        /// The strings of a list under a key, such as `required`.
        func strings(_ key: String) -> [String] {
            guard case .array(let items)? = self[key] else { return [] }
            return items.compactMap(\.string)
        }

        /// The object under a key; empty if there is no object.
        func members(_ key: String) -> Members { self[key]?.members ?? Members() }

        /// The number under a key, with its digits.
        func number(_ key: String) -> Decimal? { self[key]?.number }

        /// Whether the value under a key is `true`.
        func isTrue(_ key: String) -> Bool { self[key] == .value(.boolean(true)) }
    }

    static func string(_ text: String) -> Self { .value(.string(text)) }

    package var string: String? { if case .value(.string(let text)) = self { text } else { nil } }
    package var members: Members? { if case .object(let members) = self { members } else { nil } }
    package var items: [OrderedJSON]? { if case .array(let items) = self { items } else { nil } }
    package var number: Decimal? {
        guard case .value(.number(let digits)) = self else { return nil }
        return Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX"))
    }
    var isFalse: Bool { self == .value(.boolean(false)) }

    /// The value at a reference into this document, such as `#/$defs/city`.
    func resolved(_ reference: String) -> OrderedJSON? {
        var place = self
        for part in reference.split(separator: "/").dropFirst() {
            let name = part.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
            let item = Int(name).flatMap { index in
                place.items.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            guard let next = place.members?[name] ?? item else { return nil }
            place = next
        }
        return place
    }

    /// Reads a document.
    /// - Throws: ``JSONSyntaxError``.
    init(parsing text: String) throws {
        try self.init(parsing: Array(text.utf8))
    }

    /// Reads a document.
    package init(parsing bytes: [UInt8]) throws(JSONSyntaxError) {
        let document = try JSONValue.withKeys(parsing: bytes)
        var orders = document.keys[...]
        self = Self.ordered(document.value, &orders)
    }

    private static func ordered(_ value: JSONValue, _ orders: inout ArraySlice<[String]>) -> OrderedJSON {
        switch value {
        case .object(let values):
            var members = Members()
            for key in orders.popFirst() ?? [] { members[key] = values[key].map { ordered($0, &orders) } }
            return .object(members)
        case .array(let items): return .array(items.map { ordered($0, &orders) })
        default: return .value(value)
        }
    }

    /// The document as text.
    package var text: String {
        switch self {
        case .object(let members):
            let parts = members.keys.map { "\(JSONSchema.quoted($0)):\(members[$0]?.text ?? "null")" }
            return "{\(parts.joined(separator: ","))}"
        case .array(let items): return "[\(items.map(\.text).joined(separator: ","))]"
        case .value(.string(let text)): return JSONSchema.quoted(text)
        case .value(.number(let digits)): return digits
        case .value(.boolean(let flag)): return flag ? "true" : "false"
        case .value: return "null"
        }
    }
}
