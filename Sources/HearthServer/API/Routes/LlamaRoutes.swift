import Foundation
import HearthBase
import HearthInference
import HearthRouting

extension APIRoutes {
    /// The routes that only llama.cpp's server has.
    static var llamaServer: [String: Route] {
        let raw = Route.body(
            .openAI, "Continue texts", examples: CompletionRequest.examples,
            reply: .json(
                .either(LlamaForms.completion, .list(LlamaForms.completion)), stream: EventStream.contentType),
            read: { fields, _ in try CompletionRequest.decode(fields) }
        ) { try await answer($0, $1) }
        let model = (name: "model", meaning: "the name of a model; the default one without it")
        return [
            "POST /completion": raw, "POST /completions": raw,
            "POST /infill": .body(
                .openAI, "Complete the gap between two texts", examples: InfillRequest.examples,
                reply: .json(LlamaForms.completion, stream: EventStream.contentType),
                read: { fields, _ in try InfillRequest(fields) }
            ) { try await infill($0, $1) },
            "POST /tokenize": .body(
                .openAI, "Cut a text into tokens", examples: TokenizeRequest.examples,
                reply: .json(LlamaForms.tokens), read: { fields, _ in try TokenizeRequest(fields) }
            ) { try await tokenize($0, $1) },
            "POST /detokenize": .body(
                .openAI, "Join tokens to a text", examples: DetokenizeRequest.examples,
                reply: .json(["content": .text]), read: { fields, _ in try DetokenizeRequest(fields) }
            ) { try await detokenize($0, $1) },
            "POST /apply-template": .body(
                .openAI, "Show the prompt of a conversation", examples: ChatRequest.examples,
                reply: .json(["prompt": .text]),
                read: { fields, _ in try ChatRequest.decode(fields, needsModel: false) }
            ) { form, call in
                var request = form.request
                request.streams = false
                return json(["prompt": .string(try await call.service.rendered(request).text)])
            },
            "GET /props": .plain(
                .openAI, "Show the settings of a model", query: [model], reply: .json(LlamaForms.properties)
            ) { try await props($0) },
            "GET /slots": .plain(
                .openAI, "Show what a model's slots do", query: [model], reply: .json(.list(LlamaForms.slot))
            ) { try await slots($0) },
        ]
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
    private static func infill(_ request: InfillRequest, _ call: Call) async throws -> ServerReply {
        let ready = try await call.service.ready(request.completion.request.model)
        return try await answer(request.marked(try await call.service.infillMarks(of: ready)), call)
    }

    private static func tokenize(_ request: TokenizeRequest, _ call: Call) async throws -> ServerReply {
        let ready = try await call.service.ready(request.model)
        var tokens: [TokenID] = []
        try ready.textLimit.check(bytes: request.parts.textBytes)
        for (index, part) in request.parts.enumerated() {
            switch part {
            case .tokens(let given): tokens += given
            case .text(let text), .letters(let text):
                tokens += try await ready.engine.reader.tokenize(
                    text, controlTokens: request.parsesSpecial, wholePrompt: request.addsSpecial && index == 0,
                    limit: nil)
            }
        }
        guard request.showsPieces else {
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

    private static func detokenize(_ request: DetokenizeRequest, _ call: Call) async throws -> ServerReply {
        let engine = try await call.service.ready(request.model).engine
        let bytes = try await engine.reader.pieces(of: request.tokens).flatMap { $0 }
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
