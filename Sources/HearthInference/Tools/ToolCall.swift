import HearthBase

/// The definition of a tool for a model.
public struct ToolDefinition: Sendable, Hashable {
    /// Letters, digits, `_` and `-`, at most 64.
    public var name: String
    /// The tool's effect and use.
    public var description: String
    /// The JSON schema of its arguments, an object.
    public var parameters: String

    /// A tool of these facts.
    public init(name: String, description: String, parameters: String) {
        self.name = name
        self.description = description
        self.parameters = parameters
    }

    /// Refuses definitions that no model can get.
    /// - Throws: `grammar-unusable`: a name of other characters, one that two tools have, a schema that is too large.
    public static func check(_ tools: [ToolDefinition]) throws(LLMError) {
        var names: Set<String> = []
        for tool in tools {
            guard tool.name.wholeMatch(of: /[A-Za-z0-9_-]{1,64}/) != nil, names.insert(tool.name).inserted else {
                throw LLMError.unusable(
                    "the tool name \(tool.name.debugDescription) cannot be used",
                    remedy: "Letters, digits, _ and -, at most 64, each name once.")
            }
            try OutputConstraint.check(schema: tool.parameters)
        }
    }
}

/// A model's call of a tool.
public struct ToolCall: Sendable, Hashable, Codable {
    /// Tells the calls of a conversation apart: the model's own, else one made for it.
    public var id: String
    /// The tool's name.
    public var name: String
    /// A JSON object, as the model wrote it.
    public var arguments: String
    /// The whole call as the model wrote it in its text, for a model whose template knows no tools: sent back unchanged, so
    /// that the computed prefix of the conversation stays valid.
    public var spelling: String?

    /// A call.
    public init(id: String, name: String, arguments: String, spelling: String? = nil) {
        self.id = id
        self.name = name
        self.arguments = arguments
        self.spelling = spelling
    }

    /// The most objects and arrays that may begin in the arguments of a message's calls: parsers may read them recursively.
    public static let maximumNesting = 1000

    /// Whether a text begins more objects and arrays than ``maximumNesting``; brackets in strings count too, because strings of
    /// broken text cannot be told apart.
    public static func isTooNested(_ text: String) -> Bool {
        var count = 0
        for byte in text.utf8 where byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
            count += 1
            if count > maximumNesting { return true }
        }
        return false
    }
}

/// The result of a tool call.
public struct ToolResult: Sendable, Hashable, Codable {
    /// The call of the model.
    public var call: ToolCall
    /// The text for the model.
    public var content: String

    /// A result of a call.
    public init(call: ToolCall, content: String) {
        self.call = call
        self.content = content
    }
}

/// The decision about a tool call of the model.
public enum ToolDecision: Sendable, Hashable {
    case run
    /// The tool is not run; the model reads the reason.
    case deny(reason: String)
    /// This call is run instead, as after an edit of its arguments by the user.
    case replace(ToolCall)
}
