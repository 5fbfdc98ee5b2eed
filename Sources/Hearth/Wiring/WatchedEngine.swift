import Foundation
import HearthBase
import HearthDelivery
import HearthInference

/// An engine of an installed release, whose answers are guarded and counted while the release is on probation.
///
/// Costs the reading of a small file for an answer; nothing else of a release that has proven itself.
public struct WatchedEngine: InferenceEngine {
    private let engine: any InferenceEngine
    private let manager: ModelManager
    private let release: ReleaseIdentity
    private let time: TimeSource

    /// Watches over `engine`, which was opened for `release`.
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
            let task = Task {
                do {
                    let isWhole = try await manager.store.guarding(release, .generate) {
                        var isWhole = false
                        for try await event in engine.generate(messages, options: options) {
                            if case .finish = event { isWhole = true }
                            continuation.yield(event)
                        }
                        return isWhole
                    }
                    if isWhole { await count() }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
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
