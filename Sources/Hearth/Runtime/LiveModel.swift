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

    /// The abilities of the live release's engine; loads it if needed.
    public var capabilities: EngineCapabilities {
        get async throws {
            let lease = try await lease()
            defer { lease.end() }
            return try await lease.engine.capabilities
        }
    }

    /// Loads the live release if needed, and computes what is known of the next prompt.
    public func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        let lease = try await lease()
        defer { lease.end() }
        try await lease.engine.prepare(messages, options: options)
    }

    /// Answers with the release that is live at the start of the answer; reports `.loading` if it is not in memory.
    /// The load counts for the time-out.
    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        if await !models.isLoaded(active) { onEvent(.phase(.loading(fraction: nil))) }
        let watch = models.time.stopwatch()
        let lease = try await lease()
        defer { lease.end() }
        let waited = watch.elapsed
        var options = options
        options.timeout = max(.zero, options.timeout - waited)
        var summary = try await lease.engine.generate(messages, options: options, onEvent: onEvent)
        summary.timings.firstTokenSeconds += waited.seconds
        return summary
    }
}

extension LiveModel {
    /// Embeds texts with the live release; loads it if needed. Releases have incompatible vectors: when ``release``
    /// changes, compute stored vectors again.
    /// - Throws: errors of the load and the engine; `engine-missing` if the engine makes no vectors.
    public func embed(_ texts: [String]) async throws -> [[Float]] {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.embed(texts)
    }

    /// - Throws: errors of the load and the engine; `engine-missing` if the engine tokenizes no text.
    public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.tokenize(text, controlTokens: controlTokens)
    }

    /// - Throws: errors of the load and the engine; `engine-missing` if the engine tokenizes no text.
    public func count(_ messages: [ChatMessage]) async throws -> Int {
        let lease = try await lease()
        defer { lease.end() }
        return try await lease.engine.count(messages)
    }
}
