import HearthBase
import HearthInference
import HearthRouting

/// A request of OpenAI's `/v1/responses`.
package struct ResponsesRequest: Sendable {
    package var request: APIRequest
    /// The input, without instructions and without the conversation before.
    var input: [ChatMessage]
    var instructions: String?
    /// The response that the input continues.
    var previous: String?
    /// Whether the response is stored for later requests.
    var isStored = true
    var extras = LlamaExtras()
    /// The fields that the reply repeats, as JSON.
    var echo: [String: JSONValue] = [:]

    private static let notServed: [String: [JSONValue]] = [
        "background": [.boolean(false)], "conversation": [], "prompt": [], "context_management": [],
    ]

    package static func decode(_ fields: Fields, needsModel: Bool = true) throws(APIFailure) -> ResponsesRequest {
        if needsModel, try fields.string("model") == nil { throw .invalid("model", "the name of a model") }
        try fields.refuse(notServed)
        let input = try ResponsesInput.read(fields)
        var request = APIRequest(.chat(input), model: try fields.string("model"))
        request.sampling = try fields.samplingFields()
        request.maximumNewTokens = try fields.integer("max_output_tokens", in: 1...Int(Int32.max))
        request.streams = try fields.flag("stream") ?? false
        request.thinking = try ThinkingFields(openAI: fields)
        try takeTools(fields, &request)
        if let format = try fields.object("text")?.object("format") {
            request.constraint = try ResponseFormat.constraint(format: format)
        }
        request.truncates = try fields.string("truncation") == "auto"
        let included = try fields.strings("include", atMost: 16) ?? []
        let most = try fields.integer("top_logprobs", in: 0...TokenReports.maximumAlternatives) ?? 0
        if included.contains("message.output_text.logprobs") || most > 0 {
            request.tokenReports = TokenReports(alternatives: most)
        }
        var responses = ResponsesRequest(request: request, input: input)
        responses.instructions = try fields.string("instructions")
        responses.previous = try fields.string("previous_response_id")
        responses.isStored = try fields.flag("store") ?? true
        responses.extras = try LlamaExtras(fields)
        responses.echo = try echo(fields)
        return responses
    }

    /// Unlike chat's tools, these have their function's fields at the top.
    private static func takeTools(_ fields: Fields, _ request: inout APIRequest) throws(APIFailure) {
        for tool in try fields.objects("tools", atMost: 1000) ?? [] {
            let type = try tool.requiredString("type")
            guard type == "function" else {
                throw .notServed(tool.name("type"), "`\(type.prefix(60))` is a tool of OpenAI's servers")
            }
            request.tools.append(try (tool.object("function") ?? tool).tool(parameters: "parameters"))
        }
        try request.checkTools()
        request.callsInParallel = try fields.flag("parallel_tool_calls") ?? true
        try request.takeToolChoice(fields)
    }

    private static func echo(_ fields: Fields) throws(APIFailure) -> [String: JSONValue] {
        var echo: [String: JSONValue] = [:]
        echo["tools"] = .array(
            try (fields.objects("tools", atMost: 1000) ?? []).map { (tool) throws(APIFailure) -> JSONValue in
                let function = try tool.object("function") ?? tool
                return [
                    "type": "function", "name": .string(try function.requiredString("name")),
                    "description": try function.string("description").map { .string($0) } ?? .null,
                    "parameters": try function.schema("parameters").map { .object(parsing: $0) } ?? .null,
                    "strict": try function.flag("strict").map { .boolean($0) } ?? .null,
                ]
            })
        for key in ["tool_choice", "metadata", "text", "prompt_cache_key", "safety_identifier"] {
            if let value = fields.value(key) { echo[key] = value }
        }
        if let reasoning = try fields.object("reasoning") {
            echo["reasoning"] = [
                "effort": try reasoning.string("effort").map { .string($0) } ?? .null,
                "summary": try reasoning.string("summary").map { .string($0) } ?? .null,
            ]
        }
        if let most = try fields.integer("max_tool_calls") { echo["max_tool_calls"] = .integer(most) }
        return echo
    }
}

/// Reads `input`: a text, or a list of items.
enum ResponsesInput {
    static func read(_ fields: Fields) throws(APIFailure) -> [ChatMessage] {
        guard let value = fields.value("input") else { throw .invalid("input", "a text or a list of items") }
        if let text = value.string { return [ChatMessage(.user, text)] }
        guard value.items != nil, let items = try fields.objects("input", atMost: APIRequest.maximumMessages)
        else { throw .invalid("input", "a text or a list of items") }
        var messages: [ChatMessage] = []
        var thinking = ""
        for item in items {
            switch try item.string("type") ?? "message" {
            case "message":
                var message = try message(item)
                if message.role == .assistant { (message.thinking, thinking) = (thinking, "") }
                messages.append(message)
            case "function_call":
                let call = ToolCall(
                    id: try item.requiredString("call_id"), name: try item.requiredString("name"),
                    arguments: try item.string("arguments") ?? "")
                // The calls of one answer are one message.
                if let last = messages.last, last.role == .assistant {
                    messages[messages.count - 1].toolCalls.append(call)
                } else {
                    messages.append(ChatMessage(.assistant, "", thinking: thinking, toolCalls: [call]))
                    thinking = ""
                }
            case "function_call_output": messages.append(try result(item, messages))
            case "reasoning":
                for part in try item.objects("content", atMost: 1000) ?? [] {
                    thinking += try part.string("text") ?? ""
                }
            case let type: throw .notServed(item.name("type"), "`\(type.prefix(60))` is not served")
            }
        }
        return messages
    }

    private static func message(_ item: Fields) throws(APIFailure) -> ChatMessage {
        let role = try item.requiredString("role")
        let roles: [String: ChatRole] = [
            "user": .user, "assistant": .assistant, "system": .system, "developer": .system,
        ]
        guard let role = roles[role] else { throw .invalid(item.name("role"), "user, assistant or system") }
        let (text, images) = try content(item, "content")
        return ChatMessage(role, text, images: images)
    }

    private static func result(_ item: Fields, _ messages: [ChatMessage]) throws(APIFailure) -> ChatMessage {
        let id = try item.requiredString("call_id")
        let (text, images) = try content(item, "output")
        var message = ChatMessage(.tool, text, images: images)
        message.toolCallID = id
        message.toolName = messages.flatMap(\.toolCalls).last { $0.id == id }?.name ?? ""
        return message
    }

    private static func content(_ item: Fields, _ key: String) throws(APIFailure) -> (String, [ChatImage]) {
        guard let value = item.value(key) else { throw .invalid(item.name(key), "a text or a list of parts") }
        if let text = value.string { return (text, []) }
        var texts: [String] = []
        var images: [ChatImage] = []
        for part in try item.objects(key, atMost: 10_000) ?? [] {
            switch try part.requiredString("type") {
            case "input_text", "output_text", "text": texts.append(try part.requiredString("text"))
            case "refusal": texts.append(try part.requiredString("refusal"))
            case "input_image":
                guard images.count < PictureData.maximumCount else {
                    throw .invalid(item.name(key), "at most \(PictureData.maximumCount) images")
                }
                guard let address = try part.string("image_url") else {
                    throw .notServed(part.name("file_id"), "is not served; send `image_url`")
                }
                images.append(try PictureData.picture(address: address, field: part.name("image_url")))
            case let type: throw .notServed(part.name("type"), "`\(type.prefix(60))` is not served")
            }
        }
        return (texts.joined(separator: "\n"), images)
    }
}
