import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

/// An engine that is loaded on first use, and shared by all requests for its model.
///
/// A model of a family changes versions between two answers: before loading, it looks up the live release on the disk,
/// which another process may have changed. A model of one release or of a file stays the same.
public struct LiveModel: InferenceEngine {
    private enum Source: Sendable {
        case live(LiveFamily)
        case fixed(EngineSource)
    }

    /// Keeps receiving activations while the app holds the model.
    private let models: LiveModels
    private let source: Source

    init(models: LiveModels, line: LiveFamily) {
        self.models = models
        source = .live(line)
    }

    init(models: LiveModels, source: EngineSource) {
        self.models = models
        self.source = .fixed(source)
    }

    /// The family, `nil` for the model of a file.
    public var family: Family? {
        switch source {
        case .live(let line): line.family
        case .fixed(let source): source.release?.family
        }
    }

    /// The release that the next request gets if it can be loaded, `nil` for the model of a file.
    public var release: ReleaseIdentity? {
        get async {
            switch source {
            case .live(let line): await models.release(line)
            case .fixed(let source): source.release
            }
        }
    }

    /// Leases the engine for one request. End the lease soon: another model may need its memory.
    /// - Parameters:
    ///   - room: how a load finds its memory.
    ///   - progress: takes the progress of a load, 0...1.
    /// - Throws: errors of the load; `CancellationError`.
    package func lease(
        room: EnginePool.Room = .made, progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> EngineLease {
        switch source {
        case .live(let line): try await models.lease(line, room: room, progress: progress)
        case .fixed(let source): try await models.pool.lease(source, room: room, progress: progress)
        }
    }

    /// Loads the model if it is not in memory and fits beside the others.
    /// - Throws: errors of the load, `not-enough-memory` where another model would have to leave; `CancellationError`.
    package func loadBesideOthers() async throws { try await lease(room: .found).end() }

    /// Has the loaded model stay for a client's later requests, while its memory is not needed.
    package func keep() { models.pool.keep(serving) }

    /// Loads the model if it is not in memory, so that its first answer need not wait.
    /// - Parameter progress: takes the progress of the load, 0...1.
    /// - Throws: errors of the load; `CancellationError`, after which the load goes on.
    public func load(progress: @escaping @Sendable (Float) -> Void = { _ in }) async throws {
        try await lease(progress: progress).end()
    }

    private func leased<Value: Sendable>(_ body: (any InferenceEngine) async throws -> Value) async throws -> Value {
        let lease = try await lease()
        defer { lease.end() }
        return try await body(lease.engine)
    }

    /// The facts of the engine; loads it if needed.
    public var modelInformation: ModelInformation {
        get async throws {
            var information = try await leased { try await $0.modelInformation }
            information.description = serving.name
            return information
        }
    }

    /// The abilities of the engine; loads it if needed.
    public var capabilities: EngineCapabilities { get async throws { try await leased { try await $0.capabilities } } }

    /// The tokens of the engine; each call loads it if needed.
    public var tokens: (any TokenReader)? { LeasedTokens(model: self) }

    /// Answers with the release that is live at the start of the answer; reports `.loading` if it is not in memory.
    /// The load counts for the time-out.
    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let watch = models.time.stopwatch()
        var asked = options
        // A prompt that leaves less gets a larger window, if there is one.
        asked.leastAnswer = max(options.leastAnswer, min(options.maximumNewTokens, Self.usualAnswer))
        // A window that the request chose is filled before old messages leave it.
        if options.window != nil { asked.keepsAllMessages = true }
        for _ in 0..<Self.mostWindows {
            do {
                return try await generateOnce(messages, asked, watch, onEvent)
            } catch let error as Refusal {
                let need = WindowNeed(prompt: error.needed, answer: asked.leastAnswer, limit: options.window)
                guard try await models.pool.widen(error.source, from: error.window, for: need) else { break }
            }
        }
        do {
            return try await generateOnce(messages, options, watch, onEvent)
        } catch let error as Refusal {
            throw error.error
        }
    }

    /// The tokens of an answer for which a larger window is opened.
    private static let usualAnswer = 1024
    /// The most windows that one request opens: a text that was not cut into tokens tells only how many it has at least.
    private static let mostWindows = 4

    /// A prompt that is too long for the engine's window.
    private struct Refusal: Error {
        let error: LLMError
        let needed: Int
        let source: EngineSource
        /// The engine's window.
        let window: Int
    }

    private func generateOnce(
        _ messages: [ChatMessage], _ options: GenerationOptions, _ watch: Stopwatch,
        _ onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        if !isLoaded { onEvent(.phase(.loading(fraction: nil))) }
        let lease = try await lease()
        defer { lease.end() }
        let waited = watch.elapsed
        var options = options
        options.timeout = max(.zero, options.timeout - waited)
        do {
            var summary = try await lease.engine.generate(messages, options: options, onEvent: onEvent)
            summary.timings.firstTokenSeconds += waited.seconds
            return summary
        } catch let error as LLMError {
            guard let needed = error.neededTokens else { throw error }
            let window = try await lease.engine.modelInformation.contextLength
            throw Refusal(error: error, needed: needed, source: lease.source, window: window)
        }
    }

    /// Whether the next request finds the engine in memory.
    package var isLoaded: Bool { models.pool.loaded.contains(serving) }

    /// Whether a request uses the engine now.
    package var isInUse: Bool { models.pool.isLeased(serving) }

    /// What the next request uses.
    private var serving: EngineSource {
        switch source {
        case .live(let line): .release(line.serving)
        case .fixed(let source): source
        }
    }

    /// Unloads the engine as soon as no answer needs it. The next use loads it again.
    package func retire() {
        let wanted = serving
        models.pool.retire { $0 == wanted }
    }

    /// Embeds texts; loads the engine if needed. Releases have incompatible vectors: when ``release`` changes, compute
    /// stored vectors again.
    /// - Throws: errors of the load and the engine; `engine-missing` if the engine makes no vectors.
    public func embed(_ texts: [String]) async throws -> [[Float]] { try await reader.embed(texts) }

    /// The tokens of the release that is live at each call.
    private struct LeasedTokens: ForwardingTokenReader {
        let model: LiveModel

        func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
            try await model.leased { try await ask($0.reader) }
        }

        /// The pool unloads the engine.
        func unload() async {}
    }
}
