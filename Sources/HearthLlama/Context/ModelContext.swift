#if Llama
import CLlama
import CLlamaShim
import HearthBase
import HearthInference

/// Owns one context of llama.cpp and the threads that compute for it. Only one thread at a time may touch it.
struct ModelContext: ~Copyable {
    /// The handle for calls that read or compute. Only this type frees it.
    let raw: OpaquePointer
    private let threads: ThreadPools
    // A context reads the weights until it is freed.
    private let weights: ModelWeights
    /// The longest sequence in tokens. llama.cpp rounds a length up to 256, and a model with learned positions has
    /// none beyond its trained length: such a token would end the process. More cells do not lengthen a sequence.
    private let longest: Int
    /// Whether each sequence has cells for itself. Its tokens are then compared with no other sequence's cells, and are
    /// not shared but copied.
    let hasOwnCells: Bool
    /// The sequence that never computes, through which a part of another one is saved and restored; `nil` where sequences
    /// share no cells.
    let spare: Int?

    /// The requested sizes of a context. The context reports the sizes that llama.cpp gave it.
    struct Shape {
        var length: Int
        /// The tokens of all sequences together; `nil` for as many as `length`.
        var cells: Int?
        var batch: Int
        var chunk: Int
        var threads: Int
        var embeddings = false
        /// Whether a whole text gets one score, in place of a vector for each token.
        var ranks = false
        /// The conversations computed side by side.
        var sequences = 1
        /// Whether each of several sequences has cells for itself, an equal part of all cells. Otherwise they share them.
        var hasOwnCells = false
        /// Whether there is one more sequence, for parts of the others; see ``ModelContext/spare``.
        var hasSpare = false
        var cacheType = CacheType.f16
        var flashAttention = FlashAttention.automatic
    }

    /// Makes a context. Returns `nil` when llama.cpp cannot make it; `reason` then holds the cause.
    init?(_ weights: ModelWeights, _ shape: Shape, reason: inout UnsafeMutablePointer<CChar>?) {
        var options = hearth_context_options()
        options.length = UInt32(clamping: max(shape.length, shape.cells ?? 0))
        options.batch = UInt32(clamping: shape.batch)
        options.chunk = UInt32(clamping: min(shape.chunk, shape.batch))
        options.threads = Int32(clamping: shape.threads)
        options.embeddings = shape.embeddings
        options.ranks = shape.ranks
        options.sequences = UInt32(clamping: shape.sequences + (shape.hasSpare ? 1 : 0))
        options.own_cells = shape.hasOwnCells
        options.cache_type = Int32(shape.cacheType.ggmlType.rawValue)
        options.flash_attention = Int32(shape.flashAttention.llamaType.rawValue)
        guard let context = hearth_context_new(weights.model, &options, &reason) else { return nil }
        raw = context
        threads = ThreadPools()
        threads.use(shape.threads, for: context)
        self.weights = weights
        let trained = weights.trainedContextLength
        let hasMoreCells = (shape.cells ?? 0) > shape.length
        longest = hasMoreCells ? shape.length : shape.length <= trained ? trained : .max
        hasOwnCells = shape.hasOwnCells && shape.sequences > 1
        spare = shape.hasSpare ? shape.sequences : nil
        Handles.take(.context)
    }

    deinit {
        llama_free(raw)
        threads.free()
        Handles.give(.context)
    }

    /// The most tokens of one sequence.
    var length: Int { min(Int(llama_n_ctx_seq(raw)), longest) }
    /// The most tokens of all sequences together.
    var cells: Int { Int(llama_n_ctx(raw)) }
    /// The number of sequences that compute.
    var sequences: Int { Int(llama_n_seq_max(raw)) - (spare == nil ? 0 : 1) }
    /// The most tokens of one call.
    var batchSize: Int { Int(llama_n_batch(raw)) }
    var threadCount: Int { Int(llama_n_threads(raw)) }

    /// Whether the context keeps the state of computed tokens for later tokens. Encoders such as BERT keep none.
    var hasMemory: Bool { llama_get_memory(raw) != nil }

    /// Sets the number of threads for the next computations.
    borrowing func setThreadCount(_ count: Int) {
        guard count != threadCount else { return }
        llama_set_n_threads(raw, Int32(clamping: count), Int32(clamping: count))
        threads.use(count, for: raw)
    }

