import HearthBase

/// The sizes of a model of the transformer kind, each checked for the range in which products cannot overflow.
struct Dimensions: Sendable, Hashable {
    let layers: Int
    let width: Int
    let feedForward: Int
    let heads: Int
    let keyValueHeads: Int
    /// The numbers of a head.
    let head: Int
    let vocabulary: Int
    let context: Int

    /// Reads the sizes.
    /// - Parameter defaults: values of the family that its publishers leave out.
    init(_ configuration: ModelConfiguration, defaults: [String: Int] = [:]) throws(ImportError) {
        func read(_ key: String, _ maximum: Int, default other: Int? = nil) throws(ImportError) -> Int {
            try configuration.integer(key, in: 1...maximum, default: other ?? defaults[key])
        }
        layers = try read("num_hidden_layers", 1000)
        width = try read("hidden_size", 1 << 17)
        feedForward = try read("intermediate_size", 1 << 20)
        heads = try read("num_attention_heads", 1 << 12)
        keyValueHeads = try read("num_key_value_heads", 1 << 12, default: defaults["num_key_value_heads"] ?? heads)
        head = try read("head_dim", 1 << 12, default: defaults["head_dim"] ?? max(1, width / heads))
        vocabulary = try read("vocab_size", 1 << 24)
        context = try read("max_position_embeddings", 1 << 28)
        guard heads.isMultiple(of: keyValueHeads) else {
            throw configuration.damaged(
                "num_key_value_heads", "heads cannot share keys evenly", expected: "a divisor of \(heads)",
                configuration["num_key_value_heads"])
        }
        guard head.isMultiple(of: 2) else {
            throw configuration.damaged("head_dim", "a head has an odd number of values", .integer(head))
        }
    }
}
