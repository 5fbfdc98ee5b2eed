#if Llama
import Dispatch
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Synchronization
import Testing

/// The shared engine of this target's tests, loaded once, on its own thread.
enum SharedEngine {
    private static let task = Task {
        try await LlamaActor.load(
            TestModel.path, configuration: LlamaConfiguration(contextLength: 2048, threadCount: 1))
    }

    static var engine: LlamaActor {
        get async throws { try await task.value }
    }
}

extension LlamaConfiguration {
    /// The configuration with a type of cache, and with or without flash attention.
    func with(_ cacheType: CacheType, _ flashAttention: FlashAttention = .automatic) -> LlamaConfiguration {
        var changed = self
        (changed.cacheType, changed.flashAttention) = (cacheType, flashAttention)
        return changed
    }
}

/// The events of a stream, combined.
struct Answer {
    var text = ""
    var thinking = ""
    var dropped = 0
    var picturesLeftOut = 0
    var phases: [GenerationPhase] = []
    var toolCalls: [ToolCall] = []
    var summary: GenerationSummary?

    init(_ stream: some AsyncSequence<GenerationEvent, any Error>) async throws {
        for try await event in stream {
            switch event {
            case .text(let piece): text += piece
            case .phase(let phase): phases.append(phase)
            case .finish(let facts): summary = facts
            case .thinking(let piece): thinking += piece
            case .toolCall(let call): toolCalls.append(call)
            case .truncated(let count): dropped = count
            case .picturesLeftOut(let count): picturesLeftOut = count
            case .token, .toolResult: break
            }
        }
    }
}

extension GenerationReply {
    /// A reply as a stream of events, with the summary as `.finish`.
    convenience init(_ continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation) {
        self.init { continuation.yield($0) }
        onEnd { end in
            switch end {
            case .success(let summary):
                continuation.yield(.finish(summary))
                continuation.finish()
            case .failure(let error): continuation.finish(throwing: error)
            }
        }
    }
}

extension LlamaActor {
    /// The events of a generation as a stream; its request is queued before this method returns.
    nonisolated func generate(
        _ messages: [ChatMessage], options: GenerationOptions, role: EngineRole = .text, isPreparation: Bool = false
    ) -> AsyncThrowingStream<GenerationEvent, any Error> {
        AsyncThrowingStream { continuation in
            let request = GenerationRequest(
                role: role, messages: messages, options: options, signal: StopSignal(),
                stopwatch: time.stopwatch(), reply: GenerationReply(continuation), isPreparation: isPreparation)
            continuation.endsWithItsReader { request.signal.cancel() }
            begin(request)
        }
    }

    /// Reads a value on the engine's thread, between two steps.
    func visited<Value: Sendable>(_ look: @Sendable (isolated LlamaActor) throws -> Value) rethrows -> Value {
        try look(self)
    }

    /// Whether a generation runs or waits.
    nonisolated var isAnswering: Bool { mailbox.withLock { !$0.generations.isEmpty } }
}

extension LoadedModel {
    /// The embedder for texts as long as its context allows.
    func wholeEmbedder() throws -> TextEmbedder {
        chooseThreads()
        if let embedder { return embedder }
        let method = try EmbeddingMethod(weights, answers: sequences.context.hasMemory)
        let made = try TextEmbedder(weights, method, method.window(information.contextLength), threads: threads)
        embedder = made
        return made
    }
}

extension TextEmbedder {
    /// The vector of a text; `pause` runs between two steps.
    func embed(_ text: String, _ index: Int, signal: StopSignal, _ pause: () -> Void) throws -> [Float] {
        var text = try begin(weights.tokensToEmbed(text), index)
        while true {
            if let vector = try step(&text, signal: signal) { return vector }
            pause()
            if signal.isSet { throw CancellationError() }
        }
    }
}

extension ConversationMemory {
    /// A memory with states in a folder.
    convenience init(
        _ model: LoadedModel, maker: String, canGoBack: Bool = true, folder: Path? = nil,
        savedBytes: UInt64, fileSystem: any FileSystem = LocalFileSystem()
    ) {
        self.init(
            model.sequences, maker: maker, canGoBack: canGoBack,
            states: StateCache(folder: folder, limit: savedBytes, fileSystem: fileSystem))
    }

    /// The place of a prompt; waits for a saved state that is being read from its file.
    func place(_ prompt: Prompt, need: Int, beside others: Int = 0) -> Place? {
        while true {
            let read = DispatchSemaphore(value: 0)
            switch begin(prompt, need: need, beside: others, onRead: { read.signal() }) {
            case .begun(let place): return place
            case .noSequence: return nil
            case .readsState: read.wait()
            }
        }
    }
}

let capitalOfFrance = [
    ChatMessage(.system, "You are a helpful assistant."),
    ChatMessage(.user, "Answer in one sentence: what is the capital of France?"),
]

extension GenerationOptions {
    static func seeded(_ seed: UInt32 = 1, maximumNewTokens: Int = 768) -> GenerationOptions {
        GenerationOptions(sampling: SamplingOptions(seed: seed), maximumNewTokens: maximumNewTokens)
    }

    static func greedy(maximumNewTokens: Int = 768) -> GenerationOptions {
        GenerationOptions(sampling: .greedy, maximumNewTokens: maximumNewTokens)
    }
}

/// Serialized, because the tests share an engine and the machine's cores.
@Suite(.serialized, .timeLimit(.minutes(SoakSize.isFull ? 28 : 10))) enum RealModel {}

/// The number of requests of the soak: `HEARTH_SOAK`; `make verify` runs it in full, in a separate process.
enum SoakSize {
    private static let asked = ProcessInfo.processInfo.environment["HEARTH_SOAK"].flatMap { Int($0) }
    static let isFull = asked != nil
    static let requests = asked ?? 24
}
#endif
