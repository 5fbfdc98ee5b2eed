import Foundation
import HearthBase

/// A folder with a model of the Llama family: 64 values wide, 2 layers, 4 heads of 16, weights from a generator.
package struct SmallModel {
    package static let width = 64
    package static let heads = 4
    package static let keyValueHeads = 2
    package static let head = 16
    package static let feedForward = 96
    package static let layers = 2
    package static let vocabulary = 300

    package var configuration: [String: JSONValue] = [
        "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 96,
        "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 300, "max_position_embeddings": 256,
        "rms_norm_eps": .number("1e-05"), "rope_theta": .number("10000.0"), "tie_word_embeddings": true,
        "hidden_act": "silu",
    ]
    /// The bits of quantized matrices in groups of 32; `nil` for floats.
    package var bits: Int?
    /// The type of floats.
    package var type = "F16"
    /// The seed of the weights.
    package var seed: UInt64 = 1

    package init() {}

    /// The weights of all tensors, before the file of one is altered.
    package var weights: SafetensorsBuilder {
        var builder = SafetensorsBuilder()
        var random = SeededGenerator(seed: seed)
        let (queries, keys) = (Self.heads * Self.head, Self.keyValueHeads * Self.head)
        add("model.embed_tokens", [Self.vocabulary, Self.width], to: &builder, &random)
        for layer in 0..<Self.layers {
            let prefix = "model.layers.\(layer)"
            addNorm("\(prefix).input_layernorm", to: &builder, &random)
            add("\(prefix).self_attn.q_proj", [queries, Self.width], to: &builder, &random)
            add("\(prefix).self_attn.k_proj", [keys, Self.width], to: &builder, &random)
            add("\(prefix).self_attn.v_proj", [keys, Self.width], to: &builder, &random)
            add("\(prefix).self_attn.o_proj", [Self.width, queries], to: &builder, &random)
            addNorm("\(prefix).post_attention_layernorm", to: &builder, &random)
            add("\(prefix).mlp.gate_proj", [Self.feedForward, Self.width], to: &builder, &random)
            add("\(prefix).mlp.up_proj", [Self.feedForward, Self.width], to: &builder, &random)
            add("\(prefix).mlp.down_proj", [Self.width, Self.feedForward], to: &builder, &random)
        }
        addNorm("model.norm", to: &builder, &random)
        return builder
    }

    private func addNorm(_ name: String, to builder: inout SafetensorsBuilder, _ random: inout SeededGenerator) {
        let numbers = (0..<Self.width).map { _ in Float.random(in: 0.5...1.5, using: &random) }
        builder.add("\(name).weight", [Self.width], as: type, numbers)
    }

    private func add(
        _ name: String, _ shape: [Int], to builder: inout SafetensorsBuilder, _ random: inout SeededGenerator
    ) {
        guard let bits else {
            let numbers = (0..<shape[0] * shape[1]).map { _ in Float.random(in: -1...1, using: &random) }
            return builder.add("\(name).weight", shape, as: type, numbers)
        }
        let bytes = (0..<shape[0] * shape[1] / 8 * bits).map { _ in UInt8.random(in: 0...255, using: &random) }
        builder.add("\(name).weight", [shape[0], shape[1] / 32 * bits], type: "U32", bytes)
        let groups = shape[0] * shape[1] / 32
        for part in ["scales", "biases"] {
            let numbers = (0..<groups).map { _ in Float(Float16(Float.random(in: -0.1...0.1, using: &random))) }
            builder.add("\(name).\(part)", [shape[0], shape[1] / 32], as: type, numbers)
        }
    }

    /// The contents of `config.json`.
    package var configurationData: Data {
        var members = configuration
        if let bits { members["quantization"] = ["group_size": 32, "bits": .integer(bits)] }
        return Data(JSONValue.object(JSONMembers(members)).text.utf8)
    }

    /// Writes the model into a folder.
    @discardableResult
    package func write(
        to folder: TemporaryFolder, named name: String = "model", weights: SafetensorsBuilder? = nil
    ) throws -> Path {
        try folder.write("\(name)/config.json", configurationData)
        try folder.write("\(name)/tokenizer.json", Self.tokenizer)
        try folder.write("\(name)/model.safetensors", (weights ?? self.weights).data)
        return folder.path(name)
    }

    /// A tokenizer of the 256 bytes and two special tokens, with the rules of GPT-2.
    package static let tokenizer: Data = {
        // The characters that stand for bytes: printable ones for themselves, others from U+0100 on.
        var (vocabulary, other): ([String], UInt32) = ([], 0x100)
        for byte in 0...255 as ClosedRange<UInt32> {
            let isPrintable = (0x21...0x7E).contains(byte) || (0xA1...0xAC).contains(byte) || byte > 0xAD
            let value = isPrintable ? byte : other
            if !isPrintable { other += 1 }
            guard let scalar = UnicodeScalar(value) else { continue }
            vocabulary.append(String(scalar))
        }
        let pairs = vocabulary.enumerated().map { ($0.element, JSONValue.integer($0.offset)) }
        let added = ["<|begin|>", "<|end|>"].enumerated().map { index, text -> JSONValue in
            [
                "id": .integer(256 + index), "content": .string(text), "special": true, "single_word": false,
                "lstrip": false, "rstrip": false, "normalized": false,
            ]
        }
        let value: JSONValue = [
            "version": "1.0", "added_tokens": .array(added), "normalizer": .null,
            "pre_tokenizer": ["type": "ByteLevel", "add_prefix_space": false, "use_regex": true],
            "post_processor": .null, "decoder": ["type": "ByteLevel"],
            "model": [
                "type": "BPE", "vocab": .object(JSONMembers(pairs)), "merges": [], "byte_fallback": false,
                "unk_token": .null,
            ],
        ]
        return Data(value.text.utf8)
    }()
}
