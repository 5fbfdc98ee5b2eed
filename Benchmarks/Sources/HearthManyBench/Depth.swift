import CLlama
import CLlamaShim
import HearthBase
import HearthInference

/// Decoding with and without flash attention, in turns in one process, at a depth and of so many conversations at once.
struct Depth: Sendable {
    let model: Path
    let depth: Int
    let streams: Int
    let tokens: Int
    let threads: Int

    static let rounds = 5

    /// Tokens a second of all conversations together.
    struct Pair: Codable {
        let on: Double
        let off: Double
    }

    func measure() async throws -> [Pair] {
        try await blocking {
            let (on, off) = (
                try Loop(self, LLAMA_FLASH_ATTN_TYPE_ENABLED), try Loop(self, LLAMA_FLASH_ATTN_TYPE_DISABLED)
            )
            return try (0..<Self.rounds).map { round in
                let first = round % 2 == 0 ? try on.tokensPerSecond() : nil
                let without = try off.tokensPerSecond()
                return Pair(on: try first ?? on.tokensPerSecond(), off: without)
            }
        }
    }

    private final class Loop {
        private let model: OpaquePointer
        private let context: OpaquePointer
        private let settings: Depth
        private var batch: llama_batch

        init(_ settings: Depth, _ type: llama_flash_attn_type) throws {
            self.settings = settings
            let cells = (settings.depth + settings.tokens) * settings.streams
            var parameters = llama_context_default_params()
            // As long as the memory plan makes it for chats, or longer: it matters without flash attention.
            parameters.n_ctx = UInt32(max(8192, cells + 256))
            (parameters.n_batch, parameters.n_ubatch) = (512, 512)
            parameters.n_seq_max = UInt32(settings.streams)
            parameters.n_outputs_max = parameters.n_seq_max
            parameters.kv_unified = settings.streams > 1
            (parameters.n_threads, parameters.n_threads_batch) = (Int32(settings.threads), Int32(settings.threads))
            parameters.flash_attn_type = type
            guard let model = llama_model_load_from_file(settings.model.string, llama_model_default_params()) else {
                throw LLMError(.cannotLoad, "llama.cpp cannot load \(settings.model)")
            }
            guard let context = llama_init_from_model(model, parameters) else {
                llama_model_free(model)
                throw LLMError(.cannotLoad, "llama.cpp cannot make a context for \(settings.model)")
            }
            (self.model, self.context) = (model, context)
            batch = llama_batch_init(512, 0, 1)
            for start in stride(from: 0, to: settings.depth, by: 512) {
                let end = min(start + 512, settings.depth)
                try decode((start..<end).map { (token: 100 + $0 % 20_000, place: $0, sequence: 0, isLast: false) })
            }
            // The others begin as copies with cells of their own.
            var state = [UInt8](repeating: 0, count: llama_state_seq_get_size(context, 0))
            llama_state_seq_get_data(context, &state, state.count, 0)
            for sequence in 1..<max(1, settings.streams) {
                guard llama_state_seq_set_data(context, state, state.count, llama_seq_id(sequence)) > 0 else {
                    throw LLMError(.generateFailed, "a conversation cannot be copied")
                }
            }
        }

        deinit {
            llama_batch_free(batch)
            llama_free(context)
            llama_model_free(model)
        }

        func tokensPerSecond() throws -> Double {
            for sequence in 0..<settings.streams {
                llama_memory_seq_rm(
                    llama_get_memory(context), llama_seq_id(sequence), llama_pos(settings.depth), -1)
            }
            let watch = TimeSource.system.stopwatch()
            for token in 0..<settings.tokens {
                try decode(
                    (0..<settings.streams).map {
                        (token: 1000 + token + $0, place: settings.depth + token, sequence: $0, isLast: true)
                    })
            }
            return Double(settings.tokens * settings.streams) / watch.elapsed.seconds
        }

        private func decode(_ tokens: [(token: Int, place: Int, sequence: Int, isLast: Bool)]) throws {
            batch.n_tokens = Int32(tokens.count)
            for (index, entry) in tokens.enumerated() {
                batch.token[index] = llama_token(entry.token)
                batch.pos[index] = llama_pos(entry.place)
                batch.n_seq_id[index] = 1
                batch.seq_id[index]?[0] = llama_seq_id(entry.sequence)
                batch.logits[index] = entry.isLast ? 1 : 0
            }
            let status = llama_decode(context, batch)
            guard status == 0 else { throw LLMError(.generateFailed, "llama_decode gave \(status)") }
        }
    }
}
