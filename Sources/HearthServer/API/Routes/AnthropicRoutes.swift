import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    /// The routes of Anthropic's API.
    static var anthropic: [String: Route] {
        [
            "POST /v1/messages": .body(
                .anthropic, "Answer a conversation", examples: MessagesRequest.examples,
                reply: .json(MessagesForms.message, stream: EventStream.contentType),
                read: { try MessagesRequest.decode($0, searches: $1.searches) }
            ) { try await messages($0, $1) },
            "POST /v1/messages/count_tokens": .body(
                .anthropic, "Count the tokens of a conversation", examples: MessagesRequest.examples,
                reply: .json(MessagesForms.count),
                read: { try MessagesRequest.decode($0, counts: true, searches: $1.searches) }
            ) { form, call in
                let whole = try await call.service.rendered(form.request).tokenCount
                guard form.edits != nil else { return json(["input_tokens": .integer(whole)]) }
                let edited = try await edited(form, call.service, promptTokens: whole)
                return json([
                    "input_tokens": .integer(try await call.service.rendered(edited.request).tokenCount),
                    "context_management": ["original_input_tokens": .integer(whole)],
                ])
            },
            "POST /v1/messages/batches": .unserved(.anthropic, "batches are not served"),
        ]
    }

    private static func messages(_ read: MessagesRequest, _ call: Call) async throws -> ServerReply {
        let form = try await edited(read, call.service)
        let run = try await call.service.run(form.request)
        let id = APIIdentifier.make("msg_")
        if form.request.streams { return stream(run, MessagesStream(run, id: id, form: form), call) }
        guard let answer = try await run.answers().first else { throw APIFailure(.failed, "there is no answer") }
        return json(MessagesReply.body(run, answer, id: id, form: form))
    }

    /// The request after the edits of its conversation.
    private static func edited(
        _ form: MessagesRequest, _ service: APIService, promptTokens: Int? = nil
    ) async throws -> MessagesRequest {
        guard let edits = form.edits, case .chat(let messages) = form.request.input else { return form }
        var tokens = promptTokens
        if tokens == nil, edits.needsLength(messages) { tokens = try await service.length(of: form.request) }
        var form = form
        let (kept, report) = edits.applied(to: messages, promptTokens: tokens)
        (form.request.input, form.editReport) = (.chat(kept), report)
        return form
    }
}
