import HearthBase

/// The sizes of a model that decide how much memory it takes, read from its header: before it is loaded, and from the first
/// bytes of a file before it is downloaded.
public struct ModelShape: Sendable, Hashable {
    /// One layer's part of the cache.
    public struct Layer: Sendable, Hashable {
        /// The numbers of one token's keys, 0 for a layer without attention.
        public var keyWidth: Int
        /// The numbers of one token's values.
        public var valueWidth: Int
        /// The tokens it looks back at, `nil` for all.
        public var window: Int?

        /// The given sizes.
        public init(keyWidth: Int, valueWidth: Int, window: Int? = nil) {
            self.keyWidth = keyWidth
            self.valueWidth = valueWidth
            self.window = window
        }
    }

    /// The bytes of all weights.
    public var weightBytes: UInt64
    public var layers: [Layer]
    /// The width of the hidden state.
    public var width: Int
    /// The width between the two halves of a feed-forward layer, that of all experts used at once.
    public var innerWidth: Int
    /// The tokens of the vocabulary.
    public var vocabulary: Int
    /// The context the model was trained with, in tokens; 0 if it does not say.
    public var trainedContext: Int
    /// The bytes of the state of all recurrent layers, for one conversation.
    public var recurrentBytes: UInt64
    /// The numbers of one head's keys and values: they decide how small a cache can be.
    public var headWidths: [Int]

    /// A shape of the given sizes.
    public init(
        weightBytes: UInt64, layers: [Layer], width: Int, innerWidth: Int, vocabulary: Int, trainedContext: Int,
        recurrentBytes: UInt64 = 0, headWidths: [Int] = []
    ) {
        self.weightBytes = weightBytes
        self.layers = layers
        self.width = width
        self.innerWidth = innerWidth
        self.vocabulary = vocabulary
        self.trainedContext = trainedContext
        self.recurrentBytes = recurrentBytes
        self.headWidths = headWidths
    }

    /// The shape a header tells of; `nil` when it says too little, or more than any model can have.
    ///
    /// - Parameters:
    ///   - header: read as far as its metadata at least.
    ///   - fileBytes: the length of the file, or of all its parts: the weights' size where the header was not read so far.
    public init?(_ header: GGUFHeader, fileBytes: UInt64) {
        let facts = Facts(header)
        // Every size comes from a stranger: a product of these bounds stays far below 2^63.
        guard let count = facts.number("block_count", in: 1...4096),
            let width = facts.number("embedding_length", in: 1...1_048_576),
            let heads = facts.list("attention.head_count", in: 0...65_536), let most = heads.max(), most > 0
        else { return nil }
        let keyValueHeads = facts.list("attention.head_count_kv", in: 0...65_536) ?? heads
        let headWidth = width / most
        let keyLength = facts.number("attention.key_length", in: 1...65_536) ?? headWidth
        let valueLength = facts.number("attention.value_length", in: 1...65_536) ?? headWidth
        let window = facts.number("attention.sliding_window", in: 1...1 << 30)
        let pattern = facts.flags("attention.sliding_window_pattern")
        layers = (0..<count).map { index in
            let heads = keyValueHeads[min(index, keyValueHeads.count - 1)]
            let isWindowed = pattern.map { index < $0.count && $0[index] } ?? false
            return Layer(
                keyWidth: heads * keyLength, valueWidth: heads * valueLength, window: isWindowed ? window : nil)
        }
        weightBytes = header.splitCount == 1 ? header.tensors?.byteCount ?? fileBytes : fileBytes
        self.width = width
        let inner = facts.list("feed_forward_length", in: 0...16_777_216)?.max() ?? 4 * width
        let expert = facts.number("expert_feed_forward_length", in: 1...16_777_216)
        let used = facts.number("expert_used_count", in: 1...4096)
        innerWidth = max(inner, (expert ?? 0) * (used ?? 1))
        vocabulary = facts.vocabulary
        trainedContext = facts.number("context_length", in: 1...1 << 30) ?? 0
        recurrentBytes = facts.recurrentBytes(layers: layers)
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

    /// Which layers have a property; a number means that all but every n-th have.
    func flags(_ key: String) -> [Bool]? {
        switch header.metadata[prefix + key] {
        case .array(let array):
            array.elements?.map { element in
                if case .bool(let flag) = element { flag } else { element.integer.map { $0 != 0 } ?? false }
            }
        case .some(let value):
            value.integer.flatMap { period in
                (1...4096).contains(period) ? (0..<4096).map { ($0 + 1) % period != 0 } : nil
            }
        case nil: nil
        }
    }

    var vocabulary: Int {
        if case .array(let array) = header.metadata["tokenizer.ggml.tokens"] {
            return Int(clamping: min(array.count, 1 << 30))
        }
        return number("vocab_size", in: 1...1 << 30) ?? 0
    }

    /// State and convolution of layers without attention (`n_embd_r` and `n_embd_s` of llama.cpp's parameters), in F32.
    func recurrentBytes(layers: [ModelShape.Layer]) -> UInt64 {
        guard let inner = number("ssm.inner_size", in: 1...1_048_576),
            let state = number("ssm.state_size", in: 1...65_536)
        else { return 0 }
        let kernel = number("ssm.conv_kernel", in: 1...1024) ?? 4
        let groups = number("ssm.group_count", in: 0...65_536) ?? 0
        let each = (kernel - 1) * (inner + 2 * groups * state) + state * inner
        let recurrent = layers.count { $0.keyWidth == 0 }
        return UInt64(recurrent == 0 ? layers.count : recurrent) * UInt64(each) * 4
    }
}
