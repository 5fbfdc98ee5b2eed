import Foundation
import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    // MARK: Models

    static func models(_ call: Call) async throws -> ServerReply {
        let models = try await call.service.provider.models()
        // Anthropic's clients ask at the same path.
        if call.request.headers.joined("anthropic-version") != nil { return json(AnthropicModels.list(models)) }
        return json([
            "object": "list", "data": .array(models.map(modelBody)),
            // llama.cpp's server lists them a second time for Ollama's clients.
            "models": .array(models.map { ["name": .string($0.name), "model": .string($0.name)] }),
        ])
    }

    static func model(_ call: Call) async throws -> ServerReply {
        let model = try await call.service.provider.model(call.name)
        let isAnthropic = call.request.headers.joined("anthropic-version") != nil
        return json(isAnthropic ? AnthropicModels.body(model) : modelBody(model))
    }

    private static func modelBody(_ model: ServedModel) -> JSONValue {
        var body: JSONValue = [
            "id": .string(model.name), "object": "model",
            "created": .integer(Int(model.created.timeIntervalSince1970)),
            "owned_by": .string(model.upstream ?? "hearth"),
            "aliases": .array(model.aliases.map { .string($0) }),
            "meta": ["size": .integer(Int(clamping: model.size)), "format": .string(model.format)],
        ]
        // The model behind a preset; vLLM's clients read the field so.
        if let preset = model.preset { body["parent"] = .string(preset.model) }
        if let facts = model.facts {
            // The name that routers of models use.
            if let window = facts.contextLength { body["context_length"] = .integer(window) }
            body["capabilities"] = .array(facts.abilities.map { .string($0.rawValue) })
        }
        return body
    }

    // MARK: Answers

    static func chat(_ form: ChatRequest, _ call: Call) async throws -> ServerReply {
        let run = try await call.service.run(form.request)
        let id = APIIdentifier.make("chatcmpl-")
        if form.request.streams { return stream(run, ChatStream(run, id: id, form: form), call) }
        return json(ChatReply.body(run, try await run.answers(), id: id, form: form))
    }

    static func complete(_ form: TextRequest, _ call: Call) async throws -> ServerReply {
        let run = try await call.service.run(form.request)
        let id = APIIdentifier.make("cmpl-")
        if form.request.streams {
            return stream(run, TextStream(run, id: id, form: form), call)
        }
        return json(TextReply.body(run, try await run.answers(), id: id, form: form))
    }

    static func respond(
        _ read: ResponsesRequest, _ call: Call, isOpenAI: Bool
    ) async throws -> ServerReply {
        let responses = call.service.answers.responses
        var form = read
        var conversation: [ChatMessage] = []
        if let previous = form.previous {
            conversation = try responses.entry(previous, field: "previous_response_id")
                .messages
        }
        conversation += form.input
        let instructions = form.instructions.map { [ChatMessage(.system, $0)] } ?? []
        form.request.input = .chat(instructions.joinedSystem(conversation))
        let run: APIRun
        do {
            run = try await call.service.run(form.request)
        } catch let failure as APIFailure where isOpenAI && form.request.streams && failure.lengths != nil {
            return tooLong(form, failure, call.service)
        }
        let reply = ResponsesReply(
            run: run, form: form, id: APIIdentifier.make("resp_"), cutIsComplete: !isOpenAI)
        let store: @Sendable (APIAnswer, JSONValue) -> Void = { [conversation, form] answer, body in
            guard form.isStored else { return }
            let said = ChatMessage(
                .assistant, answer.text, thinking: answer.thinking, toolCalls: answer.toolCalls)
            responses.keep(
                reply.id,
                ResponseStore.Entry(
                    messages: conversation + [said], body: body.bytes, input: form.input, items: reply.items(answer)))
        }
        if form.request.streams { return stream(run, ResponsesStream(reply, store: store), call) }
        guard let answer = try await run.answers().first else { throw APIFailure(.failed, "there is no answer") }
        let body = reply.body(answer)
        store(answer, body)
        return json(body)
    }

    /// Coding agents know a prompt that is too long, and shorten it, only by an event of the stream.
    private static func tooLong(_ form: ResponsesRequest, _ failure: APIFailure, _ service: APIService) -> ServerReply {
        let (events, source) = AsyncThrowingStream<APIEvent, any Error>.makeStream()
        source.finish()
        let run = APIRun(
            request: form.request, model: ServedModel(name: form.request.model ?? ""),
            information: ModelInformation(description: "", contextLength: failure.lengths?.window ?? 0),
            options: service.settings.options, prompts: [], choices: 1, created: Int(Date().timeIntervalSince1970),
            watch: service.time.stopwatch(), events: events)
        var stream = ResponsesStream(
            ResponsesReply(run: run, form: form, id: APIIdentifier.make("resp_"), cutIsComplete: false)
        ) { _, _ in
        }
        return .bytes(stream.begin() + stream.fail(failure), EventStream.contentType)
    }

    static func counted(_ request: APIRequest, _ call: Call) async throws -> ServerReply {
        let prompt = try await call.service.rendered(request)
        return json(["object": "response.input_tokens", "input_tokens": .integer(prompt.tokenCount)])
    }
}

extension [ChatMessage] {
    /// These instructions before a conversation, joined with instructions at its beginning.
    fileprivate func joinedSystem(_ conversation: [ChatMessage]) -> [ChatMessage] {
        guard let mine = first, let other = conversation.first, other.role == .system else {
            return self + conversation
        }
        return [ChatMessage(.system, mine.content + "\n\n" + other.content)] + conversation.dropFirst()
    }
}

extension APIService {
    /// The prompt of a request, without computing it.
    func rendered(_ request: APIRequest) async throws -> (text: String, tokenCount: Int) {
        let ready = try await ready(request.model)
        guard case .chat(let asked) = request.input else {
            throw APIFailure(.invalid, "the request has no messages", field: "messages")
        }
        let messages = ready.model.preset?.beginning(asked) ?? asked
        let options = try await options(of: request, ready)
        guard ready.capabilities.contains(.promptText) || ready.information.isRemote else {
            return ("", try await ready.engine.reader.count(messages))
        }
        return try await ready.engine.reader.rendered(messages, options: options)
    }
}
