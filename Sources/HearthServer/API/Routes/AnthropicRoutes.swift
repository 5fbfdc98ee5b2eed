import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    /// The routes of Anthropic's API.
    static var anthropic: [String: Route] {
        [
            "POST /v1/messages": Route(dialect: .anthropic) { try await messages($0) },
            "POST /v1/messages/count_tokens": Route(dialect: .anthropic) { call in
                let form = try MessagesRequest.decode(
                    try await call.fields(), counts: true, searches: call.service.settings.search != nil)
                let whole = try await call.service.rendered(form.request).tokenCount
                guard form.edits != nil else { return json(["input_tokens": .integer(whole)]) }
                let edited = try await edited(form, call.service, promptTokens: whole)
                return json([
                    "input_tokens": .integer(try await call.service.rendered(edited.request).tokenCount),
                    "context_management": ["original_input_tokens": .integer(whole)],
                ])
            },
            "POST /v1/messages/batches": Route(dialect: .anthropic) { _ in
                throw APIFailure(.notFound, "batches are not served")
            },
        ]
    }

    private static func messages(_ call: Call) async throws -> ServerReply {
        let read = try MessagesRequest.decode(
            try await call.fields(), searches: call.service.settings.search != nil)
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
