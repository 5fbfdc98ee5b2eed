import HearthBase
import HearthInference
import HearthLlama

/// The last turn of one conversation, of which all that went before is in memory.
struct Turns: Sendable {
    let model: Path
    let questions: [String]
    let tokens: Int
    let threads: Int

    struct Figures: Codable {
        /// From asking the last question to the first token of its answer.
        var firstTokenSeconds = 0.0
        /// From asking it to the last token.
        var seconds = 0.0
        /// The tokens of its prompt, and those of them that were computed before.
        var promptTokens = 0
        var cachedTokens = 0
        /// Of that turn's answer.
        var tokens = 0
    }

    func measure() async throws -> Figures {
        let engine = try await LlamaActor.load(
            model,
            configuration: LlamaConfiguration(
                contextLength: 4096, threadCount: threads))
        let options = GenerationOptions(sampling: .greedy, maximumNewTokens: tokens)
        var messages: [ChatMessage] = []
        var figures = Figures()
        for question in questions {
            messages.append(ChatMessage(.user, question))
            let watch = TimeSource.system.stopwatch()
            let said = Locked<(first: Double?, answer: String)>((nil, ""))
            let usage = try await engine.generate(messages, options: options) { event in
                guard case .text(let text) = event else { return }
                said.withLock { $0 = ($0.first ?? watch.elapsed.seconds, $0.answer + text) }
            }.usage
            figures.promptTokens = usage.promptTokens
            figures.cachedTokens = usage.cachedTokens
            figures.tokens = usage.generatedTokens
            figures.seconds = watch.elapsed.seconds
            let (first, answer) = said.withLock { $0 }
            figures.firstTokenSeconds = first ?? figures.seconds
            messages.append(ChatMessage(.assistant, answer))
        }
        await engine.unload()
        return figures
    }
}
