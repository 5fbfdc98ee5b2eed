import HearthBase
import HearthInference

/// The tools of a request while they are read.
///
/// ```swift
/// var offered = OfferedTools()
/// try offered.add(ClientTool(name: "look"), tool, parameters: "parameters")
/// try offered.give(to: &request)
/// ```
struct OfferedTools {
    /// The most tools of a request.
    static let maximumCount = 10_000

    private struct Entry {
        var tool: ClientTool
        var description: String
        var parameters: String
        /// The place in the request, for errors.
        var field: String
    }

    private var entries: [Entry] = []
    private var places: [ClientTool: Int] = [:]

    /// Whether a tool of this kind is offered.
    func has(_ kind: ClientTool.Kind) -> Bool { entries.contains { $0.tool.kind == kind } }

    func has(_ name: String) -> Bool { places[ClientTool(name: name)] != nil }

    /// Adds a function with the schema in a field.
    /// - Throws: ``APIFailure`` for a second, different definition of a name.
    mutating func add(
        _ tool: ClientTool, _ fields: Fields, parameters key: String, replaces: Bool = false
    ) throws(APIFailure) {
        try add(
            tool, description: fields.string("description") ?? "",
            parameters: fields.schema(key) ?? #"{"type":"object","properties":{}}"#, field: fields.name("name"),
            replaces: replaces)
    }

    /// Adds a tool whose calls are free text, which follows a grammar if its format has one.
    mutating func addCustom(
        _ tool: ClientTool, _ fields: Fields, replaces: Bool = false
    ) throws(APIFailure) {
        var description = try fields.string("description") ?? ""
        var pattern: String?
        if let format = try fields.object("format"), let type = try format.string("type"), type != "text" {
            let grammar = try format.object("grammar") ?? format
            let syntax = try grammar.string("syntax") ?? "grammar"
            if let definition = try grammar.string("definition") {
                description += "\n\nThe text of `input` follows this \(syntax.prefix(20)) grammar:\n" + definition
                pattern = syntax == "regex" ? "^(?:\(definition))$" : nil
            }
            // A grammar that cannot be held is only read by the model.
            if pattern.map({ !Self.holds(pattern: $0) }) ?? true {
                pattern = nil
                fields.leaveOut("grammar")
            }
        }
        try add(
            tool, description: description, parameters: Self.text(pattern: pattern), field: fields.name("name"),
            replaces: replaces)
    }

    private static func holds(pattern: String) -> Bool {
        let tool = ToolDefinition(name: "text", description: "", parameters: text(pattern: pattern))
        return (try? ToolDefinition.check([tool])) != nil
    }

    /// The schema of a call with a text.
    private static func text(pattern: String?) -> String {
        var input: JSONValue = ["type": "string"]
        input["pattern"] = pattern.map { .string($0) }
        let schema: JSONValue = [
            "type": "object", "properties": ["input": input], "required": ["input"], "additionalProperties": false,
        ]
        return schema.line
    }

    /// - Parameter replaces: whether a later definition of a name counts.
    mutating func add(
        _ tool: ClientTool, description: String, parameters: String, field: String, replaces: Bool = false
    ) throws(APIFailure) {
        guard !tool.name.isEmpty else { throw .invalid(field, "a name") }
        var key = tool
        key.kind = .function
        let entry = Entry(tool: tool, description: description, parameters: parameters, field: field)
        guard let place = places[key] else {
            places[key] = entries.count
            entries.append(entry)
            return
        }
        let known = entries[place]
        if known.tool == tool, known.description == description, known.parameters == parameters { return }
        guard replaces else { throw .invalid(field, "a name that no other tool has") }
        entries[place] = entry
    }

    /// Offers the tools to the model of a request.
    func give(to request: inout APIRequest) throws(APIFailure) {
        var names: [Int: String] = [:]
        // Tools outside groups keep their names.
        for isGrouped in [false, true] {
            for (index, entry) in entries.enumerated() where (entry.tool.namespace != nil) == isGrouped {
                names[index] = request.toolNames.add(entry.tool)
            }
        }
        request.tools = entries.enumerated().map { index, entry in
            ToolDefinition(
                name: names[index] ?? entry.tool.name, description: entry.description, parameters: entry.parameters)
        }
        request.search.use(request.toolNames)
        try request.checkTools()
    }
}

extension APIRequest {
    /// Requires a call of one of the tools.
    mutating func require(_ choice: ToolChoice, field: String = "tool_choice") throws(APIFailure) {
        guard !choice.tools(of: tools).isEmpty else {
            guard case .named(let name) = choice else {
                throw .invalid(field, "auto or none, because the request offers no tool that can be called")
            }
            throw .invalid(
                field,
                "the name of a tool that can be called, not `\(toolNames.client(name).name.prefix(100))`")
        }
        toolChoice = choice
    }

    /// Leaves only some of the tools.
    mutating func allow(_ names: Set<String>) { tools.removeAll { !names.contains($0.name) } }

    func checkTools() throws(APIFailure) {
        do {
            try ToolDefinition.check(tools)
        } catch {
            throw APIFailure(
                .invalid, "`tools`: \(error.message). \(error.context.remedy ?? "")", field: "tools",
                code: error.code.rawValue)
        }
    }
}
