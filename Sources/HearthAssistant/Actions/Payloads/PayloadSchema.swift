/// Describes the payloads of an action: its fields with their bounds, and the forms in which they occur together.
///
/// Two JSON schemas follow from it: the alternatives of a block, which a grammar enforces, and one flat object for models
/// that call tools natively, since some of them accept no alternatives.
package struct PayloadSchema: Sendable {
    package struct Field: Sendable {
        let name: String
        /// The JSON schema of the value.
        let shape: String
        /// The schema for native tools, without patterns.
        let plain: String

        /// - Parameters:
        ///   - shape: the members of the schema.
        ///   - plain: those for native tools; `nil` for the same.
        private init(_ name: String, _ shape: String, plain: String? = nil, about: String) {
            self.name = name
            self.shape = "{\(shape)}"
            self.plain = #"{\#(plain ?? shape),"description":"\#(about)"}"#
        }

        static func text(_ name: String, atMost length: Int, about: String) -> Field {
            let bound = #""maxLength":\#(length)"#
            return Field(
                name, #""type":"string","minLength":1,\#(bound)"#, plain: #""type":"string",\#(bound)"#, about: about)
        }

        static func pattern(_ name: String, _ pattern: String, atMost length: Int, about: String) -> Field {
            Field(
                name, #""type":"string","pattern":"^\#(pattern)$""#, plain: #""type":"string","maxLength":\#(length)"#,
                about: about)
        }

        static func integer(_ name: String, _ range: ClosedRange<Int>, about: String) -> Field {
            Field(
                name, #""type":"integer","minimum":\#(range.lowerBound),"maximum":\#(range.upperBound)"#, about: about)
        }

        static func flag(_ name: String, about: String) -> Field { Field(name, #""type":"boolean""#, about: about) }

        static func choice(_ name: String, _ values: [String], about: String) -> Field {
            let list = PayloadSchema.list(values)
            return Field(name, #""enum":\#(list)"#, plain: #""type":"string","enum":\#(list)"#, about: about)
        }
    }

    /// The fields that occur together.
    package struct Form: Sendable {
        /// The value of `action`; `nil` for an action with one form.
        let action: String?
        let required: [String]
        let optional: [String]

        init(_ action: String?, required: [String] = [], optional: [String] = []) {
            self.action = action
            self.required = required
            self.optional = optional
        }
    }

    /// The fields in the order in which a block has them.
    let fields: [Field]
    let forms: [Form]

    /// The schema of a block.
    var block: String {
        let branches = forms.map { form in
            var properties = form.action.map { [#""action":{"const":"\#($0)"}"#] } ?? []
            for field in fields where form.required.contains(field.name) || form.optional.contains(field.name) {
                properties.append("\"\(field.name)\":\(field.shape)")
            }
            return Self.object(properties, required: (form.action == nil ? [] : ["action"]) + form.required)
        }
        return branches.count == 1 ? branches[0] : #"{"anyOf":["# + branches.joined(separator: ",") + "]}"
    }

    /// The schema of a native tool's arguments.
    var tool: String {
        let actions = forms.compactMap(\.action)
        var properties: [String] = []
        if !actions.isEmpty { properties.append(#""action":{"type":"string","enum":\#(Self.list(actions))}"#) }
        properties += fields.map { "\"\($0.name)\":\($0.plain)" }
        // The fields of every form are required.
        let shared = fields.map(\.name).filter { name in forms.allSatisfy { $0.required.contains(name) } }
        return Self.object(properties, required: (actions.isEmpty ? [] : ["action"]) + shared)
    }

    private static func object(_ properties: [String], required: [String]) -> String {
        #"{"type":"object","properties":{\#(properties.joined(separator: ","))},"required":\#(list(required)),"#
            + #""additionalProperties":false}"#
    }

    private static func list(_ names: [String]) -> String { "[\(names.map { "\"\($0)\"" }.joined(separator: ","))]" }
}

/// Patterns of values that exist, for schemas. All are without characters that JSON escapes.
enum PayloadPattern {
    /// A day from 2000 to 2099 that the calendar has.
    static let day =
        "(20[0-9]{2}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
        + "|20([02468][048]|[13579][26])-02-29)"
    /// A day, or a time of day with or without an offset.
    static let time = day + "(T([01][0-9]|2[0-3]):[0-5][0-9](Z|[+-](0[0-9]|1[0-3]):(00|30|45))?)?"
    private static let weekday = "(MO|TU|WE|TH|FR|SA|SU)"
    static let recurrence =
        "FREQ=(DAILY|WEEKLY(;INTERVAL=[2-9])?(;BYDAY=\(weekday)(,\(weekday)){0,6})?"
        + "|MONTHLY(;INTERVAL=[2-9])?(;BYMONTHDAY=([1-9]|1[0-9]|2[0-8])|;BYDAY=(1|2|3|4|-1)\(weekday))?|YEARLY)"
        + "(;COUNT=([2-9]|[1-9][0-9]))?"
    static let zone = "(UTC|[A-Z][A-Za-z]{2,12}/[A-Z][A-Za-z_]{1,20})"
}
