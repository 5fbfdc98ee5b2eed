import Foundation
import HearthBase
import HearthDelivery
import HearthInference

/// An engine of an installed release, whose answers are guarded and counted while the release is on probation.
///
/// An answer counts that somebody asked for and that ended by itself: not one that the time-out cut short, that was stopped, or that
/// said nothing. Costs the reading of a small file for an answer; nothing else of a release that has proven itself.
public struct WatchedEngine: InferenceEngine {
    /// How long ``stop(within:)`` waits unless told otherwise.
    public static let patience: Duration = .seconds(5)

    private let engine: any InferenceEngine
    private let manager: ModelManager
    private let release: ReleaseIdentity
    private let time: TimeSource
    private let answers: WorkUnderWay

    /// Watches over `engine`, which was opened for `release`; `time` bounds the wait of ``stop(within:)``.
    public init(
        _ engine: any InferenceEngine, of release: ReleaseIdentity, in manager: ModelManager,
        time: TimeSource = .system
    ) {
        self.init(engine, of: release, in: manager, time: time, answers: WorkUnderWay())
    }

    /// The same; its answers are stopped with `answers`.
    init(
        _ engine: any InferenceEngine, of release: ReleaseIdentity, in manager: ModelManager,
        time: TimeSource = .system, answers: WorkUnderWay
    ) {
        self.engine = engine
        self.manager = manager
        self.release = release
        self.time = time
        self.answers = answers
    }

    public var modelInformation: ModelInformation { get async throws { try await engine.modelInformation } }

    public var callsTools: Bool { get async { await engine.callsTools } }

    public func unload() async { await engine.unload() }

    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions
    ) -> AsyncThrowingStream<GenerationEvent, any Error> {
        // As with the engine's own stream, the number of events is bounded by its limits.
        AsyncThrowingStream { continuation in
            let task = answers.begin {
                do {
                    try Task.checkCancellation()
                    let isAnswer = try await manager.store.guarding(release, .generate) {
                        var judge = AnswerJudge(options)
                        for try await event in engine.generate(messages, options: options) {
                            judge.note(event)
                            continuation.yield(event)
                        }
                        // What was stopped ends without a word; whoever listens was not cancelled, and is told.
                        if !judge.isEnded { try Task.checkCancellation() }
                        return judge.isAnswer
                    }
                    if isAnswer { await count() }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            guard let task else { return continuation.finish(throwing: CancellationError()) }
            continuation.endsWithItsReader { task.cancel() }
        }
    }

    /// Stops the answers under way, which end with `CancellationError`, and begins no other; returns when the disk does not say any
    /// more that somebody answers, at the latest after `limit`. Also in a task that was cancelled.
    ///
    /// To be called before a program ends: one that ends while an answer is only about to stop looks as if it had died of it.
    public func stop(within limit: Duration = patience) async {
        await answers.stop(within: limit, time, "an answer of \(release)")
    }

    private func count() async {
        do {
            try await manager.recordAnswer(release)
        } catch {
            Log.write(.warning, "activation", "an answer of \(release) is not counted: \(error)")
        }
    }
}

extension WatchedEngine: TextEmbedding, TokenCounting {
    /// Guarded like an answer while the release is on probation, and not counted as one.
    /// - Throws: what the engine throws; `engine-missing` for one that makes no vectors; `CancellationError` after ``stop(within:)``.
    public func embed(_ texts: [String]) async throws -> [[Float]] {
        let embedder = try engine.embedding
        return try await answers.perform { [manager, release] in
            try await manager.store.guarding(release, .generate) { try await embedder.embed(texts) }
        }
    }

    /// - Throws: what the engine throws; `engine-missing` for one that cuts no text.
    public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
        try await engine.counting.tokenize(text, controlTokens: controlTokens)
    }

    /// - Throws: what the engine throws; `engine-missing` for one that cuts no text.
    public func count(_ messages: [ChatMessage]) async throws -> Int { try await engine.counting.count(messages) }
}

extension InferenceEngine {
    /// The engine as one that makes vectors of texts.
    /// - Throws: `engine-missing`.
    var embedding: any TextEmbedding {
        get throws {
            guard let embedding = self as? any TextEmbedding else { throw Self.missing("makes no vectors of texts") }
            return embedding
        }
    }

    /// The engine as one that cuts texts into tokens.
    /// - Throws: `engine-missing`.
    var counting: any TokenCounting {
        get throws {
            guard let counting = self as? any TokenCounting else { throw Self.missing("tells no tokens") }
            return counting
        }
    }

    private static func missing(_ what: String) -> LLMError {
        LLMError(.engineMissing, "the engine of this model \(what)", disposition: .usage)
    }
}

/// Tells an answer that proves its release from what does not.
private struct AnswerJudge {
    private let purpose: GenerationPurpose
    private var calls: StopStringMatcher
    private var hasCalled = false
    private var summary: GenerationSummary?

    init(_ options: GenerationOptions) {
        purpose = options.purpose
        calls = StopStringMatcher(options.callMark.map { [$0] } ?? [])
    }

    mutating func note(_ event: GenerationEvent) {
        switch event {
        case .toolCall: hasCalled = true
        case .text(let piece): _ = calls.append(piece)
        case .finish(let facts): summary = facts
        default: break
        }
    }

    /// Whether it came to an end of its own.
    var isEnded: Bool { summary != nil }

    /// A call of a tool is only half way to an answer. One written in text that a limit cut short is none: nothing follows it.
    var isAnswer: Bool {
        guard purpose == .answer, !hasCalled, let summary else { return false }
        if calls.matched != nil, [.stopString, .endOfGeneration].contains(summary.reason) { return false }
        return summary.reason != .timedOut && summary.usage.generatedTokens > 0
    }
}
