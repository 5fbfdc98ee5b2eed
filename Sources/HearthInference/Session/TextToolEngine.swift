import HearthBase

/// Adds tool calls to an engine whose model's template has none. An engine with tools is used unchanged.
///
/// The tools are described in the system message. Calls are written in the format that models of the Hermes and Qwen
/// families are trained on, outside code fences. The text from a call's opening mark on is not part of the answer:
/// ```
/// <tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>
/// ```
package struct TextToolEngine: InferenceEngine, ForwardingTokenReader {
    private let engine: any InferenceEngine

    /// Adds tool calls to `engine` if it has no ``EngineCapabilities/tools``.
    package init(_ engine: any InferenceEngine) { self.engine = engine }

    package var modelInformation: ModelInformation { get async throws { try await engine.modelInformation } }

    package var capabilities: EngineCapabilities {
        get async throws { try await engine.capabilities.union(.tools) }
    }

    package func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
        try await ask(engine.reader)
    }

    package func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) {
        let spelled = try await spelled(messages, options)
        return try await engine.reader.rendered(spelled?.messages ?? messages, options: spelled?.options ?? options)
    }

    package func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        let spelled = try await spelled(messages, options)
        try await engine.reader.prepare(spelled?.messages ?? messages, options: spelled?.options ?? options)
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        guard let spelled = try await spelled(messages, options) else {
            return try await engine.generate(messages, options: options, onEvent: onEvent)
        }
        guard !options.tools.isEmpty else {
            return try await engine.generate(spelled.messages, options: options, onEvent: onEvent)
        }
        // A required call is the whole answer, without its opening mark.
        let isWhole =
            options.toolChoice != .automatic && spelled.options.constraint?.coversAnswer == true
        let finder = Locked(SpelledCallFinder(isInCall: isWhole))
        func endText() {
            let rest = finder.withLock { $0.finish() }
            if !rest.isEmpty { onEvent(.text(rest)) }
        }
        do {
            var summary = try await engine.generate(spelled.messages, options: spelled.options) { event in
                guard case .text(let piece) = event else { return onEvent(event) }
                let shown = finder.withLock { $0.append(piece) }
                if !shown.isEmpty { onEvent(.text(shown)) }
            }
            endText()
            // A call that a limit cut short is not reported.
            guard summary.reason.isComplete, let call = finder.withLock({ $0.call }) else { return summary }
            onEvent(.toolCall(SpelledTools.read(call, id: ToolCall.newID())))
            summary.reason = .toolCalls
            return summary
        } catch {
            endText()
            throw error
        }
    }

    /// The request for the engine, with the tools described in text; `nil` if it can be sent unchanged.
    private func spelled(
        _ messages: [ChatMessage], _ options: GenerationOptions
    ) async throws -> (messages: [ChatMessage], options: GenerationOptions)? {
        let hasCalls = messages.contains { $0.role == .tool || !$0.toolCalls.isEmpty }
        guard hasCalls || !options.tools.isEmpty else { return nil }
        let abilities = try await engine.capabilities
        if abilities.contains(.tools) { return nil }
        // Descriptions that cannot fit are not written into a message first.
        let window = try await engine.modelInformation.contextLength
        if window > 0 { try TextLimit.check(messages, options, window: window) }
        if options.tools.isEmpty { return (messages.withSpelledTools, options) }
        try ToolDefinition.check(options.tools)
        let tools = options.toolChoice.tools(of: options.tools)
        let isRequired = options.toolChoice != .automatic
        var options = options
        options.tools = []
        options.toolChoice = .automatic
        if isRequired, abilities.contains(.schema), !tools.isEmpty {
            options.constraint = OutputConstraint(.calls(tools))
        } else if abilities.contains(.schema) {
            let block = OutputConstraint.Block(
                SpelledTools.opening, .calls(tools), closing: SpelledTools.closing, endsAnswer: true)
            options.constraint = OutputConstraint(blocks: (options.constraint?.blocks ?? []) + [block])
        } else {
            options.stopStrings.append(SpelledTools.closing)
        }
        return (SpelledTools.describing(tools, in: messages), options)
    }
}

/// Finds the first call in the text of an answer.
struct SpelledCallFinder: Sendable {
    private var marks = StopStringMatcher([SpelledTools.opening])
    private var fence = CodeFence()
    /// The text from the opening mark on; `nil` before the mark.
    private(set) var call: String?

    /// - Parameter isInCall: whether the text begins inside a call.
    init(isInCall: Bool = false) { call = isInCall ? SpelledTools.opening : nil }

    /// Adds the next piece.
    /// - Returns: the text that certainly belongs to the answer.
    mutating func append(_ piece: String) -> String {
        var shown = ""
        var rest = piece
        while call == nil {
            let text = marks.append(rest)
            shown += text
            for byte in text.utf8 { fence.take(byte) }
            guard marks.matched != nil else { return shown }
            rest = marks.remainder
            marks = StopStringMatcher([SpelledTools.opening])
            if fence.isOpen {
                shown += SpelledTools.opening
                for byte in SpelledTools.opening.utf8 { fence.take(byte) }
            } else {
                call = SpelledTools.opening
            }
        }
        call?.append(rest)
        return shown
    }

    /// Ends the text.
    /// - Returns: the rest of the answer.
    mutating func finish() -> String { marks.finish() }
}

extension SpelledTools {
    /// The conversation with the tools described in its system message.
    static func describing(_ tools: [ToolDefinition], in messages: [ChatMessage]) -> [ChatMessage] {
        let list = tools.map { tool in
            let function = [
                #""name":\#(JSONSchema.quoted(tool.name))"#, #""description":\#(JSONSchema.quoted(tool.description))"#,
                #""parameters":\#(tool.parameters)"#,
            ]
            return #"{"type":"function","function":{\#(function.joined(separator: ","))}}"#
        }
        let text = """
            # Tools

            You may call one or more functions to assist with the user query.

            You are provided with function signatures within <tools></tools> XML tags:
            <tools>
            \(list.joined(separator: "\n"))
            </tools>

            For each function call, return a json object with function name and arguments within \
            \(opening)\(closing) XML tags:
            \(opening)
            {"name": <function-name>, "arguments": <args-json-object>}
            \(closing)
            """
        let messages = messages.withSpelledTools
        guard let first = messages.first, first.role == .system else { return [ChatMessage(.system, text)] + messages }
        return [ChatMessage(.system, first.content + "\n\n" + text)] + messages.dropFirst()
    }

    /// Reads a call from its text, which starts with the opening mark. If the call is not a JSON object, its name is
    /// empty and its text is the arguments.
    static func read(_ text: String, id: String) -> ToolCall {
        let end = text.firstRange(of: closing)
        let spelling = end.map { String(text[..<$0.upperBound]) } ?? text + closing
        let json = String(text[..<(end?.lowerBound ?? text.endIndex)].dropFirst(opening.count))
        // Text that is no JSON is a call without a name, which the session refuses with the text.
        guard !ToolCall.isTooNested(json),
            let object = try? JSONValue(parsing: json), let name = object["name"]?.string
        else { return ToolCall(id: id, name: "", arguments: json, spelling: spelling) }
        return ToolCall(id: id, name: name, arguments: object["arguments"]?.line ?? "", spelling: spelling)
    }
}
