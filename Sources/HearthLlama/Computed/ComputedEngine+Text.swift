#if Llama
import HearthBase
import HearthInference

extension ComputedEngine {
    package nonisolated func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
    ) async throws -> [TokenID] {
        try await counting(bytes: text.utf8.count) {
            try $0.weights.vocabulary.tokens(
                of: text, addSpecial: wholePrompt, parseSpecial: controlTokens, limit: limit)
        }
    }

    package nonisolated func count(_ messages: [ChatMessage]) async throws -> Int {
        try await counting(bytes: messages.textBytes) { try $0.weights.count(messages, projector: nil) }
    }

    package nonisolated func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        try await counting(bytes: 0) { try $0.weights.vocabulary.pieces(of: tokens) }
    }

    package nonisolated func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) {
        try await counting(bytes: messages.textBytes + options.tools.textBytes) {
            try $0.weights.rendered(messages, options, projector: nil)
        }
    }

    /// Reads the model's texts outside the engine's thread. A count does not wait for an answer, and a cancelled caller
    /// does not wait for the count.
    private nonisolated func counting<Result: Sendable>(
        bytes: Int, _ body: @escaping @Sendable (Text) throws -> Result
    ) async throws -> Result {
        try TextLimit(window: text().information.contextLength).check(bytes: bytes)
        return try await abandonable {
            try await self.lanes.turnUnlessCancelled(bytes: bytes) {
                // Read after the wait, because a waiting caller must not keep a model in memory.
                try body(self.text())
            }
        }
    }
}
#endif
