import HearthBase

/// The entries of the GGUF file that follow from a model's configuration.
struct ModelFacts: Sendable {
    /// The entries, all but the tokenizer's and those that depend on the weights.
    private(set) var metadata: [(key: String, value: GGUFValue)]
    /// Tensors of factors by their names.
    let factors: [(name: String, values: [Float])]
    /// Differences to the original, for people.
    private(set) var notes: [String]

    /// Reads the configuration of a family's model.
    /// - Throws: ``ImportError`` with `incompatible` for a model that the engine computes otherwise, with `damaged` for
    ///   values out of range.
    init(
        _ configuration: ModelConfiguration, _ family: Family, _ dimensions: Dimensions
    ) throws(ImportError) {
        let rotation = try Rotation(configuration, dimensions, architecture: family.architecture)
        factors = rotation.factors
        notes = rotation.notes
        let epsilon = try configuration.positive("rms_norm_eps", default: 1e-6)
        let numbers = [
            ("block_count", dimensions.layers), ("context_length", dimensions.context),
            ("embedding_length", dimensions.width), ("feed_forward_length", dimensions.feedForward),
            ("attention.head_count", dimensions.heads), ("attention.head_count_kv", dimensions.keyValueHeads),
            ("attention.key_length", dimensions.head), ("attention.value_length", dimensions.head),
            ("vocab_size", dimensions.vocabulary),
        ]
        var facts: [(key: String, value: GGUFValue)] = numbers.map { ($0.0, .uint32(UInt32($0.1))) }
        facts.append(("attention.layer_norm_rms_epsilon", .float32(Float(epsilon))))
        facts += rotation.facts
        metadata = []
        try Self.checkActivation(configuration, family)
        switch family.architecture {
        case "gemma2", "gemma3": facts += try gemma(configuration, family, dimensions)
        case "phi3": facts += try phi(configuration)
        case "smollm3": try checkRotatedLayers(configuration, dimensions)
        default: try noteWindow(configuration)
        }
        metadata = facts.map { ("\(family.architecture).\($0.key)", $0.value) }
    }

    private static func checkActivation(_ configuration: ModelConfiguration, _ family: Family) throws(ImportError) {
        let key = configuration["hidden_activation"] == nil ? "hidden_act" : "hidden_activation"
        guard let name = configuration[key]?.string, !family.activations.contains(name) else { return }
        throw configuration.unsupported(
            key, "the activation \(name.quoted)", expected: family.activations.sorted().joined(separator: " or "))
    }

    /// The engine lets these architectures see the whole context, where the publisher's code looks back a window.
    private mutating func noteWindow(_ configuration: ModelConfiguration) throws(ImportError) {
        guard try configuration.flag("use_sliding_window") ?? true, configuration["sliding_window"] != nil else {
            return
        }
        let window = try configuration.integer("sliding_window", in: 1...1 << 28)
        notes.append("All layers see the whole context; the original looks back \(window) tokens.")
    }

    private mutating func phi(
        _ configuration: ModelConfiguration
    ) throws(ImportError) -> [(key: String, value: GGUFValue)] {
        // Zero tells Phi 4 from models that declare no window.
        guard configuration["sliding_window"] != nil else { return [("attention.sliding_window", .uint32(0))] }
        try noteWindow(configuration)
        let window = try configuration.integer("sliding_window", in: 1...1 << 28)
        return [("attention.sliding_window", .uint32(UInt32(window)))]
    }

    private func gemma(
        _ configuration: ModelConfiguration, _ family: Family, _ dimensions: Dimensions
    ) throws(ImportError) -> [(key: String, value: GGUFValue)] {
        var facts: [(key: String, value: GGUFValue)] = []
        let isSecond = family.architecture == "gemma2"
        // The engine derives the scale of attention from the number of layers: only the largest models scale otherwise.
        let isLargest = dimensions.layers == (isSecond ? 46 : 62)
        let scale = Double(isLargest ? dimensions.width / dimensions.heads : dimensions.head)
        guard try configuration.positive("query_pre_attn_scalar", default: scale) == scale else {
            throw configuration.unsupported("query_pre_attn_scalar", "another scale of attention", expected: "\(scale)")
        }
        if isSecond {
            let cap = try configuration.positive("attn_logit_softcapping", default: 50)
            facts.append(("attn_logit_softcapping", .float32(Float(cap))))
        } else if configuration["attn_logit_softcapping"] != nil {
            throw configuration.unsupported("attn_logit_softcapping", "capped attention")
        }
        if isSecond || configuration["final_logit_softcapping"] != nil {
            let cap = try configuration.positive("final_logit_softcapping", default: 30)
            facts.append(("final_logit_softcapping", .float32(Float(cap))))
        }
        let window = try configuration.integer("sliding_window", in: 1...1 << 28, default: 4096)
        facts.append(("attention.sliding_window", .uint32(UInt32(window))))
        let period = try windowPeriod(configuration, dimensions, default: isSecond ? 2 : 6)
        facts.append(("attention.sliding_window_pattern", .uint32(UInt32(period))))
        return facts
    }

    /// Every how many layers one sees the whole context.
    private func windowPeriod(
        _ configuration: ModelConfiguration, _ dimensions: Dimensions, default other: Int
    ) throws(ImportError) -> Int {
        let key = configuration["sliding_window_pattern"] == nil ? "_sliding_window_pattern" : "sliding_window_pattern"
        var period = try configuration.integer(key, in: 1...1000, default: other)
        guard let types = configuration["layer_types"]?.items else { return period }
        if configuration[key] == nil, let first = types.firstIndex(of: "full_attention") { period = first + 1 }
        let expected = (1...dimensions.layers).map { layer -> JSONValue in
            layer.isMultiple(of: period) ? "full_attention" : "sliding_attention"
        }
        guard types == expected else {
            throw configuration.unsupported(
                "layer_types", "an irregular order of windows", expected: "every \(period)th")
        }
        return period
    }

    /// The engine rotates no positions in every fourth layer of SmolLM 3.
    private func checkRotatedLayers(
        _ configuration: ModelConfiguration, _ dimensions: Dimensions
    ) throws(ImportError) {
        guard try configuration.integer("no_rope_layer_interval", in: 1...1000, default: 4) == 4 else {
            throw configuration.unsupported("no_rope_layer_interval", "other layers without positions", expected: "4")
        }
        guard let layers = configuration["no_rope_layers"]?.items else { return }
        let expected = (1...dimensions.layers).map { JSONValue.integer($0.isMultiple(of: 4) ? 0 : 1) }
        guard layers == expected else {
            throw configuration.unsupported("no_rope_layers", "other layers without positions", expected: "every 4th")
        }
    }
}
