import Foundation
import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    /// The routes of Ollama's API that are about models.
    static var modelRoutes: [String: Route] {
        [
            "GET /api/version": .plain(
                .ollama, "Show the version", reply: .json(["version": .text, "hearth": .text])
            ) { call in
                json(["version": .string(servedVersion), "hearth": .string(call.service.settings.version)])
            },
            "GET /api/tags": .plain(.ollama, "List the models", reply: .json(OllamaForms.models)) {
                try await tags($0)
            },
            "GET /api/ps": .plain(.ollama, "List the models in memory", reply: .json(OllamaForms.loaded)) {
                try await loaded($0)
            },
            "POST /api/show": .body(
                .ollama, "Show a model", examples: name, reply: .json(OllamaForms.details),
                read: { fields, _ in try fields.modelOrName() }
            ) { try await show($0, $1) },
            "POST /api/pull": .body(
                .ollama, "Fetch and install a model", scope: .models,
                examples: name + [#"{"model": "tiny", "stream": false}"#],
                reply: .json(OllamaForms.status, stream: OllamaStream.contentType),
                read: { fields, _ in (try fields.modelOrName(), try fields.flag("stream") ?? true) }
            ) { try await pull($0.0, streams: $0.1, $1) },
            "DELETE /api/delete": .body(
                .ollama, "Remove a model or a preset", scope: .models, examples: name, reply: .empty,
                read: { fields, _ in try fields.modelOrName() }
            ) { name, call in
                try await call.service.provider.delete(name)
                return .bytes([], "application/json; charset=utf-8")
            },
            "POST /api/create": .body(
                .ollama, "Make a preset of a model", scope: .models, examples: PresetRequest.examples,
                reply: .json(OllamaForms.status, stream: OllamaStream.contentType),
                read: { fields, _ in try PresetRequest(fields) }
            ) { request, call in
                try await call.service.provider.keep(request.preset)
                guard request.streams else { return json(["status": "success"]) }
                return .bytes(Array("{\"status\":\"success\"}\n".utf8), OllamaStream.contentType)
            },
            "POST /api/copy": .body(
                .ollama, "Give a model another name", scope: .models,
                examples: [#"{"source": "tiny", "destination": "other"}"#], reply: .empty,
                read: { fields, _ in
                    try Preset(
                        try fields.requiredString("destination"), model: try fields.requiredString("source"))
                }
            ) { preset, call in
                try await call.service.provider.keep(preset)
                return .bytes([], "application/json; charset=utf-8")
            },
        ]
    }

    private static let name = [#"{"model": "tiny"}"#]

    /// The version of Ollama whose requests are served: programs refuse servers of earlier ones.
    private static let servedVersion = "0.14.0"

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

    private static func show(_ name: String, _ call: Call) async throws -> ServerReply {
        let provider = call.service.provider
        let model = try await provider.model(name)
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

    // MARK: Pulls

    private static func pull(_ name: String, streams: Bool, _ call: Call) async throws -> ServerReply {
        let provider = call.service.provider
        guard streams else {
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
