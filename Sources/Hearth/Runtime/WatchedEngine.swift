import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore

/// An engine of an installed release; its answers are guarded and counted while the release is on probation.
///
/// An answer counts if the app requested it and it completed: not if it timed out, was stopped or is empty. For a
/// proven release, an answer costs only the reading of a small file.
public struct WatchedEngine: InferenceEngine {
    /// The default limit of ``stop(within:)``.
    public static let stopLimit: Duration = .seconds(5)

    private let engine: any InferenceEngine
    private let manager: ModelManager
    private let release: ReleaseIdentity
    private let time: TimeSource
    private let answers: WorkUnderWay

    /// Watches `engine`, which was opened for `release`; `time` limits the wait of ``stop(within:)``.
    public init(
        _ engine: any InferenceEngine, of release: ReleaseIdentity, in manager: ModelManager,
        time: TimeSource = .system
    ) {
        self.init(engine, of: release, in: manager, time: time, answers: WorkUnderWay())
    }

    /// Watches an engine and stops its answers together with `answers`.
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
                        // A stopped engine ends its stream without an error; report the stop to the reader.
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

    /// Stops answers, which end with `CancellationError`, and starts no other. Returns when their marks on the disk
    /// are removed, after `limit` at the latest, also in a cancelled task.
    ///
    /// Call it before the program ends: an end during an answer counts as a crash of the model.
    public func stop(within limit: Duration = stopLimit) async {
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
    /// Guarded like an answer during probation, but not counted as one.
    /// - Throws: errors of the engine; `engine-missing` if it makes no vectors; `CancellationError` after
    ///   ``stop(within:)``.
    public func embed(_ texts: [String]) async throws -> [[Float]] {
        let embedder = try engine.embedding
        return try await answers.perform { [manager, release] in
            try await manager.store.guarding(release, .generate) { try await embedder.embed(texts) }
        }
    }

    /// - Throws: errors of the engine; `engine-missing` if it tokenizes no text.
    public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
        try await engine.counting.tokenize(text, controlTokens: controlTokens)
    }

    /// - Throws: errors of the engine; `engine-missing` if it tokenizes no text.
    public func count(_ messages: [ChatMessage]) async throws -> Int { try await engine.counting.count(messages) }
}

extension InferenceEngine {
    /// The engine as one that embeds texts.
    /// - Throws: `engine-missing`.
    var embedding: any TextEmbedding {
        get throws {
            guard let embedding = self as? any TextEmbedding else { throw Self.missing("makes no vectors of texts") }
            return embedding
        }
    }

    /// The engine as one that tokenizes texts.
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

/// Decides whether an answer counts for its release's probation.
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

    /// Whether the answer completed.
    var isEnded: Bool { summary != nil }

    /// A tool call precedes the answer. A call cut off by a limit does not count as one: nothing follows it.
    var isAnswer: Bool {
        guard purpose == .answer, !hasCalled, let summary else { return false }
        if calls.matched != nil, [.stopString, .endOfGeneration].contains(summary.reason) { return false }
        return summary.reason != .timedOut && summary.usage.generatedTokens > 0
    }
}
