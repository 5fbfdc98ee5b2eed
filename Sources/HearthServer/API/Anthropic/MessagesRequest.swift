import HearthBase
import HearthInference

/// A request of Anthropic's `/v1/messages`.
package struct MessagesRequest: Sendable {
    package var request: APIRequest
    /// What `context_management` changes of the conversation; `nil` without the field.
    var edits: ContextEdits?
    /// What the reply says about the edits.
    var editReport: JSONValue?
    /// Whether the reply shows the model's thinking.
    var showsThinking = true

    /// Reads a body.
    /// - Parameters:
    ///   - counts: whether only the tokens are counted, so that no limit is needed.
    ///   - searches: whether this server can search the web.
    package static func decode(
        _ fields: Fields, counts: Bool = false, searches: Bool = false
    ) throws(APIFailure) -> MessagesRequest {
        let model = try fields.model(isRequired: true)
        fields.require("messages")
        if !counts { fields.require("max_tokens") }
        var reader = MessagesReader()
        var messages: [ChatMessage] = []
        if let system = try reader.system(fields) { messages.append(ChatMessage(.system, system)) }
        guard let list = try fields.objects("messages", atMost: APIRequest.maximumMessages) else {
            throw .invalid("messages", "a list of messages")
        }
        for message in list { messages += try reader.messages(message) }
        messages = SteadyPrompt.ordered(messages)
        var form = MessagesRequest(request: APIRequest(.chat([]), model: model))
        form.request.sampling = try fields.samplingFields()
        form.request.maximumNewTokens = try fields.integer("max_tokens", in: 1...Int(Int32.max))
        guard counts || form.request.maximumNewTokens != nil else {
            throw .invalid("max_tokens", "a whole number above 0")
        }
        form.request.stopStrings = try fields.stopStrings("stop_sequences")
        form.request.streams = try fields.flag("stream") ?? false
        try form.takeThinking(fields)
        try MessagesTools.take(fields, &form.request, referenced: reader.references, searches: searches)
        form.request.constraint = try constraint(fields)
        form.edits = try fields.object("context_management").map { (edits) throws(APIFailure) in
            try ContextEdits(edits)
        }
        if let last = messages.last, last.role == .assistant, last.toolCalls.isEmpty {
            form.request.continuesLastMessage = true
        }
        form.request.input = .chat(messages.renamed(form.request.toolNames))
        return form
    }

    private mutating func takeThinking(_ fields: Fields) throws(APIFailure) {
        // Without the field, Anthropic's models do not think.
        request.thinking = ThinkingFields(isEnabled: false)
        guard let object = try fields.object("thinking") else { return }
        showsThinking = try object.string("display") != "omitted"
        let type = try object.requiredString("type")
        switch type {
        case "disabled": return
        case "enabled", "adaptive": break
        default: return object.leaveOut("thinking." + type)
        }
        request.thinking.isEnabled = true
        request.thinking.maximumTokens = try object.integer("budget_tokens", in: 1...Int(Int32.max))
        if request.thinking.maximumTokens == nil, let output = try fields.object("output_config"),
            let effort = try output.string("effort")
        {
            request.thinking.maximumTokens = ThinkingFields(effort: effort, output).maximumTokens
        }
    }

    private static func constraint(_ fields: Fields) throws(APIFailure) -> OutputConstraint? {
        var format = try fields.object("output_config")?.object("format")
        if format == nil { format = try fields.object("output_format") }
        guard let format else { return nil }
        let type = try format.requiredString("type")
        if type == "text" { return nil }
        guard type == "json_schema", let schema = try format.schema("schema") else {
            throw .invalid(format.name("type"), "json_schema with a schema")
        }
        return try .checked(schema: schema, field: format.name("schema"))
    }
}

extension [ChatMessage] {
    /// The conversation with the names of tools that the model reads.
    func renamed(_ names: ToolNames) -> [ChatMessage] {
        map { message in
            var message = message
            for index in message.toolCalls.indices {
                message.toolCalls[index].name = names.name(message.toolCalls[index].name)
            }
            if let name = message.toolName, !name.isEmpty { message.toolName = names.name(name) }
            return message
        }
    }
}
