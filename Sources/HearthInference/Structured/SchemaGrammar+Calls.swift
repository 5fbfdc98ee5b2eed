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
            var alone = SchemaGrammar(isLenient: true, work: work)
            alone.patternWork = patternWork
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

    /// The properties of a tool that may be texts, which some formats of calls write without quotation marks.
    package mutating func textProperties(of document: JSONMembers) -> Set<String> {
        read(document)
        var names: Set<String> = []
        for (name, property) in document.members("properties") where mayBeText(property, 0) { names.insert(name) }
        return names
    }

    private func mayBeText(_ property: JSONValue, _ level: Int) -> Bool {
        // A property whose schema cannot be read, or contains itself without an end, may be a text too.
        guard level < 16, let schema = try? flattened(property) else { return true }
        if let values = schema["enum"]?.items ?? schema["const"].map({ [$0] }) {
            return values.contains { $0.string != nil }
        }
        if let parts = (schema["anyOf"] ?? schema["oneOf"])?.items {
            return parts.contains { mayBeText($0, level + 1) }
        }
        guard let type = schema["type"] else {
            return !["properties", "items", "minimum", "maximum"].contains { schema[$0] != nil }
        }
        return Self.list(type).contains("string")
    }
}
