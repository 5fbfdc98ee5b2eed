import HearthBase

/// A family of models: the engine's name for its architecture, and the tensors of a layer.
struct Family: Sendable {
    /// GGUF's name, such as `llama`.
    let architecture: String
    /// The sizes that publishers leave out of the configuration.
    var defaults: [String: Int] = [:]
    /// Whether the engine rotates neighbours in a head where the publisher's weights rotate its two halves.
    var interleavesHeads = false
    /// The number that the engine expects to be part of the factors of norms: Gemma's are stored less one.
    var normShift: Float = 0
    /// The activations that the engine computes for this architecture.
    var activations: Set<String> = ["silu"]
    /// The model types with a tower that the engine can see with.
    var projectors: Set<String> = []
    /// The tensors of a layer.
    let layer: [LayerTensor]

    /// A tensor of each layer by its names without the layer's prefix.
    struct LayerTensor: Sendable {
        let source: String
        let target: String
        let shape: Shape
        /// Whether the rows are those of attention heads that the engine rotates.
        var isRotated = false
        /// Whether the tensor may be absent.
        var isOptional = false
    }

    /// The shape of a tensor, rows first.
    enum Shape: Sendable {
        case vector(Length)
        case matrix(Length, Length)
    }

    /// A length by its meaning.
    enum Length: Sendable {
        case width, feedForward, doubleFeedForward, head, queries, keys, queriesKeysValues, vocabulary
    }

    /// The family of a model type.
    /// - Throws: ``ImportError`` with `incompatible` for a type that this version does not know.
    static func of(_ configuration: ModelConfiguration) throws(ImportError) -> Family {
        switch configuration.modelType {
        case "llama", "mistral": return llama
        case "qwen2": return qwen2
        case "qwen2_vl", "qwen2_5_vl": return qwen2VL
        case "qwen3": return qwen3
        case "gemma2": return gemma2
        case "gemma3", "gemma3_text": return gemma3
        case "phi3": return phi3
        case "smollm3": return smollm3
        case "mllama":
            throw .incompatible(
                "Llama 3.2 Vision cannot run: no open engine computes the model type \"mllama\"",
                file: ModelConfiguration.fileName, field: "model_type", found: "mllama",
                remedy: "Choose a model that sees in GGUF form, such as Qwen 2.5 VL or Gemma 3.")
        default:
            throw .incompatible(
                "models of type \(configuration.modelType.quoted) cannot be imported",
                file: ModelConfiguration.fileName, field: "model_type",
                expected: "llama, mistral, qwen2, qwen2_5_vl, qwen3, gemma2, gemma3, phi3 or smollm3",
                found: configuration.modelType)
        }
    }
}

