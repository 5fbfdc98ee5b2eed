import Foundation
import HearthBase
import HearthInference
import HearthLlama

/// How long it takes from asking for an end until it is there, in prompts and answers, at random moments.
struct Cancels: Sendable {
    let model: Path
    let rounds: Int
    let threads: Int

    /// Milliseconds, the 99th of a hundred.
    struct Figures: Codable {
        /// Until the stream of one alone has ended.
        let seen: Double
        /// Until the engine computes nothing more for it, and would begin with something else.
        let free: Double
        /// Until the stream of one beside three that answer has ended.
        let seenBesideOthers: Double
        /// Until its place is free.
        let freeBesideOthers: Double
    }

    func measure() async throws -> Figures {
        let engine = try await LlamaActor.load(
            model,
            configuration: LlamaConfiguration(contextLength: 8192, threadCount: threads, stateBytes: 0))
        let alone = try await latencies(engine)
        let others = (0..<3).map { index in
            Task {
                // Answers end; somebody always answers.
                while !Task.isCancelled {
                    let question = [ChatMessage(.user, "Write a long story about \(index + 2) foxes.")]
                    do {
                        _ = try await engine.generate(question, options: Self.options) { _ in }
                    } catch is CancellationError {}
                }
            }
        }
        let beside = try await latencies(engine)
        for other in others { other.cancel() }
        for other in others { try await other.value }
        await engine.unload()
        return Figures(
            seen: Self.high(alone.map(\.seen)), free: Self.high(alone.map(\.free)),
            seenBesideOthers: Self.high(beside.map(\.seen)), freeBesideOthers: Self.high(beside.map(\.free)))
    }

    private static let options = GenerationOptions(sampling: .greedy)

    /// Every second request has a prompt of some 900 tokens, of which nothing is in memory.
    private func latencies(_ engine: LlamaActor) async throws -> [(seen: Double, free: Double)] {
        var latencies: [(seen: Double, free: Double)] = []
        for round in 0..<rounds {
            let words = round % 2 == 0 ? String(repeating: "Red green blue white black gold. ", count: 120) : ""
            let question = [ChatMessage(.user, "\(UInt32.random(in: 0 ... .max)) \(words) Write a story.")]
            let task = Task { try await engine.generate(question, options: Self.options) { _ in } }
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...300)))
            let watch = TimeSource.system.stopwatch()
            task.cancel()
            do { _ = try await task.value } catch is CancellationError {}
            let seen = watch.elapsed.seconds * 1000
            // Nothing is loaded for vision: this waits for the engine's thread and does nothing there.
            await engine.unload(.vision)
            latencies.append((seen, watch.elapsed.seconds * 1000))
        }
        return latencies
    }

    private static func high(_ values: [Double]) -> Double {
        values.sorted()[min(values.count - 1, values.count * 99 / 100)]
    }
}
