import Foundation
import HearthBase

/// A JSON document whose objects keep the order of their keys: a schema's order of properties is the order of an answer.
indirect enum OrderedJSON: Sendable, Hashable {
    case object(Members)
    case array([OrderedJSON])
    case value(JSONValue)

    /// The members of an object.
    struct Members: Sendable, Hashable {
        private(set) var keys: [String] = []
        private var values: [String: OrderedJSON] = [:]

        var isEmpty: Bool { keys.isEmpty }
        var pairs: [(key: String, value: OrderedJSON)] { keys.compactMap { key in values[key].map { (key, $0) } } }

        subscript(key: String) -> OrderedJSON? {
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

    var string: String? { if case .value(.string(let text)) = self { text } else { nil } }
    var members: Members? { if case .object(let members) = self { members } else { nil } }
    var items: [OrderedJSON]? { if case .array(let items) = self { items } else { nil } }
    var number: Decimal? {
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
        let value = try JSONValue(parsing: Data(text.utf8))
        var orders = try Self.orders(of: Array(text.utf8))[...]
        self = Self.ordered(value, &orders)
    }

    /// The keys of each object, in the order in which the objects begin.
    private static func orders(of bytes: [UInt8]) throws -> [[String]] {
        var orders: [[String]] = []
        // The objects and lists around a place; a list has no number.
        var open: [Int?] = []
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"):
                open.append(orders.count)
                orders.append([])
            case UInt8(ascii: "["): open.append(nil)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): open.removeLast()
            case UInt8(ascii: "\""):
                let start = index
                index += 1
                while bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
                let next = bytes[(index + 1)...].first { !$0.isThinkingWhiteSpace }
                if next == UInt8(ascii: ":"), let object = open.last ?? nil,
                    case .string(let key) = try JSONValue(parsing: Data(bytes[start...index]))
                {
                    orders[object].append(key)
                }
            default: break
            }
            index += 1
        }
        return orders
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
    var text: String {
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
