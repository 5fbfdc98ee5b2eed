import HearthBase

/// The size of the text that one request may have cut into tokens, known before any of it is cut.
///
/// A text of 16 bytes for each token of the window does not fit: most tokens have 3 to 5 bytes. Small windows are
/// exempt up to 256 KiB, since runs of blanks have tokens of up to some hundred bytes.
package struct TextLimit: Sendable, Hashable {
    /// The most bytes.
    package let bytes: Int

    /// The limit of a model.
    /// - Parameter window: its context window in tokens.
    package init(window: Int) {
        bytes = max(256 << 10, 16 * min(window, 1 << 40))
    }

    /// - Throws: `context-window-exceeded` for a text of more bytes.
    package func check(bytes count: Int) throws(LLMError) {
        guard count > bytes else { return }
        throw LLMError(
            .exceededContextWindowSize, "the text has \(count) bytes, the model reads at most \(bytes)",
            context: ErrorContext(
                expected: "at most \(bytes) bytes", found: "\(count) bytes",
                remedy: "Shorten the text, or load the model with a larger context."),
            disposition: .usage)
    }

    /// - Throws: `context-window-exceeded` for messages and tools with more text.
    package func check(_ messages: some Sequence<ChatMessage>, tools: [ToolDefinition] = []) throws(LLMError) {
        try check(bytes: messages.textBytes + tools.textBytes)
    }

    /// Checks what always stays of a request: the oldest messages may be left out.
    /// - Throws: `context-window-exceeded`.
    package static func check(
        _ messages: [ChatMessage], _ options: GenerationOptions, window: Int
    ) throws(LLMError) {
        let limit = TextLimit(window: window)
        guard options.usesChatTemplate else {
            if let given = options.promptTokens, given.count >= window {
                throw ContextFit.exceeded(tokens: "\(given.count)", window: window)
            }
            return try limit.check(messages)
        }
        let least = ContextFit(window: window, reserve: 0).least(of: messages, keepsAll: options.keepsAllMessages)
        try limit.check(least, tools: options.tools)
    }

    /// The error of a text that has more tokens than its caller accepts.
    package static func exceeded(tokens: String, limit: Int) -> LLMError {
        LLMError(
            .exceededContextWindowSize, "the text has \(tokens) tokens, at most \(limit) fit",
            context: ErrorContext(
                expected: "at most \(limit) tokens", found: "\(tokens) tokens",
                remedy: "Shorten the text, or load the model with a larger context."),
            disposition: .usage)
    }
}

extension LLMError {
    /// The fewest tokens that a prompt needs which was refused for its length; `nil` for other errors. A text that was not
    /// cut into tokens has at least one for each 16 bytes, as ``TextLimit`` says.
    package var neededTokens: Int? {
        guard code == .exceededContextWindowSize, let found = context.found else { return nil }
        let number = found.split { !$0.isNumber }.first.flatMap { Int($0) }
        return found.hasSuffix("bytes") ? number.map { $0 / 16 + 1 } : number
    }

    /// The error of a prompt that is too long, with advice that this model can follow.
    /// - Parameters:
    ///   - window: the tokens of the context window.
    ///   - trained: the context that the model was trained with; `nil` if unknown.
    ///   - limit: the part of a window that the request may use; `nil` for all of it.
    package func advised(window: Int, trained: Int?, limit: Int? = nil) -> Self {
        guard code == .exceededContextWindowSize, let trained, trained > 0 else { return self }
        var context = context
        if let limit, limit < trained {
            context.remedy = "Shorten the text, or ask with a larger window than \(limit) tokens (num_ctx)."
        } else if trained > window {
            context.field = "contextLength"
            context.remedy =
                "Shorten the text, or load the model with a larger context: it was trained with \(trained) tokens."
        } else {
            context.remedy = "Shorten the text, or ask a model with a larger context: this one knows \(trained) tokens."
        }
        return Self(code, message, context: context, disposition: disposition, underlying: underlying)
    }
}

extension Sequence<ChatMessage> {
    /// The bytes of the messages' texts. Each message counts 64 bytes more for the template's own text.
    package var textBytes: Int { reduce(0) { $0 + $1.textBytes } }
}

extension ChatMessage {
    fileprivate var textBytes: Int {
        toolCalls.reduce(
            64 + content.utf8.count + thinking.utf8.count + (toolCallID?.utf8.count ?? 0)
                + (toolName?.utf8.count ?? 0)
        ) { $0 + $1.id.utf8.count + $1.name.utf8.count + $1.arguments.utf8.count }
    }
}

extension Sequence<ToolDefinition> {
    /// The bytes of the texts with which a template describes the tools.
    package var textBytes: Int {
        reduce(0) { $0 + $1.name.utf8.count + $1.description.utf8.count + $1.parameters.utf8.count }
    }
}
