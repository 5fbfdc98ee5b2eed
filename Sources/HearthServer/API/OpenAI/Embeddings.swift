import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// A request of `/v1/embeddings` or Ollama's `/api/embed`.
struct EmbeddingRequest: Sendable {
    /// The most texts of one request.
    static let maximumTexts = 2048

    var model: String?
    var texts: [String]
    var asBase64 = false
    /// The requested length of the vectors.
    var dimensions: Int?

    static func decode(_ fields: Fields, needsModel: Bool = true) throws(APIFailure) -> EmbeddingRequest {
        let model = try fields.string("model")
        if needsModel, model == nil { throw .invalid("model", "the name of a model") }
        guard let texts = try fields.strings("input", atMost: maximumTexts), !texts.isEmpty else {
            throw .invalid("input", "a text or a list of 1 to \(maximumTexts) texts")
        }
        var request = EmbeddingRequest(model: model, texts: texts)
        switch try fields.string("encoding_format") {
        case nil, "float": break
        case "base64": request.asBase64 = true
        default: throw .invalid("encoding_format", "float or base64")
        }
        request.dimensions = try fields.integer("dimensions", in: 1...1_000_000)
        return request
    }
}

/// The vectors of a request's texts.
struct Embeddings: Sendable {
    let model: ServedModel
    let vectors: [[Float]]
    let tokens: Int

    /// The reply of `/v1/embeddings`.
    func openAI(asBase64: Bool) -> JSONValue {
        [
            "object": "list",
            "data": .array(
                vectors.enumerated().map { index, vector in
                    [
                        "object": "embedding", "index": .integer(index),
                        "embedding": asBase64
                            ? .base64(Self.bytes(vector), prefix: "") : .array(vector.map { .number($0) }),
                    ]
                }), "model": .string(model.name),
            "usage": ["prompt_tokens": .integer(tokens), "total_tokens": .integer(tokens)],
        ]
    }

    /// The numbers as little-endian IEEE 754.
    private static func bytes(_ vector: [Float]) -> [UInt8] {
        vector.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
    }
}

extension APIService {
    /// Makes the vectors of texts.
    func embeddings(_ request: EmbeddingRequest) async throws -> Embeddings {
        let ready = try await ready(request.model)
        guard ready.capabilities.contains(.embeddings) else {
            throw APIFailure.notServed("model", "makes no embeddings: \(ready.model.name)")
        }
        if let dimensions = request.dimensions, dimensions != ready.information.embeddingLength {
            throw APIFailure.notServed(
                "dimensions", "must be \(ready.information.embeddingLength), the length of this model's vectors")
        }
        return try await answers.activity.using(ready.model.name) {
            let vectors = try await ready.engine.reader.embed(request.texts)
            var tokens = 0
            for text in request.texts where ready.capabilities.contains(.tokenCounts) {
                tokens += try await ready.engine.reader.count(text)
            }
            await provider.used(ready.model, keepAlive: nil)
            return Embeddings(model: ready.model, vectors: vectors, tokens: tokens)
        }
    }
}
