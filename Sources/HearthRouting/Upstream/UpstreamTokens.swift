import Foundation
import HearthBase
import HearthInference

/// Counts tokens and makes vectors with a model of an upstream.
///
/// Servers count in several ways. One that counts in none of them gets an estimate: a token for four bytes of the request,
/// without its pictures.
struct UpstreamTokens: TokenReader {
    let server: UpstreamServer
    let model: String
    let shares: CloudShares

    private static let limit = Duration.seconds(30)
    /// The bytes of a token, and the tokens of a picture, of an estimate.
    private static let tokenBytes = 4
    private static let pictureTokens = 1024

    func count(_ messages: [ChatMessage]) async throws -> Int {
        try await rendered(messages, options: GenerationOptions()).tokenCount
    }

    /// The tokens of a prompt; its text stays with the server.
    func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) {
        let engine = try await server.cloud(model, contextLength: nil, shares: shares)
        let request = CloudRequest(shares.shared(messages).messages, options: options)
        let body = try engine.settings.dialect.body(request)
        for (path, field, document) in questions(body, engine.settings) {
            do {
                let answer = try await engine.document(path, body: document, limit: Self.limit)
                if let count = answer[field]?.count { return ("", count) }
            } catch let error as LLMError where error.code == .remoteModelMissing || error.code == .generateFailed {
                // The server does not count in this way.
            }
        }
        var text = request
        for index in text.messages.indices { text.messages[index].images = [] }
        let pictures = request.messages.reduce(0) { $0 + $1.images.count }
        let bytes = try engine.settings.dialect.body(text).bytes.count
        return ("", bytes / Self.tokenBytes + pictures * Self.pictureTokens)
    }

    /// The questions that a server of the kind may answer: a path, the field of the count, and the document.
    private func questions(
        _ body: JSONValue, _ settings: CloudSettings
    ) -> [(path: String, field: String, document: JSONValue)] {
        var document = body
        for field in ["stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_k"] {
            document[field] = nil
        }
        switch server.settings.kind {
        case .anthropic: return [("/v1/messages/count_tokens", "input_tokens", document)]
        case .gemini:
            var contents: JSONValue = [:]
            contents["contents"] = body["contents"]
            return [
                (
                    settings.dialect.path.replacing("streamGenerateContent?alt=sse", with: "countTokens"),
                    "totalTokens", contents
                )
            ]
        case .openai:
            // Hearth and llama.cpp's server, then vLLM, whose path has no version.
            let path = settings.dialect.path
            guard body["messages"] != nil else { return [] }
            return [(path + "/input_tokens", "input_tokens", document), ("/tokenize", "count", document)]
        }
    }

    func embed(_ texts: [String]) async throws -> [[Float]] {
        let engine = try await server.cloud(model, contextLength: nil)
        let failure = CloudFailure(settings: engine.settings)
        guard server.settings.kind == .openai else {
            throw LLMError(.engineMissing, "\(server.name) makes no vectors here", disposition: .usage)
        }
        let path = engine.settings.dialect.healthPath.replacing("/models", with: "/embeddings")
        let answer = try await engine.document(
            path, body: ["model": .string(model), "input": .array(texts.map { .string($0) })],
            limit: server.settings.timeout)
        let vectors = (answer["data"]?.items ?? []).map { item in
            (item["embedding"]?.items ?? []).map { $0.number.map { Float(truncating: $0 as NSDecimalNumber) } ?? .nan }
        }
        var pooled: [[Float]] = []
        for vector in vectors {
            var pool = EmbeddingPool(.last, length: vector.count)
            pool.append(vector)
            guard !vector.isEmpty, let unit = pool.normalised else {
                throw failure.unusable("vectors that are not usable")
            }
            pooled.append(unit)
        }
        guard pooled.count == texts.count else { throw failure.unusable("another number of vectors") }
        return pooled
    }
}
