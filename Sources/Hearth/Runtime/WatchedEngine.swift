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
package struct WatchedEngine: InferenceEngine, ForwardingTokenReader {
    /// The default limit of ``stop(within:)``.
    package static let stopLimit: Duration = .seconds(5)

    private let engine: any InferenceEngine
    private let manager: ModelManager
    private let release: ReleaseIdentity
    private let time: TimeSource
    private let answers: WorkUnderWay

    /// Watches `engine`, which was opened for `release`; `time` limits the wait of ``stop(within:)``.
    package init(
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

    package var modelInformation: ModelInformation { get async throws { try await engine.modelInformation } }

    package var capabilities: EngineCapabilities { get async throws { try await engine.capabilities } }

    package func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
        try await ask(engine.reader)
    }

    /// Guarded like an answer during probation, but not counted as one.
    package func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        try await answers.perform { [engine, manager, release] in
            try await manager.store.guarding(release, .generate) {
                try await engine.reader.prepare(messages, options: options)
            }
        }
    }

    /// Guarded like an answer during probation, but not counted as one.
    package func embed(_ texts: [String]) async throws -> [[Float]] {
        try await answers.perform { [engine, manager, release] in
            try await manager.store.guarding(release, .generate) { try await engine.reader.embed(texts) }
        }
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await answers.perform {
            let hasCalled = Locked(false)
            let summary = try await manager.store.guarding(release, .generate) {
                try await engine.generate(messages, options: options) { event in
                    if case .toolCall = event { hasCalled.withLock { $0 = true } }
                    onEvent(event)
                }
            }
            // A tool call precedes the answer.
            if !hasCalled.withLock({ $0 }), summary.isAnswer { await count() }
            return summary
        }
    }

    /// Stops answers, which end with `CancellationError`, and starts no other. Returns when their marks on the disk
    /// are removed, after `limit` at the latest, also in a cancelled task.
    ///
    /// Call it before the program ends: an end during an answer counts as a crash of the model.
    package func stop(within limit: Duration = stopLimit) async {
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

extension GenerationSummary {
    /// Whether the answer counts for its release's probation.
    fileprivate var isAnswer: Bool {
        ![.timedOut, .interrupted, .contentFilter].contains(reason) && usage.generatedTokens > 0
    }
}