extension Family {
    private static let attention: [LayerTensor] = [
        LayerTensor(
            source: "self_attn.q_proj.weight", target: "attn_q.weight", shape: .matrix(.queries, .width),
            isRotated: true),
        LayerTensor(
            source: "self_attn.k_proj.weight", target: "attn_k.weight", shape: .matrix(.keys, .width), isRotated: true),
        LayerTensor(source: "self_attn.v_proj.weight", target: "attn_v.weight", shape: .matrix(.keys, .width)),
        output,
    ]
    private static let output = LayerTensor(
        source: "self_attn.o_proj.weight", target: "attn_output.weight", shape: .matrix(.width, .queries))
    private static let attentionBiases: [LayerTensor] = [
        LayerTensor(
            source: "self_attn.q_proj.bias", target: "attn_q.bias", shape: .vector(.queries), isRotated: true,
            isOptional: true),
        LayerTensor(
            source: "self_attn.k_proj.bias", target: "attn_k.bias", shape: .vector(.keys), isRotated: true,
            isOptional: true),
        LayerTensor(
            source: "self_attn.v_proj.bias", target: "attn_v.bias", shape: .vector(.keys), isOptional: true),
    ]
    private static let outputBias = LayerTensor(
        source: "self_attn.o_proj.bias", target: "attn_output.bias", shape: .vector(.width), isOptional: true)
    private static let down = LayerTensor(
        source: "mlp.down_proj.weight", target: "ffn_down.weight", shape: .matrix(.width, .feedForward))
    private static let gated: [LayerTensor] = [
        LayerTensor(source: "mlp.gate_proj.weight", target: "ffn_gate.weight", shape: .matrix(.feedForward, .width)),
        LayerTensor(source: "mlp.up_proj.weight", target: "ffn_up.weight", shape: .matrix(.feedForward, .width)),
        down,
    ]
    private static let gatedBiases: [LayerTensor] = [
        LayerTensor(
            source: "mlp.gate_proj.bias", target: "ffn_gate.bias", shape: .vector(.feedForward), isOptional: true),
        LayerTensor(source: "mlp.up_proj.bias", target: "ffn_up.bias", shape: .vector(.feedForward), isOptional: true),
        LayerTensor(source: "mlp.down_proj.bias", target: "ffn_down.bias", shape: .vector(.width), isOptional: true),
    ]
    private static let headNorms: [LayerTensor] = [
        LayerTensor(source: "self_attn.q_norm.weight", target: "attn_q_norm.weight", shape: .vector(.head)),
        LayerTensor(source: "self_attn.k_norm.weight", target: "attn_k_norm.weight", shape: .vector(.head)),
    ]
    private static let inputNorm = norm("input_layernorm", "attn_norm")
    private static let norms: [LayerTensor] = [inputNorm, norm("post_attention_layernorm", "ffn_norm")]
    private static let fourNorms: [LayerTensor] = [
        inputNorm, norm("post_attention_layernorm", "post_attention_norm"),
        norm("pre_feedforward_layernorm", "ffn_norm"), norm("post_feedforward_layernorm", "post_ffw_norm"),
    ]

    private static func norm(_ source: String, _ target: String) -> LayerTensor {
        LayerTensor(source: "\(source).weight", target: "\(target).weight", shape: .vector(.width))
    }

    private static let llama = Family(
        architecture: "llama", interleavesHeads: true,
        layer: norms + attention + attentionBiases + [outputBias] + gated + gatedBiases)
    private static let smollm3 = Family(
        architecture: "smollm3", interleavesHeads: true, layer: norms + attention + gated)
    private static let qwen2 = Family(architecture: "qwen2", layer: norms + attention + attentionBiases + gated)
    private static let qwen2VL = Family(
        architecture: "qwen2vl", projectors: ["qwen2_5_vl"], layer: qwen2.layer)
    private static let qwen3 = Family(architecture: "qwen3", layer: norms + attention + headNorms + gated)
    private static let gemma2 = Family(
        architecture: "gemma2",
        defaults: ["head_dim": 256, "max_position_embeddings": 8192, "num_key_value_heads": 4],
        normShift: 1, activations: ["gelu", "gelu_pytorch_tanh"], layer: fourNorms + attention + gated)
    private static let gemma3 = Family(
        architecture: "gemma3",
        defaults: [
            "head_dim": 256, "max_position_embeddings": 131_072, "num_attention_heads": 8, "num_key_value_heads": 4,
            "vocab_size": 262_208,
        ], normShift: 1, activations: ["gelu", "gelu_pytorch_tanh"], projectors: ["gemma3"],
        layer: fourNorms + attention + headNorms + gated)
    private static let phi3 = Family(
        architecture: "phi3",
        layer: norms + [
            LayerTensor(
                source: "self_attn.qkv_proj.weight", target: "attn_qkv.weight",
                shape: .matrix(.queriesKeysValues, .width)),
            output,
            LayerTensor(
                source: "mlp.gate_up_proj.weight", target: "ffn_up.weight", shape: .matrix(.doubleFeedForward, .width)),
            down,
        ])
}
