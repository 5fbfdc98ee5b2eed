import HearthBase
import HearthInference

/// Reads `response_format`, and llama.cpp's `json_schema` and `grammar`.
enum ResponseFormat {
    static func constraint(_ fields: Fields) throws(APIFailure) -> OutputConstraint? {
        if let format = try fields.object("response_format") { return try constraint(format: format) }
        if let schema = try fields.schema("json_schema") {
            return try .checked(schema: schema == "{}" ? #"{"type":"object"}"# : schema, field: "json_schema")
        }
        if let grammar = try fields.string("grammar"), !grammar.isEmpty { return try gbnf(grammar) }
        return nil
    }

    static func constraint(format: Fields) throws(APIFailure) -> OutputConstraint? {
        let words = ["text", "json_object", "json_schema", "grammar"]
        switch try format.requiredWord("type", of: words, "text, json_object or json_schema") {
        case "text": return nil
        case "json_object":
            // llama.cpp also takes a schema here.
            guard let schema = try format.schema("schema") else { return .anyObject }
            return try .checked(schema: schema, field: format.name("schema"))
        case "grammar": return try gbnf(format.requiredString("grammar"))
        default:
            let named = try format.object("json_schema") ?? format
            guard let schema = try named.schema("schema") else {
                throw .invalid(named.name("schema"), "a JSON schema, an object")
            }
            return try .checked(schema: schema, field: named.name("schema"))
        }
    }

    private static func gbnf(_ grammar: String) throws(APIFailure) -> OutputConstraint {
        guard grammar.utf8.count <= OutputConstraint.maximumSchemaLength else {
            throw .invalid("grammar", "a grammar of at most \(OutputConstraint.maximumSchemaLength) bytes")
        }
        return .gbnf(grammar)
    }
}
