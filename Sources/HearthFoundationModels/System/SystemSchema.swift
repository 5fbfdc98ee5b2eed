import HearthBase
import HearthInference

/// Writes JSON schemas in the form that Foundation Models decodes: each object has `title`, `properties`, `required`,
/// `additionalProperties` and the order of its properties in `x-order`. Other keywords than those of Apple's guides are left to the
/// check of the finished answer, unless they are the schema's only shape.
package enum SystemSchema {
    /// Keywords that Apple's form has, by the type of value; all else is left out.
    private static let kept: [String: [String]] = [
        "string": ["enum", "pattern"], "integer": ["minimum", "maximum"], "number": ["minimum", "maximum"],
        "array": ["minItems", "maxItems"], "boolean": [], "null": [],
    ]

    /// A schema in Apple's form.
    /// - Throws: `grammar-unusable` for a schema without a form of Apple's.
    package static func shaped(_ schema: String) throws(LLMError) -> String {
        try OutputConstraint.checkForm(ofSchema: schema)
        let value: JSONValue
        do { value = try JSONValue(parsing: schema) } catch { throw OutputConstraint.unusable("\(error)") }
        var writer = Writer()
        return try writer.shape(value, title: "Answer").line
    }

    /// The schema of a call of one of the tools.
    static func calls(of tools: [ToolDefinition]) -> String {
        let calls = tools.map { tool -> JSONValue in
            [
                "type": "object", "title": .string("\(tool.name)_call"),
                "properties": [
                    "name": ["type": "string", "enum": [.string(tool.name)]],
                    "arguments": .object(parsing: tool.parameters),
                ], "required": ["name", "arguments"], "additionalProperties": false,
            ]
        }
        return calls.count == 1 ? calls[0].line : JSONValue.object(["anyOf": .array(calls)]).line
    }

    private struct Writer {
        /// The titles of the objects, which Apple's form needs to be different.
        private var titles: [String: Int] = [:]

        mutating func shape(_ schema: JSONValue, title: String) throws(LLMError) -> JSONValue {
            guard let members = schema.members else { throw Self.formless("\(schema.kind) in place of a schema") }
            for keyword in ["allOf", "not", "if", "patternProperties", "prefixItems"] where members[keyword] != nil {
                throw Self.formless("`\(keyword)`")
            }
            var result = JSONMembers()
            for keyword in ["$defs", "definitions"] {
                guard let named = members[keyword]?.members else { continue }
                var shaped = JSONMembers()
                for (name, schema) in named { shaped[name] = try shape(schema, title: name) }
                result[keyword] = .object(shaped)
            }
            if let text = members["description"] { result["description"] = text }
            if let reference = members["$ref"] {
                result["$ref"] = reference
            } else if let constant = members["const"] {
                result["const"] = constant
            } else if let choices = (members["anyOf"] ?? members["oneOf"])?.items {
                result["anyOf"] = .array(try each(choices, title))
            } else if let types = members["type"]?.items {
                result["anyOf"] = .array(
                    try each(types.map { .object(JSONMembers([("type", $0)]).after(members)) }, title))
            } else {
                try take(members, title, &result)
            }
            return .object(result)
        }

        private mutating func each(_ schemas: [JSONValue], _ title: String) throws(LLMError) -> [JSONValue] {
            var shaped: [JSONValue] = []
            for schema in schemas { shaped.append(try shape(schema, title: title)) }
            return shaped
        }

        private mutating func take(
            _ members: JSONMembers, _ title: String, _ result: inout JSONMembers
        ) throws(LLMError) {
            var type = members["type"]?.string
            if type == nil, members["properties"] != nil { type = "object" }
            if type == nil, members["items"] != nil { type = "array" }
            if type == nil, members["enum"]?.items?.allSatisfy({ $0.string != nil }) == true { type = "string" }
            guard let type, type == "object" || SystemSchema.kept[type] != nil else {
                throw Self.formless("a schema without a type")
            }
            result["type"] = .string(type)
            if type == "object" { return try takeObject(members, title, &result) }
            for keyword in SystemSchema.kept[type] ?? [] {
                if let value = members[keyword] { result[keyword] = value }
            }
            if type == "array" {
                guard let items = members["items"] else { throw Self.formless("a list without `items`") }
                result["items"] = try shape(items, title: "\(title)Item")
            }
        }

        private mutating func takeObject(
            _ members: JSONMembers, _ title: String, _ result: inout JSONMembers
        ) throws(LLMError) {
            let properties = members["properties"]?.members ?? JSONMembers()
            guard !properties.isEmpty else { throw Self.formless("an object without `properties`") }
            result["title"] = .string(unique(members["title"]?.string ?? title))
            var shaped = JSONMembers()
            for (name, schema) in properties { shaped[name] = try shape(schema, title: "\(title)_\(name)") }
            result["properties"] = .object(shaped)
            result["required"] = members["required"] ?? []
            result["additionalProperties"] = false
            result["x-order"] = .array(properties.keys.map { .string($0) })
        }

        private mutating func unique(_ title: String) -> String {
            titles[title, default: 0] += 1
            return titles[title] == 1 ? title : "\(title)_\(titles[title] ?? 0)"
        }

        private static func formless(_ what: String) -> LLMError {
            OutputConstraint.unusable("Apple's model takes none with \(what)")
        }
    }
}
