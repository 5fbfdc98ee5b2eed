import HearthBase

/// The sizes of a model that determine its memory, from the header of a local file or the first bytes of a remote one.
package struct ModelShape: Sendable, Hashable {
    /// One layer's part of the cache.
    package struct Layer: Sendable, Hashable {
        /// The numbers of one token's keys; 0 for a layer without attention, and in a model without a cache.
        package var keyWidth: Int
        /// The numbers of one token's values.
        package var valueWidth: Int
    }

    /// The bytes of all weights.
    package var weightBytes: UInt64
    package var layers: [Layer]
    /// The width of the hidden state.
    package var width: Int
    /// The inner width of a feed-forward layer, of all experts in use together.
    package var innerWidth: Int
    /// The tokens of the vocabulary.
    package var vocabulary: Int
    /// The model's trained context in tokens; 0 if the header does not declare it.
    package var trainedContext: Int
    /// The bytes of the state of all recurrent layers, for one conversation.
    package var recurrentBytes: UInt64 = 0
    /// The widths of one head's keys and values, which limit the cache types.
    package var headWidths: [Int] = []
    /// The most query heads of a layer.
    package var heads = 0

    /// Whether the model keeps keys, values or a state for later tokens; encoders keep none.
    var hasCache: Bool { recurrentBytes > 0 || layers.contains { $0.keyWidth > 0 || $0.valueWidth > 0 } }

}

extension ModelShape {
    /// Reads the shape from a header; `nil` if a size is missing or larger than any model's.
    ///
    /// - Parameters:
    ///   - header: a header read at least up to its metadata.
    ///   - fileBytes: the length of the file, or of all its parts: the size of the weights if the header was not read
    ///     further.
    package init?(_ header: GGUFHeader, fileBytes: UInt64) {
        let facts = Facts(header)
        // Headers are untrusted: a product of these bounds stays far below 2^63.
        guard let count = facts.number("block_count", in: 1...4096),
            let width = facts.number("embedding_length", in: 1...1_048_576)
        else { return nil }
        // A model without attention declares zero heads, or none.
        let heads = facts.list("attention.head_count", in: 0...65_536) ?? [0]
        let most = heads.max() ?? 0
        self.heads = most
        let state = RecurrentState(facts, width: width, heads: most)
        guard most > 0 || state != nil else { return nil }
        let keyValueHeads = facts.list("attention.head_count_kv", in: 0...65_536) ?? heads
        let headWidth = most > 0 ? width / most : 0
        let keyLength = most > 0 ? facts.number("attention.key_length", in: 1...65_536) ?? headWidth : 0
        let valueLength = most > 0 ? facts.number("attention.value_length", in: 1...65_536) ?? headWidth : 0
        let recurrent = state == nil ? nil : facts.recurrentLayers(count)
        let isEncoderOnly = header.isEncoderOnly
        let attending = (0..<count).map { index in
            isEncoderOnly || recurrent?[index] == true ? 0 : keyValueHeads[min(index, keyValueHeads.count - 1)]
        }
        layers = attending.map { Layer(keyWidth: $0 * keyLength, valueWidth: $0 * valueLength) }
        weightBytes = header.splitCount == 1 ? header.tensors?.byteCount ?? fileBytes : fileBytes
        self.width = width
        let inner = facts.list("feed_forward_length", in: 0...16_777_216)?.max() ?? 4 * width
        let expert = facts.number("expert_feed_forward_length", in: 1...16_777_216)
        let used = facts.number("expert_used_count", in: 1...4096)
        innerWidth = max(inner, (expert ?? 0) * (used ?? 1), state?.channels ?? 0)
        vocabulary = facts.vocabulary
        trainedContext = facts.number("context_length", in: 1...1 << 30) ?? 0
        // If every layer attends, as in Falcon-H1, each also has a state.
        let stateful = recurrent?.count { $0 } ?? attending.count { $0 == 0 }
        recurrentBytes = UInt64(stateful == 0 ? count : stateful) * UInt64(state?.numbers ?? 0) * 4
        headWidths = [keyLength, valueLength]
    }
}

