import CLlama
import CLlamaShim
import HearthBase
import HearthInference
import HearthLlama

/// Greedy answers of the engine and, in turns with them in the same process, the shortest loop there is over llama.cpp: what
/// the engine itself costs, whoever else is on the machine.
struct Bare: Sendable {
    let model: Path
    let tokens: Int
    let threads: Int

    /// Tokens a second after the first.
    struct Pair: Codable {
        let ours: Double
        let bare: Double
    }

    static let rounds = 10
    /// Of both sides: without flash attention a token costs more in a longer context.
    static let contextLength = 8192

    func measure() async throws -> [Pair] {
        let engine = try await LlamaActor.load(
            model,
            configuration: LlamaConfiguration(
                contextLength: Self.contextLength, threadCount: threads, stateBytes: 0))
        // The prompt is in memory from now on.
        let depth = try await answer(engine).usage.promptTokens
        let (path, threads, tokens) = (model.string, Int32(threads), tokens)
        let loop = try await blocking { try BareLoop(path, threads: threads, depth: depth, tokens: tokens) }
        _ = try await blocking { try loop.tokensPerSecond() }
        var pairs: [Pair] = []
        for round in 0..<Self.rounds {
            let first = round % 2 == 0 ? try await answer(engine) : nil
            let bare = try await blocking { try loop.tokensPerSecond() }
            let ours = if let first { first } else { try await answer(engine) }
            pairs.append(Pair(ours: ours.timings.decodeTokensPerSecond, bare: bare))
        }
        await engine.unload()
        return pairs
    }

    private func answer(_ engine: LlamaActor) async throws -> GenerationSummary {
        let question = [ChatMessage(.user, "Write a long story about a lighthouse keeper and a storm.")]
        let options = GenerationOptions(sampling: .greedy, maximumNewTokens: tokens)
        let summary = try await engine.generate(question, options: options) { _ in }
        guard summary.usage.generatedTokens == tokens else {
            throw LLMError(.generateFailed, "the answer has not \(tokens) tokens")
        }
        return summary
    }
}

/// Computes token after token at a given depth and looks at nothing. Unchecked, since one call ends before the next.
private final class BareLoop: @unchecked Sendable {
    private let model: OpaquePointer
    private let context: OpaquePointer
    /// `nil` for one: the calling thread computes alone.
    private let pool: OpaquePointer?
    private let depth: Int32
    private let tokens: Int

    init(_ path: String, threads: Int32, depth: Int, tokens: Int) throws {
        var parameters = llama_context_default_params()
        parameters.n_ctx = UInt32(Bare.contextLength)
        parameters.n_threads = threads
        parameters.n_threads_batch = threads
        // As the memory plan has it for one conversation.
        parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED
        guard let model = llama_model_load_from_file(path, llama_model_default_params()) else {
            throw LLMError(.cannotLoad, "llama.cpp cannot load \(path)")
        }
        guard let context = llama_init_from_model(model, parameters) else {
            llama_model_free(model)
            throw LLMError(.cannotLoad, "llama.cpp cannot make a context for \(path)")
        }
        (self.model, self.context, self.depth, self.tokens) = (model, context, Int32(depth), tokens)
        pool = hearth_threads_new(threads)
        hearth_threads_use(context, pool)
        try decode((0..<self.depth).map { $0 + 100 })
    }

    deinit {
        llama_free(context)
        hearth_threads_free(pool)
        llama_model_free(model)
    }

    func tokensPerSecond() throws -> Double {
        // As the engine's: the other side computes next.
        defer { hearth_threads_rest(pool) }
        llama_memory_seq_rm(llama_get_memory(context), 0, depth, -1)
        var watch = TimeSource.system.stopwatch()
        for index in 0..<tokens {
            try decode([llama_token(index + 1000)])
            // Like the engine's: the tokens after the first.
            if index == 0 { watch = TimeSource.system.stopwatch() }
        }
        return Double(tokens - 1) / watch.elapsed.seconds
    }

    private func decode(_ tokens: [llama_token]) throws {
        var tokens = tokens
        let status = tokens.withUnsafeMutableBufferPointer {
            llama_decode(context, llama_batch_get_one($0.baseAddress, Int32($0.count)))
        }
        guard status == 0 else { throw LLMError(.generateFailed, "llama_decode gave \(status)") }
    }
}
