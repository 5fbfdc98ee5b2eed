import Foundation
import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    /// The routes that only llama.cpp's server has.
    static var llamaServer: [String: Route] {
        let raw = Route(dialect: .openAI) { try await completion($0) }
        return [
            "POST /completion": raw, "POST /completions": raw,
            "POST /infill": Route(dialect: .openAI) { try await infill($0) },
            "POST /tokenize": Route(dialect: .openAI) { try await tokenize($0) },
            "POST /detokenize": Route(dialect: .openAI) { try await detokenize($0) },
            "POST /apply-template": Route(dialect: .openAI) { call in
                var form = try ChatRequest.decode(try await call.fields(), needsModel: false)
                form.request.streams = false
                return json(["prompt": .string(try await call.service.rendered(form.request).text)])
            },
            "GET /props": Route(dialect: .openAI) { try await props($0) },
            "GET /slots": Route(dialect: .openAI) { try await slots($0) },
        ]
    }

    private static func completion(_ call: Call) async throws -> ServerReply {
        try await answer(try CompletionRequest.decode(try await call.fields()), call)
    }

    private static func answer(_ form: CompletionRequest, _ call: Call) async throws -> ServerReply {
        let run = try await call.service.run(form.request)
        if form.request.streams { return stream(run, CompletionStream(run, form: form), call) }
        let bodies = try await run.answers().enumerated().map { index, answer in
            CompletionReply.final(run, answer, index: index, form: form)
        }
        if let only = bodies.first, bodies.count == 1, !form.isList { return json(only) }
        return json(.array(bodies))
    }

    /// Completes the gap between two texts.
    private static func infill(_ call: Call) async throws -> ServerReply {
        let fields = try await call.fields()
        let ready = try await call.service.ready(try fields.string("model"))
        let marks = try await call.service.infillMarks(of: ready)
        let form = try CompletionRequest.decodeInfill(fields, marks)
        return try await answer(form, call)
    }

    private static func tokenize(_ call: Call) async throws -> ServerReply {
        let fields = try await call.fields()
        let ready = try await call.service.ready(try fields.string("model"))
        guard fields.value("content") != nil else { return json(["tokens": []]) }
        let addsSpecial = try fields.flag("add_special") ?? false
        let parsesSpecial = try fields.flag("parse_special") ?? true
        var tokens: [TokenID] = []
        let parts = try PromptDecoding.prompts(fields, "content").prompts.joined()
        try ready.textLimit.check(bytes: parts.textBytes)
        for (index, part) in parts.enumerated() {
            switch part {
            case .tokens(let given): tokens += given
            case .text(let text), .letters(let text):
                tokens += try await ready.engine.reader.tokenize(
                    text, controlTokens: parsesSpecial, wholePrompt: addsSpecial && index == 0, limit: nil)
            }
        }
        guard try fields.flag("with_pieces") ?? false else {
            return json(["tokens": .array(tokens.map { .integer(Int($0)) })])
        }
        let pieces = try await ready.engine.reader.pieces(of: tokens)
        return json([
            "tokens": .array(
                zip(tokens, pieces).map { token, piece in
                    // A part of a character is shown as bytes.
                    let text = String(validating: piece, as: UTF8.self)
                    return [
                        "id": .integer(Int(token)),
                        "piece": text.map { .string($0) } ?? .array(piece.map { .integer(Int($0)) }),
                    ]
                })
        ])
    }

    private static func detokenize(_ call: Call) async throws -> ServerReply {
        let fields = try await call.fields()
        var tokens: [TokenID] = []
        for item in try fields.items("tokens") ?? [] {
            guard let token = Fields.integer(item).flatMap({ TokenID(exactly: $0) }) else {
                throw APIFailure.invalid("tokens", "a list of tokens")
            }
            tokens.append(token)
        }
        guard tokens.count <= PromptDecoding.maximumParts else {
            throw APIFailure.invalid("tokens", "a list of at most \(PromptDecoding.maximumParts) tokens")
        }
        let engine = try await call.service.ready(try fields.string("model")).engine
        let bytes = try await engine.reader.pieces(of: tokens).flatMap { $0 }
        return json(["content": .string(String(decoding: bytes, as: UTF8.self))])
    }

    private static func props(_ call: Call) async throws -> ServerReply {
        let ready = try await call.service.ready(call.request.target.value("model"))
        let details = try await call.service.provider.details(of: ready.model)
        let settings = call.service.settings
        var options = settings.options
        options.maximumNewTokens = settings.limit(window: ready.information.contextLength)
        return json([
            "default_generation_settings": [
                "id": 0, "n_ctx": .integer(ready.information.contextLength), "speculative": false,
                "is_processing": false, "params": LlamaFacts.settings(options),
            ],
            "total_slots": .integer(ready.information.parallelAnswers ?? 1),
            "model_alias": .string(ready.model.name),
            // The name alone: clients learn no paths.
            "model_path": .string(ready.model.fileName), "chat_template": .string(details.template),
            "modalities": ["vision": .boolean(ready.capabilities.contains(.vision)), "audio": false],
            "build_info": .string("hearth \(settings.version)"), "is_sleeping": false,
        ])
    }

    private static func slots(_ call: Call) async throws -> ServerReply {
        let ready = try await call.service.ready(call.request.target.value("model"))
        let count = ready.information.parallelAnswers ?? 1
        let busy = call.service.answers.activity.running[ready.model.name] ?? 0
        return json(
            .array(
                (0..<count).map { slot in
                    [
                        "id": .integer(slot), "n_ctx": .integer(ready.information.contextLength),
                        "speculative": false, "is_processing": .boolean(slot < busy),
                    ]
                }))
    }
}
