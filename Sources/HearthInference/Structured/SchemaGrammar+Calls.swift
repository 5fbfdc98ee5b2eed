import HearthBase

/// Grammars of tool calls.
extension SchemaGrammar {
    /// The grammar of a call of one of the tools, an object with its name and arguments.
    package static func grammar(ofCalls tools: [ToolDefinition]) throws(LLMError) -> Grammar {
        func made(_ arguments: (inout SchemaGrammar, ToolDefinition) throws(LLMError) -> String) throws(LLMError)
            -> Grammar
        {
            var writer = SchemaGrammar(isLenient: true)
            var calls: [String] = []
            for tool in tools {
                let name = literal(JSONValue.string(tool.name).line)
                let arguments = try arguments(&writer, tool)
                calls.append("\(name) h-space \",\" h-space \"\\\"arguments\\\"\" h-space \":\" h-space \(arguments)")
            }
            let body = calls.isEmpty ? "h-none" : calls.joined(separator: " | ")
            return try writer.grammar(
                "root ::= \"{\" h-space \"\\\"name\\\"\" h-space \":\" h-space (\(body)) h-space \"}\"\nh-none ::= h-none\n"
            )
        }
        do {
            return try made { writer, tool throws(LLMError) in try writer.add(arguments: tool.parameters) }
        } catch {
            // Together the schemas are too large, or no value meets the only one: the finished calls are checked.
            return try made { _, _ throws(LLMError) in "h-object" }
        }
    }

    /// Writes the schema of a tool's arguments, which are an object whatever the schema says.
    package mutating func add(arguments schema: String) throws(LLMError) -> String {
        // A schema that cannot be read refuses no request: the call may be any object.
        guard let members = (try? JSONValue(parsing: schema))?.members else { return "h-object" }
        let meaning = members.filter { !Self.annotations.contains($0.key) }
        if let type = meaning["type"], type != "object" { return "h-object" }
        if meaning.isEmpty { return "h-object" }
        // A schema may contain itself without an end, so that no value meets it.
        if schema.contains("$ref") {
            var alone = SchemaGrammar(isLenient: true)
            let name = try alone.add(schema)
            // References that lead nowhere, as well.
            guard (try? alone.grammar("root ::= \(name)\n")) != nil else { return "h-object" }
        }
        return try add(schema)
    }

    /// Writes one property of a tool's arguments.
    package mutating func add(property name: String, of schema: String) throws(LLMError) -> String {
        // Of a schema that cannot be read, a property may have any value.
        guard let document = (try? JSONValue(parsing: schema))?.members,
            let property = document.members("properties")[name]
        else { return "h-value" }
        return try add(property, in: document)
    }

    /// Whether a tool's property may be a text, which some formats of calls write without quotation marks.
    package static func mayBeText(_ property: JSONValue, in document: JSONMembers) -> Bool {
        var writer = SchemaGrammar(isLenient: true)
        writer.read(document)
        // What cannot be read may be a text too.
        guard let schema = try? writer.flattened(property) else { return true }
        if let values = schema["enum"]?.items ?? schema["const"].map({ [$0] }) {
            return values.contains { $0.string != nil }
        }
        if let parts = (schema["anyOf"] ?? schema["oneOf"])?.items {
            return parts.contains { mayBeText($0, in: document) }
        }
        guard let type = schema["type"] else {
            return !["properties", "items", "minimum", "maximum"].contains { schema[$0] != nil }
        }
        return list(type).contains("string")
    }
}
