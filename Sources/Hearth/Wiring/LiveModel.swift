import HearthBase
import HearthDelivery
import HearthInference

/// One model of an app, whatever release of it is live: an engine like any other, that loads when it is first used and changes
/// versions between two answers.
///
/// Where nothing of it is in memory, the disk is asked what is live: also what another process made live, and what is left after
/// a removal.
public struct LiveModel: InferenceEngine {
    public let family: Family
    /// Held, so that what becomes live comes here for as long as anybody has the model.
    let models: LiveModels
    let active: ActiveModel<LiveModels.Engine>

    /// The engine of the live release for one request. Give it back soon: a new release may be waiting for its memory.
    /// - Throws: what loading throws; `CancellationError`.
    public func lease() async throws -> EngineLease<LiveModels.Engine> {
        try await models.lease(family, of: active)
    }

    /// The release that the next request gets, as far as can be told before it is loaded.
    public var release: ReleaseIdentity? { get async { await models.release(family, of: active) } }

    /// What is loaded, which is loaded for that if need be.
    public var modelInformation: ModelInformation {
        get async throws {
            let lease = try await lease()
            defer { lease.end() }
            return try await lease.engine.modelInformation
        }
    }

    /// Whether the release that is live now calls tools by itself; it is loaded for that if need be. Not where that fails: the
    /// answer will say why.
    public var callsTools: Bool {
        get async {
            guard let lease = try? await lease() else { return false }
            defer { lease.end() }
            return await lease.engine.callsTools
        }
    }

    /// Answers with the release that is live now; the answer ends on it, whatever becomes live meanwhile.
    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions
    ) -> AsyncThrowingStream<GenerationEvent, any Error> {
        // Not bounded by a policy that would lose text: the engine's own limits bound the number of events.
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
    /// Makes vectors with the release that is live now, which is loaded for that if need be. Those of another release lie elsewhere:
    /// ``release`` tells when those kept have to be made again.
    /// - Throws: what loading throws; what the engine throws; `engine-missing` for one that makes no vectors.
    public func embed(_ texts: [String]) async throws -> [[Float]] {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.embedding.embed(texts)
    }

    /// - Throws: what loading throws; what the engine throws; `engine-missing` for one that cuts no text.
    public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.counting.tokenize(text, controlTokens: controlTokens)
    }

    /// - Throws: what loading throws; what the engine throws; `engine-missing` for one that cuts no text.
    public func count(_ messages: [ChatMessage]) async throws -> Int {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.counting.count(messages)
    }
}
