#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase

    /// Owns one context of llama.cpp and the threads that compute for it. Only one thread at a time may touch it.
    struct ModelContext: ~Copyable {
        /// For calls that read or compute; never freed by anybody else.
        let raw: OpaquePointer
        private let threads: ThreadPool
        // A context reads the weights until it is freed.
        private let weights: ModelWeights

        /// What a context is made with; what it really has is asked back from it.
        struct Shape {
            var length: Int
            var batch: Int
            var chunk: Int
            var threads: Int
            var embeddings = false
        }

        /// `nil` when llama.cpp cannot make it; `reason` tells why.
        init?(_ weights: ModelWeights, _ shape: Shape, reason: inout UnsafeMutablePointer<CChar>?) {
            var options = hearth_context_options()
            options.length = UInt32(clamping: shape.length)
            options.batch = UInt32(clamping: shape.batch)
            options.chunk = UInt32(clamping: min(shape.chunk, shape.batch))
            options.threads = Int32(clamping: shape.threads)
            options.embeddings = shape.embeddings
            guard let context = hearth_context_new(weights.model, &options, &reason) else { return nil }
            raw = context
            threads = ThreadPool(context, count: shape.threads)
            self.weights = weights
        }

        deinit {
            llama_free(raw)
            threads.free()
        }

        /// The tokens one sequence may have.
        var length: Int { Int(llama_n_ctx_seq(raw)) }
        /// The most tokens one call takes.
        var batchSize: Int { Int(llama_n_batch(raw)) }
        var threadCount: Int { Int(llama_n_threads(raw)) }

        /// Computes with so many threads from now on.
        borrowing func setThreadCount(_ count: Int) {
            llama_set_n_threads(raw, Int32(clamping: count), Int32(clamping: count))
            threads.replace(raw, count: count)
        }

        /// Runs `body`, whose computations end early once the signal is set.
        borrowing func listening<Result>(to signal: StopSignal, _ body: () throws -> Result) rethrows -> Result {
            llama_set_abort_callback(
                raw,
                { signal in
                    signal.map { Unmanaged<StopSignal>.fromOpaque($0).takeUnretainedValue().isSet } ?? false
                },
                Unmanaged.passUnretained(signal).toOpaque())
            defer { llama_set_abort_callback(raw, nil, nil) }
            return try withExtendedLifetime(signal, body)
        }

        /// Computes tokens at the end of the only sequence (`llama_decode`).
        borrowing func decode(_ tokens: UnsafeMutablePointer<llama_token>?, _ count: Int) -> Int32 {
            llama_decode(raw, llama_batch_get_one(tokens, Int32(count)))
        }

        /// Computes the tokens of a batch (`llama_decode`).
        borrowing func decode(_ batch: borrowing TokenBatch) -> Int32 { llama_decode(raw, batch.raw) }

        /// Forgets all tokens.
        borrowing func clear() { llama_memory_clear(llama_get_memory(raw), false) }

        /// Keeps the state of the first `count` tokens.
        /// - Returns: `false` for models that cannot forget a part; the state is then undefined.
        borrowing func truncate(to count: Int) -> Bool {
            llama_memory_seq_rm(llama_get_memory(raw), 0, llama_pos(count), -1) && holds(count)
        }

        /// Whether it holds the state of exactly so many tokens.
        borrowing func holds(_ count: Int) -> Bool {
            llama_memory_seq_pos_max(llama_get_memory(raw), 0) == llama_pos(count - 1)
        }
    }

    /// Owns the threads that compute for a context beside the calling one; as many as there are to be, never more.
    private final class ThreadPool {
        private var raw: OpaquePointer?

        init(_ context: OpaquePointer, count: Int) { raw = hearth_threads_attach(context, Int32(clamping: count)) }

        func replace(_ context: OpaquePointer, count: Int) {
            hearth_threads_detach(raw)
            raw = hearth_threads_attach(context, Int32(clamping: count))
        }

        /// After the context.
        func free() {
            hearth_threads_free(raw)
            raw = nil
        }
    }

    /// Owns a batch of llama.cpp: tokens with their places, of one sequence.
    struct TokenBatch: ~Copyable {
        fileprivate private(set) var raw: llama_batch
        private let capacity: Int

        init(capacity: Int) {
            self.capacity = max(1, capacity)
            raw = llama_batch_init(Int32(clamping: self.capacity), 0, 1)
        }

        deinit { llama_batch_free(raw) }

        /// Holds these tokens and nothing else, at most as many as there is room for.
        mutating func fill(_ tokens: ArraySlice<llama_token>, from position: Int, outputs: Bool) {
            let count = min(tokens.count, capacity)
            raw.n_tokens = Int32(count)
            for (index, token) in tokens.prefix(count).enumerated() {
                raw.token[index] = token
                raw.pos[index] = llama_pos(position + index)
                raw.n_seq_id[index] = 1
                raw.seq_id[index]?[0] = 0
                raw.logits[index] = outputs ? 1 : 0
            }
        }
    }
#endif
