import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

/// An engine of a model's live release: it loads on first use and changes versions between two answers.
///
/// Before loading, it looks up the live release on the disk, which another process may have changed.
public struct LiveModel: InferenceEngine {
    public let family: Family
    /// Keeps receiving activations while the app holds the model.
    let models: LiveModels
    let active: ActiveModel<LiveModels.Engine>

    /// Leases the engine of the live release for one request. End the lease soon: a new release may need its memory.
    /// - Throws: errors of the load; `CancellationError`.
    public func lease() async throws -> EngineLease<LiveModels.Engine> {
        try await models.lease(family, of: active)
    }

    /// The release that the next request gets if it can be loaded.
    public var release: ReleaseIdentity? { get async { await models.release(family, of: active) } }

    /// The facts of the live release's engine; loads it if needed.
    public var modelInformation: ModelInformation {
        get async throws {
            let lease = try await lease()
            defer { lease.end() }
            return try await lease.engine.modelInformation
        }
    }

    /// Whether the live release supports tool calls; loads it if needed. `false` if it cannot be loaded.
    public var callsTools: Bool {
        get async {
            guard let lease = try? await lease() else { return false }
            defer { lease.end() }
            return await lease.engine.callsTools
        }
    }

    /// Answers with the release that is live at the start of the answer.
    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions
    ) -> AsyncThrowingStream<GenerationEvent, any Error> {
        // A bounded buffer would lose text; the engine's limits bound the number of events.
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let lease = try await lease()
                    defer { lease.end() }
                    for try await event in lease.engine.generate(messages, options: options) {
                        continuation.yield(event)
                    }
                    try Task.checkCancellation()
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.endsWithItsReader { task.cancel() }
        }
    }
}

extension LiveModel: TextEmbedding, TokenCounting {
    /// Embeds texts with the live release; loads it if needed. Releases have incompatible vectors: when ``release``
    /// changes, compute stored vectors again.
    /// - Throws: errors of the load and the engine; `engine-missing` if the engine makes no vectors.
    public func embed(_ texts: [String]) async throws -> [[Float]] {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.embedding.embed(texts)
    }

    /// - Throws: errors of the load and the engine; `engine-missing` if the engine tokenizes no text.
    public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.counting.tokenize(text, controlTokens: controlTokens)
    }

    /// - Throws: errors of the load and the engine; `engine-missing` if the engine tokenizes no text.
    public func count(_ messages: [ChatMessage]) async throws -> Int {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.counting.count(messages)
    }
}
