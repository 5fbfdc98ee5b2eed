import Foundation
import HearthBase
import HearthInference
import HearthLlama

/// Several answers at once from one engine, timed as somebody who asks sees them.
struct Streams: Sendable {
    let model: Path
    let prompts: [String]
    let tokens: Int
    let threads: Int

    struct Figures: Codable {
        /// All answers' tokens by the time from the first request to the last token.
        let tokensPerSecond: Double
        /// The median time from a request to its first token, in seconds.
        let firstTokenSeconds: Double
        let tokens: Int
    }

    /// One round of all prompts, and none before it: every prompt is read anew.
    func measure() async throws -> Figures {
        let engine = try await LlamaActor.load(
            model,
            configuration: LlamaConfiguration(
                contextLength: 8192, threadCount: threads, stateBytes: 0, sequences: prompts.count))
        let options = GenerationOptions(sampling: .greedy, maximumNewTokens: tokens)
        let watch = TimeSource.system.stopwatch()
        let answers = try await withThrowingTaskGroup(of: (first: Double, tokens: Int).self) { group in
            for prompt in prompts {
                group.addTask {
                    let first = Locked<Double?>(nil)
                    let summary = try await engine.generate([ChatMessage(.user, prompt)], options: options) {
                        guard case .text = $0 else { return }
                        first.withLock { $0 = $0 ?? watch.elapsed.seconds }
                    }
                    return (first.withLock { $0 } ?? watch.elapsed.seconds, summary.usage.generatedTokens)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let seconds = watch.elapsed.seconds
        let count = answers.reduce(0) { $0 + $1.tokens }
        let firsts = answers.map(\.first).sorted()
        let middle = (firsts[(firsts.count - 1) / 2] + firsts[firsts.count / 2]) / 2
        await engine.unload()
        return Figures(tokensPerSecond: Double(count) / seconds, firstTokenSeconds: middle, tokens: count)
    }
}
