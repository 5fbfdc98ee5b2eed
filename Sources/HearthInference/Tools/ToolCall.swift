import HearthBase

/// The definition of a tool for a model.
package struct ToolDefinition: Sendable, Hashable {
    /// The most characters of a name.
    package static let maximumNameLength = 128

    /// Letters, digits, `_` and `-`, at most ``maximumNameLength``.
    package var name: String
    /// The tool's effect and use.
    package var description: String
    /// The JSON schema of its arguments, an object.
    package var parameters: String

    /// Makes a tool's definition.
    package init(name: String, description: String, parameters: String) {
        self.name = name
        self.description = description
        self.parameters = parameters
    }

    private var hasObject: Bool {
        (try? JSONValue(parsing: parameters))?.members != nil
    }

    /// Refuses definitions that cannot be given to a model. A schema that no grammar holds is no reason: its tool is
    /// offered, and its calls are checked.
    /// - Throws: `grammar-unusable`: a name with other characters, a name of two tools, parameters that are no object.
    package static func check(_ tools: [ToolDefinition]) throws(LLMError) {
        var names: Set<String> = []
        for tool in tools {
            guard isName(tool.name), names.insert(tool.name).inserted else {
                throw LLMError.unusable(
                    "the tool name \(tool.name.debugDescription) cannot be used",
                    remedy: "Letters, digits, _ and -, at most \(maximumNameLength), each name once.")
            }
            guard tool.hasObject else {
                throw LLMError.unusable(
                    "the parameters of the tool \(tool.name) cannot be used: they are no JSON object",
                    remedy: "Give a JSON schema of an object.")
            }
        }
    }

    private static func isName(_ text: String) -> Bool {
        (1...maximumNameLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// A model's call of a tool.
public struct ToolCall: Sendable, Hashable, Codable {
    /// The id of the call in its conversation: the model's own, otherwise a generated one.
    public var id: String
    /// The tool's name.
    public var name: String
    /// A JSON object, as the model wrote it.
    public var arguments: String
    /// The whole call as the model wrote it in its text, for a model whose template has no tools. It is sent back
    /// unchanged, so that the computed prefix of the conversation stays valid.
    public var spelling: String?
    /// A sentence with the reason why the arguments do not meet the tool's schema, where a server checked them; `nil` if
    /// they do.
    public var invalid: String?

    /// Makes a call.
    public init(id: String, name: String, arguments: String, spelling: String? = nil) {
        self.id = id
        self.name = name
        self.arguments = arguments
        self.spelling = spelling
    }

    /// The most objects and arrays that the arguments of a message's calls may open, because parsers may read them
    /// recursively.
    public static let maximumNesting = 1000

    /// Whether a text opens more objects and arrays than ``maximumNesting``. Brackets in strings count too, because
    /// broken text has no certain strings.
    public static func isTooNested(_ text: String) -> Bool {
        var count = 0
        for byte in text.utf8 where byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
            count += 1
            if count > maximumNesting { return true }
        }
        return false
    }
}

/// The decision about a tool call of the model.
public enum ToolDecision: Sendable, Hashable {
    case run
    /// The tool is not run; the model reads the reason.
    case deny(reason: String)
    /// Another call is run instead, as after the user edited the arguments.
    case replace(ToolCall)
}

/// Whether a model must call a tool.
package enum ToolChoice: Sendable, Hashable {
    /// The model decides.
    case automatic
    /// The answer is a call of one of the tools.
    case required
    /// The answer is a call of the named tool.
    case named(String)

    /// The tools that may be called.
    package func tools(of tools: [ToolDefinition]) -> [ToolDefinition] {
        if case .named(let name) = self { tools.filter { $0.name == name } } else { tools }
    }
}
