import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    /// The routes of Anthropic's API.
    static var anthropic: [String: Route] {
        [
            "POST /v1/messages": Route(dialect: .anthropic) { try await messages($0) },
            "POST /v1/messages/count_tokens": Route(dialect: .anthropic) { call in
                let form = try MessagesRequest.decode(try await call.fields(), counts: true)
                let prompt = try await call.service.rendered(form.request)
                return json(["input_tokens": .integer(prompt.tokenCount)])
            },
            "POST /v1/messages/batches": Route(dialect: .anthropic) { _ in
                throw APIFailure(.notFound, "batches are not served")
            },
        ]
    }

    private static func messages(_ call: Call) async throws -> ServerReply {
        let form = try MessagesRequest.decode(try await call.fields())
        let run = try await call.service.run(form.request)
        let id = APIIdentifier.make("msg_")
        if form.request.streams { return stream(run, MessagesStream(run, id: id), call) }
        guard let answer = try await run.answers().first else { throw APIFailure(.failed, "there is no answer") }
        return json(MessagesReply.body(run, answer, id: id))
    }
}
