import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// A request of `/v1/embeddings` or Ollama's `/api/embed`.
struct EmbeddingRequest: Sendable {
    /// The most texts of one request.
    static let maximumTexts = 2048

    var model: String?
    /// The texts, or tokens of the model.
    var inputs: [APIRequest.PromptPart]
    var asBase64 = false
    /// Whether texts that are too long are cut.
    var truncates = false
    /// The requested length of the vectors.
    var dimensions: Int?

    static func decode(_ fields: Fields, needsModel: Bool = true) throws(APIFailure) -> EmbeddingRequest {
        let model = try fields.model(isRequired: needsModel)
        var request = EmbeddingRequest(model: model, inputs: try inputs(fields))
        let format = try fields.word("encoding_format", of: ["float", "base64"], "float or base64")
        request.asBase64 = format == "base64"
        request.dimensions = try fields.integer("dimensions", in: 1...1_000_000)
        return request
    }

    private static let form: JSONForm = {
        let tokens = JSONForm.list(.integer, atLeast: 1, atMost: PromptDecoding.maximumParts)
        return .either(.text, tokens, .list(.either(.text, tokens), atLeast: 1, atMost: maximumTexts))
    }()

    /// A text, a list of tokens, or a list of these.
    private static func inputs(_ fields: Fields) throws(APIFailure) -> [APIRequest.PromptPart] {
        let failure = APIFailure.invalid(
            "input", "a text, a list of tokens, or a list of 1 to \(maximumTexts) texts or lists of tokens")
        func tokens(_ items: [JSONValue]) throws(APIFailure) -> [TokenID] {
            let tokens = items.compactMap { Fields.integer($0).flatMap { TokenID(exactly: $0) } }
            guard tokens.count == items.count, (1...PromptDecoding.maximumParts).contains(items.count) else {
                throw failure
            }
            return tokens
        }
        fields.require("input")
        guard let value = fields.value("input", form) else { throw failure }
        if let text = value.string { return [.text(text)] }
        guard let items = value.items, let first = items.first else { throw failure }
        if Fields.integer(first) != nil { return [.tokens(try tokens(items))] }
        guard items.count <= maximumTexts else { throw failure }
        var inputs: [APIRequest.PromptPart] = []
        for item in items {
            if let text = item.string {
                inputs.append(.text(text))
            } else {
                inputs.append(.tokens(try tokens(item.items ?? [])))
            }
        }
        return inputs
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
