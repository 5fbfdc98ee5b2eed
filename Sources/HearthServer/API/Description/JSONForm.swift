import HearthBase

/// The form of a JSON value, written like the value itself. Its JSON Schema is made from it.
///
/// ```swift
/// let usage: JSONForm = ["input_tokens": .integer, "searches?": .integer, "stop_sequence": .text.orNull]
/// ```
///
/// A key of an object that ends with `?` may be absent. Objects may have further members.
package struct JSONForm: Sendable, Hashable {
    package let schema: JSONValue

    package init(_ schema: JSONValue) { self.schema = schema }

    /// Any value.
    package static let any = JSONForm([:])
    package static let text = JSONForm(["type": "string"])
    package static let flag = JSONForm(["type": "boolean"])
    package static let integer = JSONForm(["type": "integer"])
    package static let number = JSONForm(["type": "number"])
    /// An object with any members.
    package static let object = JSONForm(["type": "object"])
    package static let null = JSONForm(["type": "null"])

    /// A whole number of a range.
    package static func integer(in range: ClosedRange<Int>) -> JSONForm {
        JSONForm([
            "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
        ])
    }

    /// A number of a range.
    package static func number(in range: ClosedRange<Double>) -> JSONForm {
        JSONForm(["type": "number", "minimum": .double(range.lowerBound), "maximum": .double(range.upperBound)])
    }

    /// One of these texts.
    package static func word(of words: [String]) -> JSONForm {
        JSONForm(["type": "string", "enum": .array(words.map { .string($0) })])
    }

    /// One of these texts.
    package static func words(_ words: String...) -> JSONForm { .word(of: words) }

    /// A list of at most so many values.
    package static func list(_ item: JSONForm, atLeast least: Int = 0, atMost limit: Int? = nil) -> JSONForm {
        var schema: JSONValue = ["type": "array", "items": item.schema]
        if least > 0 { schema["minItems"] = .integer(least) }
        schema["maxItems"] = limit.map { .integer($0) }
        return JSONForm(schema)
    }

    /// An object whose members all have one form.
    package static func map(_ value: JSONForm) -> JSONForm {
        JSONForm(["type": "object", "additionalProperties": value.schema])
    }

    /// A value of one of several forms.
    package static func one(of forms: [JSONForm]) -> JSONForm {
        var different: [JSONForm] = []
        for form in forms.flatMap(\.alternatives) where !different.contains(form) { different.append(form) }
        guard !different.contains(.any), let first = different.first else { return .any }
        return different.count == 1 ? first : JSONForm(["anyOf": .array(different.map(\.schema))])
    }

    /// A value of one of several forms.
    package static func either(_ forms: JSONForm...) -> JSONForm { .one(of: forms) }

    /// An object.
    /// - Parameter required: the members that each of the objects has.
    package static func members(_ members: [(String, JSONForm)], required: [String]) -> JSONForm {
        var schema: JSONValue = [
            "type": "object", "properties": .object(JSONMembers(members.map { ($0.0, $0.1.schema) })),
        ]
        if !required.isEmpty { schema["required"] = .array(required.map { .string($0) }) }
        return JSONForm(schema)
    }

    /// The same form, or `null`.
    package var orNull: JSONForm {
        guard self != .any, schema["enum"] == nil, var members = schema.members, let type = members["type"]?.string
        else { return .either(self, .null) }
        members["type"] = [.string(type), "null"]
        return JSONForm(.object(members))
    }

    /// An object, or `null`.
    package static func orNull(_ form: JSONForm) -> JSONForm { form.orNull }

    private var alternatives: [JSONForm] { schema["anyOf"]?.items?.map { JSONForm($0) } ?? [self] }

    /// The same object with further members, which replace those of the same keys.
    package func with(_ other: JSONForm) -> JSONForm {
        var schema = schema
        let properties = schema["properties"]?.members ?? [:]
        schema["properties"] = .object((other.schema["properties"]?.members ?? [:]).after(properties))
        let required = (schema["required"]?.items ?? []) + (other.schema["required"]?.items ?? [])
        if !required.isEmpty { schema["required"] = .array(required) }
        return JSONForm(schema)
    }
}

extension JSONForm: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONForm)...) {
        let members = elements.map { ($0.0.hasSuffix("?") ? String($0.0.dropLast()) : $0.0, $0.1) }
        let required = elements.map(\.0).filter { !$0.hasSuffix("?") }
        self = .members(members, required: required)
    }
}
