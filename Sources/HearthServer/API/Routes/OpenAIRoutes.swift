import HearthBase

extension APIRoutes {
    /// The routes of OpenAI's API. llama.cpp's server has the same ones without `/v1`, where a request need not
    /// name a model.
    static var openAI: [String: Route] {
        var routes = storedResponses
        for prefix in ["/v1", ""] {
            let isOwn = prefix == "/v1"
            routes["GET \(prefix)/models"] = .plain(
                .openAI, "List the models", reply: .json(.either(OpenAIForms.models, MessagesForms.models))
            ) { try await models($0) }
            routes["GET \(prefix)/models/*"] = .plain(
                .openAI, "Show a model", name: "model", reply: .json(.either(OpenAIForms.model, MessagesForms.model))
            ) { try await model($0) }
            routes["POST \(prefix)/chat/completions"] = .body(
                .openAI, "Answer a conversation", examples: ChatRequest.examples,
                reply: .json(OpenAIForms.chat, stream: EventStream.contentType),
                read: { try ChatRequest.decode($0, needsModel: isOwn, searches: $1.searches) }
            ) { try await chat($0, $1) }
            routes["POST \(prefix)/chat/completions/input_tokens"] = .body(
                .openAI, "Count the tokens of a conversation", examples: ChatRequest.examples,
                reply: .json(OpenAIForms.count),
                read: { try ChatRequest.decode($0, needsModel: false, searches: $1.searches) }
            ) { try await counted($0.request, $1) }
            routes["POST \(prefix)/responses"] = .body(
                .openAI, "Answer a conversation, which is kept", examples: ResponsesRequest.examples,
                reply: .json(OpenAIForms.response, stream: EventStream.contentType),
                read: { fields, service in
                    try ResponsesRequest.decode(fields, needsModel: isOwn, searches: service.searches) {
                        service.answers.responses.item($0)
                    }
                }
            ) { try await respond($0, $1, isOpenAI: isOwn) }
            routes["POST \(prefix)/responses/input_tokens"] = .body(
                .openAI, "Count the tokens of an input", examples: ResponsesRequest.examples,
                reply: .json(OpenAIForms.count),
                read: { try ResponsesRequest.decode($0, needsModel: false, searches: $1.searches) }
            ) { try await counted($0.request, $1) }
            routes["POST \(prefix)/embeddings"] = .body(
                .openAI, "Make vectors of texts", examples: EmbeddingRequest.examples,
                reply: .json(OpenAIForms.embeddings),
                read: { fields, _ in try EmbeddingRequest.decode(fields, needsModel: isOwn) }
            ) { json(try await $1.service.embeddings($0).openAI(asBase64: $0.asBase64)) }
        }
        routes["POST /v1/completions"] = .body(
            .openAI, "Continue texts", examples: TextRequest.examples,
            reply: .json(OpenAIForms.text, stream: EventStream.contentType),
            read: { fields, _ in try TextRequest.decode(fields) }
        ) { try await complete($0, $1) }
        // The paths of Jina, Cohere and llama.cpp's server.
        for path in ["/v1/rerank", "/v2/rerank", "/rerank", "/v1/reranking", "/reranking"] {
            routes["POST \(path)"] = .body(
                .openAI, "Rank documents by their relevance to a query", examples: RerankRequest.examples,
                reply: .json(OpenAIForms.ranking), read: { fields, _ in try RerankRequest.decode(fields) }
            ) { json(try await $1.service.ranking($0).body($0)) }
        }
        for path in [
            "/v1/responses/compact", "/v1/audio/speech", "/v1/audio/transcriptions", "/v1/images/generations",
        ] {
            routes["POST \(path)"] = .unserved(.openAI, "\(path) is not served")
        }
        return routes
    }

    /// The routes of responses that are kept.
    private static var storedResponses: [String: Route] {
        [
            "GET /v1/responses/*": .plain(
                .openAI, "Show a kept response", name: "id", reply: .json(OpenAIForms.response)
            ) { call in
                .bytes(try call.service.answers.responses.entry(call.name).body, "application/json; charset=utf-8")
            },
            "DELETE /v1/responses/*": .plain(
                .openAI, "Remove a kept response", name: "id",
                reply: .json(["id": .text, "object": .words("response"), "deleted": .flag])
            ) { call in
                try call.service.answers.responses.remove(call.name)
                return json(["id": .string(call.name), "object": "response", "deleted": true])
            },
        ]
    }
}