/// The numbers of a header, each within bounds.
private struct Facts {
    let header: GGUFHeader
    let prefix: String

    init(_ header: GGUFHeader) {
        self.header = header
        prefix = (header.architecture ?? "") + "."
    }

    func number(_ key: String, in range: ClosedRange<Int>) -> Int? { list(key, in: range)?.max() }

    /// One number for each layer, or one for all.
    func list(_ key: String, in range: ClosedRange<Int>) -> [Int]? {
        guard let value = header.metadata[prefix + key] else { return nil }
        let numbers: [Int]
        if case .array(let array) = value {
            numbers = array.elements?.compactMap(\.integer) ?? []
        } else {
            numbers = [value.integer].compactMap { $0 }
        }
        return numbers.isEmpty || !numbers.allSatisfy(range.contains) ? nil : numbers
    }

    /// One flag for each layer.
    func flags(_ key: String) -> [Bool]? {
        guard case .array(let array) = header.metadata[prefix + key] else { return nil }
        return array.elements?.map { element in
            if case .bool(let flag) = element { flag } else { element.integer.map { $0 != 0 } ?? false }
        }
    }

    var vocabulary: Int {
        if case .array(let array) = header.metadata["tokenizer.ggml.tokens"] {
            return Int(clamping: min(array.count, 1 << 30))
        }
        return number("vocab_size", in: 1...1 << 30) ?? 0
    }

    /// The layers that keep a state instead of keys and values, if the header declares it other than by zero heads: all
    /// but every n-th. Layers that only predict further tokens attend (`is_recr_impl` of llama.cpp's parameters).
    func recurrentLayers(_ count: Int) -> [Bool]? {
        if let listed = flags("attention.recurrent_layers"), listed.count >= count {
            return Array(listed.prefix(count))
        }
        let usual =
            ["qwen3next", "qwen35", "qwen35moe", "qwen4exp", "minimax-01"].contains(header.architecture) ? 4 : nil
        guard let interval = number("full_attention_interval", in: 1...4096) ?? usual else { return nil }
        let predicting = number("nextn_predict_layers", in: 0...count) ?? 0
        return (0..<count).map { $0 < count - predicting && ($0 + 1) % interval != 0 }
    }
}

/// The state of one layer without attention for one conversation (`n_embd_r` and `n_embd_s` of llama.cpp's parameters).
private struct RecurrentState {
    /// The numbers of state and convolution together, each in F32.
    let numbers: Int
    /// The channels of the computation.
    let channels: Int

    /// Reads the state; `nil` for a header without one.
    init?(_ facts: Facts, width: Int, heads: Int) {
        let kernel = facts.number("ssm.conv_kernel", in: 1...1024)
        if let head = facts.number("wkv.head_size", in: 1...65_536) {
            // RWKV
            let shifts = facts.number("token_shift_count", in: 0...1024) ?? 2
            (numbers, channels) = (width * (head + shifts), width)
        } else if let columns = facts.number("shortconv.l_cache", in: 1...1024) {
            // LFM2
            (numbers, channels) = (width * (columns - 1), 3 * width)
        } else if let head = facts.number("kda.head_dim", in: 1...65_536) {
            // Kimi's delta attention: convolutions of queries, keys and values.
            channels = 3 * heads * head
            numbers = ((kernel ?? 4) - 1) * channels + head * head * heads
        } else if let inner = facts.number("ssm.inner_size", in: 1...1_048_576),
            let state = facts.number("ssm.state_size", in: 1...65_536)
        {
            // Mamba, and the gated delta nets of Qwen
            channels = inner + 2 * (facts.number("ssm.group_count", in: 0...65_536) ?? 0) * state
            numbers = ((kernel ?? 4) - 1) * channels + state * inner
        } else if facts.header.architecture == "minimax-01", heads > 0 {
            let head = facts.number("attention.key_length", in: 1...65_536) ?? width / heads
            (numbers, channels) = (head * head * heads, head * heads)
        } else {
            return nil
        }
    }
}
