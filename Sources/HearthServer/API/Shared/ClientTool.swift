import HearthBase
import HearthInference

/// A tool as its client names it. The model always reads a function.
package struct ClientTool: Sendable, Hashable {
    /// The kind of a tool, which decides the form of its calls.
    package enum Kind: Sendable, Hashable {
        case function
        /// The call is free text.
        case custom
        /// The client looks for further tools.
        case toolSearch
        case localShell, shell, applyPatch
        /// This server searches the web.
        case webSearch
    }

    package var kind = Kind.function
    package var name: String
    /// The group of tools in which the name is unique.
    package var namespace: String?

    /// The text of a call of a custom tool: its `input`, or all of it if the model wrote something else.
    static func text(of call: ToolCall) -> String {
        guard let value = try? JSONValue(parsing: call.arguments), let members = value.members else {
            return call.arguments
        }
        return members["input"]?.string ?? (members.count == 1 ? members.values.first?.string : nil) ?? call.arguments
    }

    /// The arguments of a call with a free text.
    static func arguments(text: String) -> String { JSONValue.object(["input": .string(text)]).line }
}

/// The names of a request's tools: those that the model reads, and those of the client.
package struct ToolNames: Sendable, Hashable {
    private struct Key: Hashable {
        var name: String
        var namespace: String?
    }

    private var clients: [String: ClientTool] = [:]
    private var names: [Key: String] = [:]
    /// The model's names of all tools that the client calls so.
    private var homonyms: [String: [String]] = [:]

    package init() {}

    /// The client's tool for a name of the model.
    package func client(_ name: String) -> ClientTool { clients[name] ?? ClientTool(name: name) }

    /// The model's name for a tool, also for one that is not offered any more. Some clients name a grouped tool without
    /// its group.
    func name(_ name: String, namespace: String? = nil) -> String {
        if let known = names[Key(name: name, namespace: namespace)] { return known }
        if namespace == nil, let only = homonyms[name], only.count == 1 { return only[0] }
        return Self.plain(name)
    }

    /// Gives a tool a name of its own: the client's if the model may read it and it is free.
    mutating func add(_ tool: ClientTool) -> String {
        let key = Key(name: tool.name, namespace: tool.namespace)
        if let known = names[key] {
            clients[known] = tool
            return known
        }
        var candidates = [Self.plain(tool.name)]
        if let namespace = tool.namespace { candidates.append(Self.plain(namespace + "__" + tool.name)) }
        var name = candidates.first { clients[$0] == nil }
        var number = 2
        while name == nil {
            let ending = "_\(number)"
            let next = candidates[0].prefix(ToolDefinition.maximumNameLength - ending.count) + ending
            if clients[String(next)] == nil { name = String(next) }
            number += 1
        }
        let chosen = name ?? candidates[0]
        names[key] = chosen
        homonyms[tool.name, default: []].append(chosen)
        clients[chosen] = tool
        return chosen
    }

    /// A name with the characters that models may read.
    private static func plain(_ name: String) -> String {
        var plain = ""
        for scalar in name.unicodeScalars.prefix(ToolDefinition.maximumNameLength) {
            let isAllowed =
                ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || scalar == "_" || scalar == "-"
            plain.unicodeScalars.append(isAllowed ? scalar : "_")
        }
        return plain.isEmpty ? "tool" : plain
    }
}
