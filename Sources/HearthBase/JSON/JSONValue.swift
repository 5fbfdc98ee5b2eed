import Foundation

/// A JSON document that keeps the digits of its numbers and the order of its keys, so that reading and writing do not change
/// them.
package enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The digits as written, such as `1800000000` or `10.6`.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONMembers)

    /// A whole number.
    package static func integer(_ value: some BinaryInteger) -> Self { .number(String(value)) }

    /// A number with the fewest digits that give it: 0.35, not 0.3499999940395355; 0 for one that JSON does not have.
    package static func number(_ value: Float) -> Self { .number(value.isFinite ? "\(value)" : "0") }

    /// A number with the fewest digits that give it; 0 for one that JSON does not have.
    package static func double(_ value: Double) -> Self { .number(value.isFinite ? "\(value)" : "0") }

    /// A string of `prefix` and the bytes in base64.
    package static func base64(_ bytes: [UInt8], prefix: String = "") -> Self {
        .string(prefix + Data(bytes).base64EncodedString())
    }

    /// The object that a model's text has; an empty object for other texts.
    package static func object(parsing text: String) -> Self {
        guard let value = try? JSONValue(parsing: text), value.members != nil else { return .object([:]) }
        return value
    }

    package var members: JSONMembers? { if case .object(let members) = self { members } else { nil } }
    package var items: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    package var number: Decimal? {
        guard case .number(let digits) = self else { return nil }
        return Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// A member of an object; `nil` removes it.
    package subscript(key: String) -> JSONValue? {
        get { members?[key] }
        set {
            guard var members else { return }
            members[key] = newValue
            self = .object(members)
        }
    }

    /// The kind of value, for messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .number(let digits): "the number \(digits.prefix(40))"
        case .string(let text): text.quoted
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONMembers(elements)) }
}
