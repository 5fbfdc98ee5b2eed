import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthWorkers

/// An engine of an installed release; its answers are guarded and counted while the release is on probation.
///
/// An answer counts if the app requested it and it completed: not if it timed out, was stopped or is empty. For a
/// proven release, an answer costs only the reading of a small file.
package struct WatchedEngine: InferenceEngine, ForwardingTokenReader {
    let engine: any InferenceEngine
    let manager: ModelManager
    let release: ReleaseIdentity
    /// Stops the answers under way at the end of the program.
    let answers: WorkUnderWay
    /// The deaths of the release's workers; `nil` for an engine in this process.
    let deaths: ReleaseDeaths?

    package var modelInformation: ModelInformation { get async throws { try await engine.modelInformation } }

    package var capabilities: EngineCapabilities { get async throws { try await engine.capabilities } }

    package func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
        try await ask(engine.reader)
    }

    /// Guarded like an answer during probation, but not counted as one.
    package func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        try await answers.perform { [engine] in
            try await guarding(.prompt(messages)) { try await engine.reader.prepare(messages, options: options) }
        }
    }

    /// Guarded like an answer during probation, but not counted as one.
    package func embed(_ texts: [String]) async throws -> [[Float]] {
        try await answers.perform { [engine] in
            try await guarding(.texts(texts)) { try await engine.reader.embed(texts) }
        }
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await answers.perform {
            let hasCalled = Locked(false)
            let summary = try await guarding(.prompt(messages)) {
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

    /// Works with the release so that its end during probation counts.
    private func guarding<Value: Sendable>(
        _ request: ReleaseDeaths.Request, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await manager.store.guarding(release, .generate, marks: deaths == nil, body)
        } catch let error as LLMError where error.isOwnDeath && !error.isSlowText {
            await deaths?.died(release, request, manager)
            throw error
        }
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
