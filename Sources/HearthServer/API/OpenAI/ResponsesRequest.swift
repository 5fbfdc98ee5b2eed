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

    /// Whether the reply carries the thinking for the client to send back.
    var keepsThinking = false

    /// Fields without which the answer would be to something else.
    private static let notServed: [String: [JSONValue]] = [
        "background": [.boolean(false)], "conversation": [], "prompt": [],
    ]

    /// - Parameters:
    ///   - needsModel: whether the request must name a model, as OpenAI's does.
    ///   - searches: whether this server can search the web.
    ///   - stored: finds the message that an item of an earlier response stands for.
    package static func decode(
        _ fields: Fields, needsModel: Bool = true, searches: Bool = false,
        stored: @escaping (String) -> ChatMessage? = { _ in nil }
    ) throws(APIFailure) -> ResponsesRequest {
        let model = try fields.model(isRequired: needsModel)
        try fields.refuse(notServed)
        var request = APIRequest(.chat([]), model: model)
        try ResponsesTools.take(fields, &request, searches: searches)
        let input = try ResponsesInput.read(fields, request.toolNames, stored: stored)
        request.input = .chat(input)
        request.sampling = try fields.samplingFields()
        request.maximumNewTokens = try fields.integer("max_output_tokens", in: 1...Int(Int32.max))
        request.streams = try fields.flag("stream") ?? false
        request.thinking = try ThinkingFields(openAI: fields)
        if let format = try fields.object("text")?.object("format") {
            request.constraint = try ResponseFormat.constraint(format: format)
        }
        request.truncates = try fields.string("truncation") == "auto"
        let included = try fields.strings("include", atMost: 1000) ?? []
        let most = try fields.integer("top_logprobs", in: 0...TokenReports.maximumAlternatives) ?? 0
        if included.contains("message.output_text.logprobs") || most > 0 {
            request.tokenReports = TokenReports(alternatives: most)
        }
        var responses = ResponsesRequest(request: request, input: input)
        responses.instructions = try fields.string("instructions")
        responses.previous = try fields.string("previous_response_id")
        responses.isStored = try fields.flag("store") ?? true
        responses.extras = try LlamaExtras(fields)
        responses.keepsThinking = included.contains("reasoning.encrypted_content")
        responses.echo = try echo(fields)
        return responses
    }

    private static func echo(_ fields: Fields) throws(APIFailure) -> [String: JSONValue] {
        var echo: [String: JSONValue] = [:]
        echo["tools"] = .array(
            try (fields.objects("tools", atMost: OfferedTools.maximumCount) ?? []).map {
                (tool) throws(APIFailure) -> JSONValue in
                guard try ["function", nil].contains(tool.string("type")) else { return tool.json }
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
