import Foundation
import HearthBase
import HearthInference

/// A request of `/v1/rerank` in the forms of Jina and Cohere, or with `texts` in that of Text Embeddings Inference.
struct RerankRequest: Sendable {
    /// The most documents of one request.
    static let maximumDocuments = 2048

    var model: String?
    var query: String
    /// The documents as they are returned, and the texts that are compared.
    var documents: [(shown: JSONValue, text: String)]
    /// The most results.
    var count: Int
    var returnsDocuments = false
    /// Whether the reply is a list alone, with `score`.
    var isPlain = false

    static func decode(_ fields: Fields) throws(APIFailure) -> RerankRequest {
        let isPlain = fields.value("texts") != nil && fields.value("documents") == nil
        let name = isPlain ? "texts" : "documents"
        let failure = APIFailure.invalid(
            fields.name(name), "a list of 1 to \(maximumDocuments) texts, or objects with a text")
        guard let items = try fields.items(name, of: .either(.text, .object)),
            (1...maximumDocuments).contains(items.count)
        else { throw failure }
        let chosen = try fields.strings("rank_fields", atMost: 100)
        var documents: [(shown: JSONValue, text: String)] = []
        for item in items {
            if let text = item.string {
                documents.append((["text": .string(text)], text))
            } else if let text = text(of: item, chosen) {
                documents.append((item, text))
            } else {
                throw failure
            }
        }
        var request = RerankRequest(
            model: try fields.string("model"), query: try query(fields), documents: documents, count: items.count)
        for name in ["top_k", "top_n"] {
            if let most = try fields.integer(name, in: 0...Int(Int32.max)) { request.count = min(most, items.count) }
        }
        for name in ["return_text", "return_documents"] {
            request.returnsDocuments = try fields.flag(name) ?? request.returnsDocuments
        }
        request.isPlain = isPlain
        return request
    }

    private static func query(_ fields: Fields) throws(APIFailure) -> String {
        // Jina's multimodal models take an object.
        if let text = fields.value("query", .object)?["text"]?.string { return text }
        let text = try fields.requiredString("query")
        guard !text.isEmpty else { throw .invalid(fields.name("query"), "a text that is not empty") }
        return text
    }

    /// The text of a document: its chosen members, else `text`, else all its texts.
    private static func text(of document: JSONValue, _ chosen: [String]?) -> String? {
        guard let members = document.members else { return nil }
        if chosen == nil, let text = members["text"]?.string { return text }
        let texts = members.filter { chosen?.contains($0.key) ?? true }.compactMap { $0.value.string }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }
}

/// Documents with their relevance to a query.
struct Ranking: Sendable {
    let model: ServedModel
    /// The relevance of each document; more is better.
    let scores: [Float]
    /// The tokens of query and documents.
    let tokens: Int

    /// The reply of a request.
    func body(_ request: RerankRequest) -> JSONValue {
        let order = scores.indices.sorted { (-scores[$0], $0) < (-scores[$1], $1) }.prefix(request.count)
        if request.isPlain {
            return .array(
                order.map { index in
                    var body: JSONValue = ["index": .integer(index), "score": .number(scores[index])]
                    if request.returnsDocuments { body["text"] = .string(request.documents[index].text) }
                    return body
                })
        }
        return [
            "id": .string(APIIdentifier.make("rerank-")), "object": "list", "model": .string(model.name),
            "results": .array(
                order.map { index in
                    var body: JSONValue = ["index": .integer(index), "relevance_score": .number(scores[index])]
                    if request.returnsDocuments { body["document"] = request.documents[index].shown }
                    return body
                }),
            "usage": ["prompt_tokens": .integer(tokens), "total_tokens": .integer(tokens)],
            "meta": [
                "api_version": ["version": "2"], "billed_units": ["search_units": 1],
                "tokens": ["input_tokens": .integer(tokens)],
            ],
        ]
    }
}

extension APIService {
    /// The relevance of documents to a query: what a ranking model says, else the cosine of the vectors.
    func ranking(_ request: RerankRequest) async throws -> Ranking {
        let ready = try await ready(request.model)
        let texts = [request.query] + request.documents.map(\.text)
        // An empty document has no vector, and answers nothing.
        let places = texts.indices.filter { !texts[$0].allSatisfy(\.isWhitespace) }
        guard places.first == 0 else { throw APIFailure.invalid("query", "a text that is not empty") }
        return try await answers.activity.using(ready.model.name) {
            var scores = [Float](repeating: 0, count: request.documents.count)
            let read: [String]
            if ready.capabilities.contains(.ranking) {
                let documents = places.dropFirst().map { texts[$0] }
                let ranked = try await cutting(documents, ready) {
                    try await ready.engine.reader.rank(request.query, $0)
                }
                read = ranked.texts + [request.query]
                for (place, score) in zip(places.dropFirst(), ranked.vectors) {
                    scores[place - 1] = 1 / (1 + exp(-score))
                }
            } else if ready.capabilities.contains(.embeddings) {
                let made = try await vectors(of: places.map { texts[$0] }, ready, truncates: true)
                read = made.texts
                for (place, vector) in zip(places, made.vectors).dropFirst() {
                    scores[place - 1] = zip(made.vectors[0], vector).reduce(0) { $0 + $1.0 * $1.1 }
                }
            } else {
                throw APIFailure.notServed("model", "neither ranks texts nor makes embeddings: \(ready.model.name)")
            }
            var tokens = 0
            for text in read where ready.capabilities.contains(.tokenCounts) {
                tokens += try await ready.engine.reader.count(text)
            }
            await provider.used(ready.model, keepAlive: nil)
            return Ranking(model: ready.model, scores: scores, tokens: tokens)
        }
    }
}
