#if Llama
import CLlama
import CLlamaShim
import HearthBase
import HearthInference

/// Owns the tokenizer of a model. Any thread may use it. The model must outlive it.
///
/// Unchecked because it owns a C handle, which nothing changes.
package final class Tokenizer: @unchecked Sendable {
    private let raw: OpaquePointer
    private let changes: TextChanges

    /// - Throws: `cannot-load-model` for a model without a vocabulary.
    package init(model: OpaquePointer, of path: Path) throws {
        changes = try TextChanges(model: model, of: path)
        var reason: UnsafeMutablePointer<CChar>?
        var shimChanges = changes.forShim
        guard let raw = hearth_tokenizer_new(llama_model_get_vocab(model), &shimChanges, &reason) else {
            throw ModelFile.failure(path, LoadFailure.reason(reason, else: "it has no vocabulary"))
        }
        self.raw = raw
        Handles.take(.tokenizer)
    }

    deinit {
        hearth_tokenizer_free(raw)
        Handles.give(.tokenizer)
    }

    /// The tokens of a text (`llama_tokenize`). With more than `limit` of them, the list may end behind the limit.
    /// - Throws: `generation-failed`.
    package func tokens(
        of text: some StringProtocol, addSpecial: Bool, parseSpecial: Bool, limit: Int
    ) throws -> [TokenID] {
        var reason: UnsafeMutablePointer<CChar>?
        var count = 0
        let list = Self.withBytes(of: text) { bytes in
            CallWatch.shared.during(.tokenizer, bytes: bytes.count) {
                hearth_tokenize(
                    raw, bytes.baseAddress, bytes.count, addSpecial, parseSpecial, limit, &count, &reason)
            }
        }
        guard let list else {
            throw LLMError(
                .generateFailed,
                "the text cannot be cut into tokens\(String(taking: reason).map { ": \($0)" } ?? "")",
                disposition: .usage)
        }
        defer { hearth_tokens_free(list) }
        return Array(UnsafeBufferPointer(start: list, count: count))
    }

    /// The fewest tokens of a text, `limit + 1` for more than `limit`; 0 if a token can stand for any number of bytes.
    func fewestTokens(of text: some StringProtocol, limit: Int) -> Int {
        // Composed characters have fewer bytes.
        Self.withBytes(of: changes.composed(String(text))) {
            hearth_tokens_fewest(raw, $0.baseAddress, $0.count, max(0, limit))
        }
    }

    private static func withBytes<Result>(
        of text: some StringProtocol, _ body: (UnsafeBufferPointer<CChar>) -> Result
    ) -> Result {
        var text = String(text)
        return text.withUTF8 { bytes in bytes.withMemoryRebound(to: CChar.self, body) }
    }
}
#endif
