import Foundation
import HearthBase
import HearthInference

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
            let texts = try await texts(of: request.inputs, ready)
            let made = try await vectors(of: texts, ready, truncates: request.truncates)
            var tokens = 0
            for text in made.texts where ready.capabilities.contains(.tokenCounts) {
                tokens += try await ready.engine.reader.count(text)
            }
            await provider.used(ready.model, keepAlive: nil)
            return Embeddings(model: ready.model, vectors: made.vectors, tokens: tokens)
        }
    }

    /// The texts of inputs: tokens are those of the model.
    private func texts(of inputs: [APIRequest.PromptPart], _ ready: Ready) async throws -> [String] {
        var texts: [String] = []
        for input in inputs {
            switch input {
            case .text(let text), .letters(let text): texts.append(text)
            case .tokens(let tokens):
                do {
                    let pieces = try await ready.engine.reader.pieces(of: tokens)
                    texts.append(String(decoding: pieces.joined(), as: UTF8.self))
                } catch let error as LLMError where error.code == .generateFailed {
                    throw APIFailure.invalid("input", "tokens of the model \(ready.model.name), or texts")
                }
            }
        }
        return texts
    }

    /// The vectors of texts with the texts that were read.
    /// - Parameter truncates: whether texts that are too long are cut at their end.
    func vectors(
        of texts: [String], _ ready: Ready, truncates: Bool
    ) async throws -> (vectors: [[Float]], texts: [String]) {
        guard truncates else { return (try await ready.engine.reader.embed(texts), texts) }
        return try await cutting(texts, ready) { try await ready.engine.reader.embed($0) }
    }

    /// What work makes of texts, which are cut if they are too long for it.
    func cutting<Result>(
        _ texts: [String], _ ready: Ready, _ work: ([String]) async throws -> Result
    ) async throws -> (vectors: Result, texts: [String]) {
        do {
            return (try await work(texts), texts)
        } catch let error as LLMError where error.code == .exceededContextWindowSize {
            // The engine's window for vectors may be shorter than that of answers, where memory is short.
            var limit = min(ready.information.contextLength, EmbeddingWindow.longest)
            while true {
                var cut: [String] = []
                for text in texts { cut.append(try await prefix(of: text, tokens: limit - 8, ready.engine.reader)) }
                do {
                    return (try await work(cut), cut)
                } catch let error as LLMError where error.code == .exceededContextWindowSize && limit > 32 {
                    limit = limit * 3 / 4
                }
            }
        }
    }

    /// The beginning of a text with a number of tokens.
    private func prefix(of text: String, tokens limit: Int, _ reader: any TokenReader) async throws -> String {
        // No text of more bytes is cut into tokens at once.
        let short = String(decoding: text.utf8.prefix(TextLimit(window: 0).bytes), as: UTF8.self)
        let tokens = try await reader.tokenize(short)
        guard tokens.count > limit || short.utf8.count < text.utf8.count else { return text }
        let pieces = try await reader.pieces(of: Array(tokens.prefix(max(1, limit))))
        var bytes = Array(pieces.joined())
        // A cut character is left out.
        while !bytes.isEmpty, String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
