import HearthBase
import HearthInference
import HearthLlama

/// A greedy answer, timed as those who ask for it see it.
struct TimedAnswer: Sendable {
    private static let prompt = [
        ChatMessage(.user, "Write a long story about a lighthouse keeper, a storm and a ship. Tell every detail.")
    ]
    let model: Path
    let tokens: Int
    /// `nil` for as many as the engine likes.
    let threads: Int?

    struct Figures: Codable {
        /// Tokens a second after the first.
        let tokensPerSecond: Double
        let tokens: Int
    }

    /// Answers while something else is done in this process.
    func measure(beside work: some OwnWork) async throws -> Figures {
        let engine = try await LlamaActor.load(
            model, configuration: LlamaConfiguration(contextLength: 2048, threadCount: threads))
        return try await withThrowingTaskGroup(of: Figures?.self) { group in
            let (began, source) = AsyncStream<Void>.makeStream()
            group.addTask {
                defer { source.finish() }
                try await work.run { source.finish() }
                return nil
            }
            group.addTask {
                for await _ in began {}
                return try await answer(engine)
            }
            defer { group.cancelAll() }
            // Work that ends by itself is no work beside the rest of the answer.
            guard let figures = try await group.next() ?? nil else { throw CancellationError() }
            return figures
        }
    }

    private func answer(_ engine: LlamaActor) async throws -> Figures {
        let options = GenerationOptions(sampling: .greedy, maximumNewTokens: tokens)
        let summary = try await engine.generate(Self.prompt, options: options) { _ in }
        return Figures(
            tokensPerSecond: summary.timings.decodeTokensPerSecond, tokens: summary.usage.generatedTokens)
    }
}
