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
    private let answers = AnswersUnderWay()

    /// Watches over `engine`, which was opened for `release`; `time` bounds the wait of ``stop(within:)``.
    public init(
        _ engine: any InferenceEngine, of release: ReleaseIdentity, in manager: ModelManager,
        time: TimeSource = .system
    ) {
        self.engine = engine
        self.manager = manager
        self.release = release
        self.time = time
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
                        return judge.isAnswer
                    }
                    if isAnswer { await count() }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            guard let task else { return continuation.finish(throwing: CancellationError()) }
            continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
        }
    }

    /// Stops the answers under way and begins no other; returns when the disk does not say any more that somebody answers, at the
    /// latest after `limit`. Also in a task that was cancelled.
    ///
    /// To be called before a program ends: one that ends while an answer is only about to stop looks as if it had died of it.
    public func stop(within limit: Duration = patience) async {
        let left = answers.close()
        guard !left.isEmpty else { return }
        // A task of its own is not cancelled, and so can wait.
        await Task {
            let (ended, source) = AsyncStream<Never>.makeStream()
            Task {
                for task in left { await task.value }
                source.finish()
            }
            let bound = Task {
                do { try await time.sleep(for: limit) } catch { return }
                Log.write(.warning, "activation", "an answer of \(release) does not stop")
                source.finish()
            }
            for await _ in ended {}
            bound.cancel()
        }.value
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
        let result = Locked<Result<[[Float]], any Error>?>(nil)
        let task = answers.begin {
            do {
                try Task.checkCancellation()
                let vectors = try await manager.store.guarding(release, .generate) { try await embedder.embed(texts) }
                result.withLock { $0 = .success(vectors) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        guard let task else { throw CancellationError() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        guard let made = result.withLock({ $0 }) else { throw CancellationError() }
        return try made.get()
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

    /// A call of a tool is only half way to an answer. One written in text that a limit cut short is none: nothing follows it.
    var isAnswer: Bool {
        guard purpose == .answer, !hasCalled, let summary else { return false }
        if calls.matched != nil, [.stopString, .endOfGeneration].contains(summary.reason) { return false }
        return summary.reason != .timedOut && summary.usage.generatedTokens > 0
    }
}

/// The answers that are under way, until there may be none any more.
private final class AnswersUnderWay: Sendable {
    private struct State {
        var isClosed = false
        var begun = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Performs `body` as one of them; `nil` once they are closed.
    func begin(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            let number = state.begun
            state.begun += 1
            let task = Task {
                await body()
                self.end(number)
            }
            state.tasks[number] = task
            return task
        }
    }

    private func end(_ number: Int) { state.withLock { $0.tasks[number] = nil } }

    /// Cancels them all and lets no other begin.
    /// - Returns: those that have not ended yet.
    func close() -> [Task<Void, Never>] {
        let left = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in left { task.cancel() }
        return left
    }
}
