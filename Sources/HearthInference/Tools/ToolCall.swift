import HearthBase

/// A tool as a model is told of it.
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

    /// Refuses what no model can be told of.
    /// - Throws: `grammar-unusable`: a name of other characters, one that two tools have, a schema that is too large.
    public static func check(_ tools: [ToolDefinition]) throws(LLMError) {
        var names: Set<String> = []
        for tool in tools {
            let isName = tool.name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                default: false
                }
            }
            guard isName, (1...64).contains(tool.name.utf8.count), names.insert(tool.name).inserted else {
                throw LLMError(
                    .unusableGrammar, "the tool name \(tool.name.debugDescription) cannot be used",
                    context: ErrorContext(remedy: "Letters, digits, _ and -, at most 64, each name once."),
                    disposition: .usage)
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

    /// Whether a text begins so many objects and arrays that it should not be read. Strings are not told apart, since broken text
    /// has no certain ones.
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
