#if Llama
    import CLlama
    import Foundation
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

        func measure() async throws -> [Pair] {
            let engine = try await LlamaActor.load(
                model, configuration: LlamaConfiguration(contextLength: 8192, threadCount: threads, stateBytes: 0))
            // The prompt is in memory from now on.
            let depth = try await answer(engine).usage.promptTokens
            let (path, threads, tokens) = (model.string, Int32(threads), tokens)
            let loop = try await blocking { try BareLoop(path, threads: threads, depth: depth, tokens: tokens) }
            _ = try await blocking { loop.tokensPerSecond() }
            var pairs: [Pair] = []
            for round in 0..<Self.rounds {
                var ours: Double?
                if round % 2 == 0 { ours = try await answer(engine).timings.decodeTokensPerSecond }
                let bare = try await blocking { loop.tokensPerSecond() }
                if ours == nil { ours = try await answer(engine).timings.decodeTokensPerSecond }
                pairs.append(Pair(ours: ours ?? 0, bare: bare))
            }
            await engine.unload()
            return pairs
        }

        private func answer(_ engine: LlamaActor) async throws -> GenerationSummary {
            let question = [ChatMessage(.user, "Write a long story about a lighthouse keeper and a storm.")]
            let options = GenerationOptions(sampling: .greedy, maximumNewTokens: tokens)
            for try await event in engine.generate(question, options: options) {
                guard case .finish(let summary) = event else { continue }
                guard summary.usage.generatedTokens == tokens else { break }
                return summary
            }
            throw LLMError(.generateFailed, "the answer has not \(tokens) tokens")
        }
    }

    /// Computes token after token at a given depth and looks at nothing. Unchecked, since one call ends before the next.
    private final class BareLoop: @unchecked Sendable {
        private let model: OpaquePointer
        private let context: OpaquePointer
        private let depth: Int32
        private let tokens: Int

        init(_ path: String, threads: Int32, depth: Int, tokens: Int) throws {
            var parameters = llama_context_default_params()
            parameters.n_ctx = UInt32(depth + tokens)
            parameters.n_threads = threads
            parameters.n_threads_batch = threads
            guard let model = llama_model_load_from_file(path, llama_model_default_params()),
                let context = llama_init_from_model(model, parameters)
            else { throw LLMError(.cannotLoad, "llama.cpp cannot load \(path)") }
            (self.model, self.context, self.depth, self.tokens) = (model, context, Int32(depth), tokens)
            guard decode((0..<self.depth).map { $0 + 100 }) else {
                throw LLMError(.generateFailed, "llama.cpp cannot read the prompt")
            }
        }

        deinit {
            llama_free(context)
            llama_model_free(model)
        }

        func tokensPerSecond() -> Double {
            llama_memory_seq_rm(llama_get_memory(context), 0, depth, -1)
            var watch = TimeSource.system.stopwatch()
            for index in 0..<tokens {
                guard decode([llama_token(index + 1000)]) else { return .nan }
                // Like the engine's: the tokens after the first.
                if index == 0 { watch = TimeSource.system.stopwatch() }
            }
            return Double(tokens - 1) / watch.elapsed.seconds
        }

        private func decode(_ tokens: [llama_token]) -> Bool {
            var tokens = tokens
            return tokens.withUnsafeMutableBufferPointer {
                llama_decode(context, llama_batch_get_one($0.baseAddress, Int32($0.count))) == 0
            }
        }
    }
#endif
