import HearthBase
import HearthInference

/// The JSON schemas of Foundation Models' guided generation, as the engines of Hearth read them.
///
/// Apple's form is JSON Schema with `$defs`, references to these and to the document (`"$ref": "#"`), the order of properties in
/// `x-order`, and patterns that a whole text must match although they have no anchors.
package enum AppleSchema {
    /// Where a schema holds other schemas.
    private static let single: Set<String> = ["items", "additionalProperties", "not"]
    private static let lists: Set<String> = ["anyOf", "oneOf", "allOf", "prefixItems"]
    private static let named: Set<String> = ["properties", "$defs", "definitions"]

    /// The schema for an engine: properties in the order in which they are written, and patterns with anchors.
    /// - Throws: `unsupportedGuide` for a text that is no JSON object, is too long or too deep.
    package static func standard(_ schema: String) throws(RequestFailure) -> String {
        do {
            try OutputConstraint.checkForm(ofSchema: schema)
            let value = try JSONValue(parsing: schema)
            guard value.members != nil else { throw OutputConstraint.unusable("it is no JSON object") }
            return standard(value).line
        } catch {
            throw .unsupportedGuide((error as? LLMError)?.message ?? "the JSON schema cannot be used: \(error)")
        }
    }

    private static func standard(_ schema: JSONValue) -> JSONValue {
        guard let members = schema.members else { return schema }
        var result = JSONMembers()
        for (key, value) in members where key != "x-order" {
            switch key {
            case "pattern": result[key] = value.string.map { .string(anchored($0)) } ?? value
            case "properties": result[key] = .object(ordered(value.members ?? JSONMembers(), members["x-order"]))
            case _ where single.contains(key): result[key] = standard(value)
            case _ where lists.contains(key): result[key] = .array((value.items ?? []).map(standard))
            case _ where named.contains(key): result[key] = .object(each(value.members ?? JSONMembers()))
            default: result[key] = value
            }
        }
        return .object(result)
    }

    private static func each(_ schemas: JSONMembers) -> JSONMembers {
        JSONMembers(schemas.map { ($0.key, standard($0.value)) })
    }

    /// The properties in the order of `x-order`, and those that it does not name after them.
    private static func ordered(_ properties: JSONMembers, _ order: JSONValue?) -> JSONMembers {
        var result = JSONMembers()
        for name in (order?.items ?? []).compactMap(\.string) + properties.keys {
            if result[name] == nil, let schema = properties[name] { result[name] = standard(schema) }
        }
        return result
    }

    private static func anchored(_ pattern: String) -> String { "^(?:\(pattern))$" }
}
