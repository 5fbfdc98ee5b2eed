import HearthBase
import HearthInference

/// A request of `/v1/chat/completions`, and what it says about the form of its reply.
package struct ChatRequest: Sendable {
    package var request: APIRequest
    /// Whether a stream ends with the counts.
    var includesUsage = false
    /// llama.cpp's extensions.
    var extras = LlamaExtras()

    /// Whether the request offers `functions`, so that calls have the older form.
    var usesFunctions = false

    /// Reads a body.
    /// - Parameters:
    ///   - needsModel: whether the request must name a model, as OpenAI's does.
    ///   - searches: whether this server can search the web.
    package static func decode(
        _ fields: Fields, needsModel: Bool = true, searches: Bool = false
    ) throws(APIFailure) -> ChatRequest {
        let model = try fields.model(isRequired: needsModel)
        // An answer in text alone would break a client that plays it.
        if let modalities = try fields.strings("modalities", atMost: 64), modalities.contains("audio") {
            throw .notServed("modalities", "other than text are not served")
        }
        var request = APIRequest(.chat([]), model: model)
        try request.takeOpenAIFields(fields)
        try ChatTools.take(fields, &request, searches: searches)
        let messages = try OpenAIMessages.read(fields, request.toolNames)
        request.input = .chat(messages)
        request.constraint = try ResponseFormat.constraint(fields)
        request.continuesLastMessage = try continues(messages, fields)
        var chat = ChatRequest(request: request)
        chat.includesUsage = try fields.object("stream_options")?.flag("include_usage") ?? false
        chat.extras = try LlamaExtras(fields)
        let functions = fields.value("functions")?.items ?? []
        chat.usesFunctions = fields.value("tools") == nil && !functions.isEmpty
        chat.request.showsPrompt = chat.extras.isVerbose
        return chat
    }

    /// Whether the answer continues the last message, which llama.cpp's clients call a prefill.
    private static func continues(_ messages: [ChatMessage], _ fields: Fields) throws(APIFailure) -> Bool {
        let asked = try fields.flag("continue_final_message")
        if asked == true, try fields.flag("add_generation_prompt") == true {
            throw .invalid("continue_final_message", "false if `add_generation_prompt` is true")
        }
        guard let last = messages.last, last.role == .assistant, last.toolCalls.isEmpty else { return false }
        return asked ?? true
    }
}

extension APIRequest {
    /// The fields that chat and text completions share.
    mutating func takeOpenAIFields(_ fields: Fields) throws(APIFailure) {
        sampling = try fields.samplingFields()
        sampling.logitBias = try fields.logitBias()
        for key in ["max_completion_tokens", "max_tokens", "n_predict"] where maximumNewTokens == nil {
            maximumNewTokens = try fields.limit(key)
        }
        stopStrings = try fields.stopStrings()
        copies = try fields.integer("n", in: 1...64) ?? 1
        streams = try fields.flag("stream") ?? false
        thinking = try ThinkingFields(openAI: fields)
        timeLimit = try fields.integer("t_max_predict_ms", in: -1...86_400_000).flatMap {
            $0 > 0 ? .milliseconds($0) : nil
        }
        guard fields.value("logprobs", .flag)?.string == nil else { throw .invalid("logprobs", "true or false") }
        if case .boolean(let wanted)? = fields.value("logprobs") {
            let most = try fields.integer("top_logprobs", in: 0...TokenReports.maximumAlternatives)
            if !wanted, most ?? 0 > 0 { throw .invalid("top_logprobs", "absent if `logprobs` is false") }
            if wanted { tokenReports = TokenReports(alternatives: most ?? 0) }
        }
    }
}

extension Fields {
    /// The name of a model.
    func model(isRequired: Bool) throws(APIFailure) -> String? {
        isRequired ? try requiredString("model", "the name of a model") : try string("model")
    }

    /// A limit of tokens; -1 stands for none.
    func limit(_ key: String) throws(APIFailure) -> Int? {
        guard let limit = try integer(key, in: -1...Int(Int32.max)) else { return nil }
        return limit < 0 ? nil : limit
    }
}

extension ThinkingFields {
    /// `reasoning_effort`, `reasoning.effort`, and llama.cpp's `chat_template_kwargs.enable_thinking`.
    init(openAI fields: Fields) throws(APIFailure) {
        var effort = try fields.string("reasoning_effort")
        if effort == nil { effort = try fields.object("reasoning")?.string("effort") }
        self.init(effort: effort, fields)
        if let flag = try fields.object("chat_template_kwargs")?.flag("enable_thinking") { isEnabled = flag }
        if let budget = try fields.integer("thinking_budget_tokens", in: -1...Int(Int32.max)), budget >= 0 {
            maximumTokens = budget
        }
    }

    /// The thinking of an effort in OpenAI's words. Only `none` and `minimal` are a request without thinking; an unknown
    /// effort is left out.
    init(effort: String?, _ fields: Fields) {
        switch effort {
        case nil: break
        case "none", "minimal": isEnabled = false
        case "low": (isEnabled, maximumTokens) = (true, 512)
        case "medium": (isEnabled, maximumTokens) = (true, 2048)
        case "high", "xhigh", "max": isEnabled = true
        default: fields.leaveOut("effort")
        }
    }
}
