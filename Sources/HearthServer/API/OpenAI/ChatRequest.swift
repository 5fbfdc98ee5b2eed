import HearthBase
import HearthInference

/// A request of `/v1/chat/completions`, and what it says about the form of its reply.
package struct ChatRequest: Sendable {
    package var request: APIRequest
    /// Whether a stream ends with the counts.
    var includesUsage = false
    /// llama.cpp's extensions.
    var extras = LlamaExtras()

    /// Known fields that are not served, with the values that mean nothing is asked.
    private static let notServed: [String: [JSONValue]] = [
        "functions": [], "function_call": [.string("none"), .string("auto")], "audio": [], "prediction": [],
        "web_search_options": [], "verbosity": [.string("medium")],
    ]

    /// Reads a body.
    /// - Parameter needsModel: whether the request must name a model, as OpenAI's does.
    package static func decode(_ fields: Fields, needsModel: Bool = true) throws(APIFailure) -> ChatRequest {
        if needsModel, try fields.string("model") == nil { throw .invalid("model", "the name of a model") }
        try fields.refuse(notServed)
        if let modalities = try fields.strings("modalities", atMost: 8), modalities != ["text"] {
            throw .notServed("modalities", "other than text are not served")
        }
        let messages = try OpenAIMessages.read(fields)
        var request = APIRequest(.chat(messages), model: try fields.string("model"))
        try request.takeOpenAIFields(fields)
        try request.takeTools(fields)
        request.constraint = try ResponseFormat.constraint(fields)
        request.continuesLastMessage = try continues(messages, fields)
        var chat = ChatRequest(request: request)
        chat.includesUsage = try fields.object("stream_options")?.flag("include_usage") ?? false
        chat.extras = try LlamaExtras(fields)
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
        guard fields.value("logprobs")?.string == nil else { throw .invalid("logprobs", "true or false") }
        if case .boolean(let wanted)? = fields.value("logprobs") {
            let most = try fields.integer("top_logprobs", in: 0...TokenReports.maximumAlternatives)
            if !wanted, most ?? 0 > 0 { throw .invalid("top_logprobs", "absent if `logprobs` is false") }
            if wanted { tokenReports = TokenReports(alternatives: most ?? 0) }
        }
    }

    /// `tools`, `tool_choice` and `parallel_tool_calls`.
    mutating func takeTools(_ fields: Fields) throws(APIFailure) {
        for tool in try fields.objects("tools", atMost: 1000) ?? [] {
            guard try tool.requiredString("type") == "function", let function = try tool.object("function") else {
                throw .notServed(tool.name("type"), "must be `function`")
            }
            tools.append(try function.tool(parameters: "parameters"))
        }
        try checkTools()
        callsInParallel = try fields.flag("parallel_tool_calls") ?? true
        try takeToolChoice(fields)
    }

    /// `tool_choice`.
    mutating func takeToolChoice(_ fields: Fields) throws(APIFailure) {
        guard let choice = fields.value("tool_choice") else { return }
        switch choice.string {
        case "none": tools = []
        case "auto": break
        case "required", "any": try require(.required)
        case .some: throw .invalid("tool_choice", "none, auto, required or a function")
        case nil:
            guard let object = try fields.object("tool_choice") else { return }
            let function = try object.object("function") ?? object
            try require(.named(function.requiredString("name")))
        }
    }

    /// Requires a call of one of the tools.
    mutating func require(_ choice: ToolChoice) throws(APIFailure) {
        guard !choice.tools(of: tools).isEmpty else {
            throw .invalid("tool_choice", "the name of one of the tools")
        }
        toolChoice = choice
    }

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

extension Fields {
    /// A limit of tokens; -1 stands for none.
    func limit(_ key: String) throws(APIFailure) -> Int? {
        guard let limit = try integer(key, in: -1...Int(Int32.max)) else { return nil }
        return limit < 0 ? nil : max(1, limit)
    }

    /// The definition of a tool.
    func tool(parameters key: String) throws(APIFailure) -> ToolDefinition {
        ToolDefinition(
            name: try requiredString("name"), description: try string("description") ?? "",
            parameters: try schema(key) ?? #"{"type":"object","properties":{}}"#)
    }
}

extension ThinkingFields {
    /// `reasoning_effort`, `reasoning.effort`, and llama.cpp's `chat_template_kwargs.enable_thinking`.
    init(openAI fields: Fields) throws(APIFailure) {
        var effort = try fields.string("reasoning_effort")
        if effort == nil { effort = try fields.object("reasoning")?.string("effort") }
        try self.init(effort: effort, field: "reasoning_effort")
        if let flag = try fields.object("chat_template_kwargs")?.flag("enable_thinking") { isEnabled = flag }
        if let budget = try fields.integer("thinking_budget_tokens", in: -1...Int(Int32.max)), budget >= 0 {
            maximumTokens = budget
        }
    }

    /// The thinking of an effort in OpenAI's words. Only `none` and `minimal` are a request without thinking.
    init(effort: String?, field: String) throws(APIFailure) {
        switch effort {
        case nil: break
        case "none", "minimal": isEnabled = false
        case "low": (isEnabled, maximumTokens) = (true, 512)
        case "medium": (isEnabled, maximumTokens) = (true, 2048)
        case "high", "xhigh", "max": isEnabled = true
        default: throw .invalid(field, "none, minimal, low, medium, high or xhigh")
        }
    }
}
