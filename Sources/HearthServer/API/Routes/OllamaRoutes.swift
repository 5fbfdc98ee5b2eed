import Foundation
import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    /// The routes of Ollama's API.
    static var ollama: [String: Route] {
        var routes: [String: Route] = [
            "GET /api/version": Route(dialect: .ollama) { call in
                json(["version": .string(servedVersion), "hearth": .string(call.service.settings.version)])
            },
            "GET /api/tags": Route(dialect: .ollama) { try await tags($0) },
            "GET /api/ps": Route(dialect: .ollama) { try await loaded($0) },
            "POST /api/show": Route(dialect: .ollama) { try await show($0) },
            "POST /api/chat": Route(dialect: .ollama) { try await ollama($0, .chat) },
            "POST /api/generate": Route(dialect: .ollama) { try await ollama($0, .generate) },
            "POST /api/embed": Route(dialect: .ollama) { try await embed($0) },
            "POST /api/embeddings": Route(dialect: .ollama) { try await embedOne($0) },
            "POST /api/pull": Route(dialect: .ollama, scope: .models) { try await pull($0) },
            "DELETE /api/delete": Route(dialect: .ollama, scope: .models) { call in
                try await call.service.provider.delete(try name(await call.fields()))
                return .bytes([], "application/json; charset=utf-8")
            },
        ]
        routes["POST /api/create"] = Route(dialect: .ollama, scope: .models) { try await create($0) }
        routes["POST /api/copy"] = Route(dialect: .ollama, scope: .models) { try await copy($0) }
        routes["POST /api/push"] = Route(dialect: .ollama, scope: .models) { _ in
            throw APIFailure(.notFound, "/api/push is not served")
        }
        return routes
    }

    /// The version of Ollama whose requests are served: programs refuse servers of earlier ones.
    private static let servedVersion = "0.14.0"

    /// Ollama's clients name a model in `model`, older ones in `name`.
    private static func name(_ fields: Fields) throws(APIFailure) -> String {
        guard let name = try fields.firstString("model", "name"), !name.isEmpty else {
            throw .invalid("model", "the name of a model")
        }
        return name
    }

    // MARK: Answers

    private static func ollama(_ call: Call, _ kind: OllamaRequest.Kind) async throws -> ServerReply {
        let form = try OllamaRequest.decode(try await call.fields(), kind)
        let service = call.service
        if form.onlyLoads { return try await load(form, service) }
        if let wanted = form.contextLength {
            let window = try await service.ready(form.request.model).information.contextLength
            guard wanted <= window else {
                throw APIFailure.notServed(
                    "options.num_ctx", "is \(wanted), and the model is loaded with a context of \(window) tokens")
            }
        }
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

    private static func embed(_ call: Call) async throws -> ServerReply {
        let watch = call.service.time.stopwatch()
        let fields = try await call.fields()
        var request = try EmbeddingRequest.decode(fields, needsModel: false)
        request.model = try name(fields)
        request.truncates = try fields.flag("truncate") ?? true
        let made = try await call.service.embeddings(request)
        return json([
            "model": .string(made.model.name),
            "embeddings": .array(made.vectors.map { .array($0.map { .number($0) }) }),
            "total_duration": .integer(Int(watch.elapsed.seconds * 1e9)), "load_duration": 0,
            "prompt_eval_count": .integer(made.tokens),
        ])
    }

    /// The older form: one text, one vector.
    private static func embedOne(_ call: Call) async throws -> ServerReply {
        let fields = try await call.fields()
        let request = EmbeddingRequest(
            model: try name(fields), inputs: [.text(try fields.requiredString("prompt"))], truncates: true)
        let made = try await call.service.embeddings(request)
        return json(["embedding": .array((made.vectors.first ?? []).map { .number($0) })])
    }

    // MARK: Models

    private static func tags(_ call: Call) async throws -> ServerReply {
        let models = try await call.service.provider.models()
        return json(["models": .array(models.map { entry($0) })])
    }

    private static func loaded(_ call: Call) async throws -> ServerReply {
        let models = await call.service.provider.loaded()
        return json([
            "models": .array(
                models.map { loaded in
                    var body = entry(loaded.model)
                    body["modified_at"] = nil
                    let expires = loaded.expires ?? Date().addingTimeInterval(KeepAlive.longest.seconds)
                    body["expires_at"] = .string(APITime.text(expires))
                    body["size"] = .integer(Int(clamping: loaded.bytes))
                    body["size_vram"] = 0
                    return body
                })
        ])
    }

    private static func entry(_ model: ServedModel) -> JSONValue {
        [
            "name": .string(model.name), "model": .string(model.name),
            "modified_at": .string(APITime.text(model.created)), "size": .integer(Int(clamping: model.size)),
            "digest": .string(model.digest), "details": details(model, model.facts),
            "capabilities": abilities(model),
        ]
    }

    private static func details(_ model: ServedModel, _ facts: ServedFacts?) -> JSONValue {
        let architecture = facts?.architecture ?? ""
        let family = architecture.isEmpty ? model.family : architecture
        let quantization = facts?.quantization ?? ""
        return [
            "parent_model": "", "format": .string(model.format), "family": .string(family),
            "families": [.string(family)], "parameter_size": .string(facts?.parameterSize ?? ""),
            "quantization_level": .string((quantization.isEmpty ? model.variant : quantization).uppercased()),
        ]
    }

    private static func abilities(_ model: ServedModel) -> JSONValue {
        .array((model.facts?.abilities ?? [.completion]).map { .string($0.rawValue) })
    }

    private static func show(_ call: Call) async throws -> ServerReply {
        let provider = call.service.provider
        let model = try await provider.model(try name(await call.fields()))
        let details = try await provider.details(of: model)
        let facts = details.metadata.filter { $0.key != "tokenizer.chat_template" }.sorted { $0.key < $1.key }
        let preset = model.preset
        var body: JSONValue = [
            "modelfile": .string(preset.map(PresetText.text) ?? "FROM \(model.name)\n"),
            "parameters": .string(preset.map { PresetText.parameters($0).joined(separator: "\n") } ?? ""),
            "template": .string(details.template), "details": self.details(model, model.facts),
            "model_info": .object(JSONMembers(facts.map { ($0.key, $0.value) })),
            "capabilities": abilities(model), "modified_at": .string(APITime.text(model.created)),
        ]
        if let preset {
            body["system"] = .string(preset.system)
            if !preset.messages.isEmpty { body["messages"] = .array(preset.messages.map(\.body)) }
        }
        return json(body)
    }

    // MARK: Presets

    /// Makes a preset of a model: no weights are made.
    private static func create(_ call: Call) async throws -> ServerReply {
        let fields = try await call.fields()
        let name = try name(fields)
        try fields.refuse(["files": [], "adapters": [], "quantize": [.string("")], "template": [.string("")]])
        let preset: Preset
        if let text = try fields.string("modelfile") {
            preset = try PresetText.preset(name, text)
        } else {
            var messages: [Preset.Message] = []
            for message in try fields.objects("messages", atMost: 1000) ?? [] {
                guard let role = ChatRole(rawValue: try message.requiredString("role")), role != .tool else {
                    throw APIFailure.invalid(message.name("role"), "system, user or assistant")
                }
                messages.append(Preset.Message(role: role, text: try message.requiredString("content")))
            }
            preset = try Preset(
                name, model: try fields.requiredString("from"), system: try fields.string("system") ?? "",
                parameters: fields.value("parameters")?.members ?? [:], messages: messages)
        }
        try await call.service.provider.keep(preset)
        guard try fields.flag("stream") ?? true else { return json(["status": "success"]) }
        return .bytes(Array("{\"status\":\"success\"}\n".utf8), OllamaStream.contentType)
    }

    /// Gives a model, or a preset, another name.
    private static func copy(_ call: Call) async throws -> ServerReply {
        let fields = try await call.fields()
        let preset = try Preset(
            try fields.requiredString("destination"), model: try fields.requiredString("source"))
        try await call.service.provider.keep(preset)
        return .bytes([], "application/json; charset=utf-8")
    }

    // MARK: Pulls

    private static func pull(_ call: Call) async throws -> ServerReply {
        let fields = try await call.fields()
        let name = try name(fields)
        let provider = call.service.provider
        guard try fields.flag("stream") ?? true else {
            try await provider.pull(name) { _ in }
            return json(["status": "success"])
        }
        let (steps, source) = AsyncThrowingStream<PullStep, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(64))
        let work = Task {
            do {
                try await provider.pull(name) { source.yield($0) }
                source.finish()
            } catch {
                source.finish(throwing: error)
            }
        }
        source.endsWithItsReader { work.cancel() }
        var reply = ServerReply.bytes([], OllamaStream.contentType)
        reply.body = .stream { writer in
            func send(_ body: JSONValue) async throws { try await writer.write(body.bytes + [UInt8(ascii: "\n")]) }
            try await send(["status": "pulling manifest"])
            do {
                for try await step in steps { try await send(self.step(step)) }
                try Task.checkCancellation()
            } catch {
                if writer.hasLeft || Task.isCancelled { throw error }
                return try await send(OllamaFailure.body(APIFailure(error)))
            }
            try await send(["status": "success"])
        }
        return reply
    }

    private static func step(_ step: PullStep) -> JSONValue {
        var body: JSONValue = ["status": .string(step.status)]
        if !step.digest.isEmpty { body["digest"] = .string(step.digest) }
        if let total = step.total { body["total"] = .integer(Int(clamping: total)) }
        if let completed = step.completed { body["completed"] = .integer(Int(clamping: completed)) }
        return body
    }
}
