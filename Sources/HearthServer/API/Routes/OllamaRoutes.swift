import Foundation
import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    /// The routes of Ollama's API.
    static var ollama: [String: Route] {
        modelRoutes.merging([
            "POST /api/chat": .body(
                .ollama, "Answer a conversation", examples: OllamaRequest.chats,
                reply: .json(OllamaForms.chat, stream: OllamaStream.contentType),
                read: { fields, _ in try OllamaRequest.decode(fields, .chat) }
            ) { try await ollama($0, $1) },
            "POST /api/generate": .body(
                .ollama, "Answer a prompt", examples: OllamaRequest.prompts,
                reply: .json(OllamaForms.generated, stream: OllamaStream.contentType),
                read: { fields, _ in try OllamaRequest.decode(fields, .generate) }
            ) { try await ollama($0, $1) },
            "POST /api/embed": .body(
                .ollama, "Make vectors of texts", examples: EmbeddingRequest.ollamaExamples,
                reply: .json(OllamaForms.vectors), read: { fields, _ in try EmbeddingRequest.decodeOllama(fields) }
            ) { try await embed($0, $1) },
            "POST /api/embeddings": .body(
                .ollama, "Make the vector of a text", examples: [#"{"model": "tiny", "prompt": "a cat"}"#],
                reply: .json(["embedding": .list(.number)]),
                read: { fields, _ in
                    EmbeddingRequest(
                        model: try fields.modelOrName(), inputs: [.text(try fields.requiredString("prompt"))],
                        truncates: true)
                }
            ) { request, call in
                let made = try await call.service.embeddings(request)
                return json(["embedding": .array((made.vectors.first ?? []).map { .number($0) })])
            },
            "POST /api/push": .unserved(.ollama, "/api/push is not served", scope: .models),
        ]) { $1 }
    }

    // MARK: Answers

    private static func ollama(_ form: OllamaRequest, _ call: Call) async throws -> ServerReply {
        let kind = form.kind
        let service = call.service
        if form.onlyLoads { return try await load(form, service) }
        let run = try await service.run(form.request)
        if form.request.streams { return stream(run, OllamaStream(run, kind), call) }
        guard let answer = try await run.answers().first else { throw APIFailure(.failed, "there is no answer") }
        return json(OllamaStream.body(run, kind, answer))
    }

    /// Loads a model, or unloads it if `keep_alive` is 0.
    private static func load(_ form: OllamaRequest, _ service: APIService) async throws -> ServerReply {
        let unloads = form.request.keepAlive == .zero
        let model = try await service.provider.model(form.request.model)
        if unloads {
            await service.provider.unload(model)
        } else {
            _ = try await service.ready(form.request.model)
            await service.provider.used(model, keepAlive: form.request.keepAlive)
        }
        var body = OllamaStream.object(model.name, form.kind, text: "")
        body["done"] = true
        body["done_reason"] = unloads ? "unload" : "load"
        let type = form.request.streams ? OllamaStream.contentType : "application/json; charset=utf-8"
        return .bytes(body.bytes + [UInt8(ascii: "\n")], type)
    }

    private static func embed(_ request: EmbeddingRequest, _ call: Call) async throws -> ServerReply {
        let watch = call.service.time.stopwatch()
        let made = try await call.service.embeddings(request)
        return json([
            "model": .string(made.model.name),
            "embeddings": .array(made.vectors.map { .array($0.map { .number($0) }) }),
            "total_duration": .integer(Int(watch.elapsed.seconds * 1e9)), "load_duration": 0,
            "prompt_eval_count": .integer(made.tokens),
        ])
    }
}

extension Fields {
    /// Ollama's clients name a model in `model`, older ones in `name`.
    func modelOrName() throws(APIFailure) -> String {
        require("model")
        guard let name = try firstString("model", "name"), !name.isEmpty else {
            throw .invalid("model", "the name of a model")
        }
        return name
    }
}

extension EmbeddingRequest {
    /// Reads Ollama's `/api/embed`.
    static func decodeOllama(_ fields: Fields) throws(APIFailure) -> EmbeddingRequest {
        var request = try decode(fields, needsModel: false)
        request.model = try fields.modelOrName()
        request.truncates = try fields.flag("truncate") ?? true
        return request
    }
}