    /// Installs an abort callback that returns true when every member of a group is stopped. The group must live as
    /// long as the context.
    borrowing func listen(to group: StopGroup) {
        llama_set_abort_callback(
            raw,
            { group in
                // ggml calls this hundreds of times for each token, so it counts no references.
                group.map { Unmanaged<StopGroup>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.mustStop() } } ?? false
            },
            Unmanaged.passUnretained(group).toOpaque())
    }

    /// Computes the tokens of a batch (`llama_decode`). An exception is the status -1; its reason is in the log.
    /// - Parameter group: the one that listens; `nil` in tests.
    borrowing func decode(_ batch: borrowing TokenBatch, for group: StopGroup? = nil) -> Int32 {
        let signs: (@Sendable () -> UInt64)? = if let group { { group.signs } } else { nil }
        let step = CallWatch.shared.begin(.step, signs: signs)
        defer { CallWatch.shared.end(step) }
        var reason: UnsafeMutablePointer<CChar>?
        let status = withUnsafePointer(to: batch.raw) { hearth_decode(raw, $0, &reason) }
        if let reason = String(taking: reason) {
            LlamaLog.shared.append(reason + "\n", level: .error, continues: false)
        }
        if status == 0 { threads.trim() }
        return status
    }

    /// Puts the threads to sleep until the next computation, while another context computes or a picture is
    /// encoded.
    borrowing func rest() { threads.rest() }

    /// The number of kept thread pools.
    var poolCount: Int { threads.count }

    /// The logits of a token of the last batch, one for each token of the vocabulary. The caller may write to them.
    /// - Parameter index: the token's place in the batch, -1 for the last one that has logits.
    /// - Throws: `generation-failed` when the token has no logits.
    borrowing func logits(at index: Int32) throws -> UnsafeMutablePointer<Float> {
        guard let logits = llama_get_logits_ith(raw, index) else {
            throw LLMError(.generateFailed, "the engine gave nothing to choose the next token from")
        }
        return logits
    }

    /// Forgets all tokens.
    borrowing func clear() { llama_memory_clear(llama_get_memory(raw), false) }

    /// Keeps the state of the first `count` tokens of a sequence.
    /// - Returns: `false` for a model that cannot forget a part of a sequence; the state is then undefined.
    borrowing func truncate(_ sequence: Int, to count: Int) -> Bool {
        llama_memory_seq_rm(llama_get_memory(raw), llama_seq_id(sequence), llama_pos(count), -1)
            && holds(count, in: sequence)
    }

    /// Forgets a sequence (`llama_memory_seq_rm`, which never refuses a whole one).
    borrowing func clear(_ sequence: Int) {
        _ = llama_memory_seq_rm(llama_get_memory(raw), llama_seq_id(sequence), -1, -1)
    }

    /// Gives a sequence some tokens of another that it does not hold, if the sequences share their cells; nothing is
    /// copied (`llama_memory_seq_cp`).
    borrowing func copy(_ source: Int, to target: Int, _ range: Range<Int>) {
        llama_memory_seq_cp(
            llama_get_memory(raw), llama_seq_id(source), llama_seq_id(target), llama_pos(range.lowerBound),
            llama_pos(range.upperBound))
    }

    /// The position of a sequence's first token.
    borrowing func begins(_ sequence: Int) -> Int {
        Int(llama_memory_seq_pos_min(llama_get_memory(raw), llama_seq_id(sequence)))
    }

    /// Whether a sequence holds the state of exactly `count` tokens.
    borrowing func holds(_ count: Int, in sequence: Int) -> Bool {
        llama_memory_seq_pos_max(llama_get_memory(raw), llama_seq_id(sequence)) == llama_pos(count - 1)
    }
}

/// Owns the threads that compute for a context beside the calling thread: one pool for each recently used number of
/// threads.
/// A pool that does not compute waits without spinning; unused threads of a single large pool would spin. A context
/// keeps using its pool until its next computation.
private final class ThreadPools {
    /// The most pools: two numbers that a tuner alternates between, and two earlier ones.
    static let limit = 4
    private var pools: [Int: OpaquePointer] = [:]
    /// The numbers of threads by last use, the latest last.
    private var order: [Int] = []

    var count: Int { pools.count }

    init() { Handles.take(.threads) }

    /// Lets a context compute with `count` threads.
    func use(_ count: Int, for context: OpaquePointer) {
        let pool = pools[count] ?? hearth_threads_new(Int32(clamping: count))
        pools[count] = pool
        order.removeAll { $0 == count }
        order.append(count)
        hearth_threads_use(context, pool)
    }

    /// Puts the pool used last to sleep; all others sleep already.
    func rest() { order.last.flatMap { pools[$0] }.map { hearth_threads_rest($0) } }

    /// Frees old pools. Called after a computation: the context then refers only to the pool used last.
    func trim() {
        while order.count > Self.limit {
            if let pool = pools.removeValue(forKey: order.removeFirst()) { hearth_threads_free(pool) }
        }
    }

    /// Frees all pools. Called after the context is freed.
    func free() {
        for pool in pools.values { hearth_threads_free(pool) }
        pools = [:]
        Handles.give(.threads)
    }
}

/// Owns a batch of llama.cpp: tokens with their positions and sequences.
struct TokenBatch: ~Copyable {
    fileprivate private(set) var raw: llama_batch
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        raw = llama_batch_init(Int32(clamping: self.capacity), 0, 1)
        Handles.take(.batch)
    }

    deinit {
        llama_batch_free(raw)
        Handles.give(.batch)
    }

    var count: Int { Int(raw.n_tokens) }

    mutating func removeAll() { raw.n_tokens = 0 }

    /// The tokens of a batch that get logits.
    enum Outputs {
        case none, last, all
    }

    /// Adds tokens of a sequence, at most as many as fit.
    mutating func append(
        _ tokens: ArraySlice<llama_token>, at position: Int, of sequence: Int = 0, outputs: Outputs
    ) {
        let first = count
        let added = min(tokens.count, capacity - first)
        for (offset, token) in tokens.prefix(added).enumerated() {
            let index = first + offset
            raw.token[index] = token
            raw.pos[index] = llama_pos(position + offset)
            raw.n_seq_id[index] = 1
            raw.seq_id[index]?[0] = llama_seq_id(sequence)
            raw.logits[index] = outputs == .all || (outputs == .last && offset == added - 1) ? 1 : 0
        }
        raw.n_tokens = Int32(first + added)
    }
}

extension FlashAttention {
    /// The value of llama.cpp's enumeration.
    fileprivate var llamaType: llama_flash_attn_type {
        switch self {
        case .automatic: LLAMA_FLASH_ATTN_TYPE_AUTO
        case .on: LLAMA_FLASH_ATTN_TYPE_ENABLED
        case .off: LLAMA_FLASH_ATTN_TYPE_DISABLED
        }
    }
}

extension CacheType {
    /// The value of ggml's enumeration.
    fileprivate var ggmlType: ggml_type {
        switch self {
        case .f16: GGML_TYPE_F16
        case .q8: GGML_TYPE_Q8_0
        case .q4: GGML_TYPE_Q4_0
        }
    }
}
#endif
