import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthImport

/// Configurations that are refused or read before any weights are.
@Suite struct ConfigurationTests {
    /// A configuration of the Llama family with members replaced; `nil` removes one.
    private static func data(_ changes: [String: JSONValue?]) -> Data {
        var members = SmallModel().configuration
        for (key, value) in changes { members[key] = value }
        return Data(JSONValue.object(JSONMembers(members)).line.utf8)
    }

    private static func error(_ changes: [String: JSONValue?]) -> ImportError? {
        do {
            _ = try ImportCheck(configuration: data(changes))
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        ("llama", "llama"), ("mistral", "llama"), ("qwen2", "qwen2"), ("qwen3", "qwen3"), ("gemma2", "gemma2"),
        ("gemma3_text", "gemma3"), ("phi3", "phi3"), ("smollm3", "smollm3"),
    ]) func knownTypesHaveAnArchitecture(_ type: String, _ architecture: String) throws {
        let act: JSONValue = type.hasPrefix("gemma") ? "gelu_pytorch_tanh" : "silu"
        let head: JSONValue? = type.hasPrefix("gemma") ? 16 : nil
        let check = try ImportCheck(
            configuration: Self.data(["model_type": .string(type), "hidden_act": act, "head_dim": head]))
        #expect(check.architecture == architecture)
        #expect(check.modelType == type)
        #expect(check.kind == .safetensors)
    }

    @Test(arguments: ["mllama", "llama4", "mamba", "deepseek_v3", "qwen3_moe", "bert", "LLAMA", "../llama"])
    func otherTypesAreRefusedByName(_ type: String) {
        let error = Self.error(["model_type": .string(type)])
        #expect(error?.code == .incompatible)
        #expect(error?.context.field == "model_type")
        #expect(error?.context.found == type)
    }

    @Test(
        arguments: [
            ["bits": 7, "group_size": 64], ["bits": 1, "group_size": 64], ["bits": 4, "group_size": 16],
            ["bits": 4, "group_size": 48], ["bits": 4, "group_size": 1024],
            ["bits": 4, "group_size": 16, "mode": "nvfp4"],
            ["bits": 8, "group_size": 32, "mode": "mxfp8"], ["bits": 4, "group_size": 64, "mode": "mxfp4"],
            ["bits": 4, "group_size": 64, "lm_head": ["bits": 4, "group_size": 16]],
        ] as [JSONValue]) func otherQuantizationsAreRefusedByName(_ quantization: JSONValue)
    {
        #expect(Self.error(["quantization": quantization])?.code == .incompatible)
    }

    @Test(arguments: [
        "gptq", "awq", "bitsandbytes", "fp8", "compressed-tensors", "mxfp4",
    ]) func quantizationsOfOthersAreRefusedByName(_ method: String) {
        let error = Self.error(["quantization_config": ["quant_method": .string(method), "bits": 4, "group_size": 32]])
        #expect(error?.code == .incompatible)
        #expect(error?.context.found == method)
    }

    @Test(
        arguments: [
            1, [], ["bits": "4", "group_size": 64], ["bits": -4, "group_size": 64], ["group_size": 64],
            ["bits": 4, "group_size": 64, "lm_head": [1]],
        ] as [JSONValue]) func quantizationsThatAreNoneAreDamaged(_ quantization: JSONValue)
    {
        #expect(Self.error(["quantization": quantization])?.code == .damaged)
    }

    @Test func entriesOfSingleTensorsReplaceTheOthers() throws {
        let check = try ImportCheck(
            configuration: Self.data([
                "quantization": [
                    "group_size": 64, "bits": 4, "model.embed_tokens": ["group_size": 32, "bits": 6], "lm_head": false,
                ]
            ]))
        #expect(check.kind == .mlx)
        #expect(check.quantization?.form == Quantization.Form(mode: .affine, bits: 4, groupSize: 64))
        #expect(
            check.quantization?.entries == [
                "model.embed_tokens": Quantization.Form(mode: .affine, bits: 6, groupSize: 32)
            ])
    }

    @Test(arguments: [
        ("hidden_size", "\"64\""), ("hidden_size", "0"), ("hidden_size", "-64"), ("hidden_size", "64.0"),
        ("hidden_size", "1e9"), ("hidden_size", "99999999999999999999"), ("num_hidden_layers", "100000"),
        ("num_attention_heads", "0"), ("num_key_value_heads", "3"), ("head_dim", "15"), ("vocab_size", "4294967296"),
        ("max_position_embeddings", "-1"), ("rms_norm_eps", "0"), ("rms_norm_eps", "1e999"), ("rope_theta", "-1"),
        ("rope_theta", "\"x\""), ("tie_word_embeddings", "1"), ("sliding_window", "0"),
    ]) func valuesOutOfRangeAreDamaged(_ key: String, _ text: String) throws {
        let value = try JSONValue(parsing: text)
        // The flag is read with the weights.
        guard key != "tie_word_embeddings" else {
            let configuration = try ModelConfiguration(parsing: Self.data([key: value]))
            #expect(throws: ImportError.self) { try configuration.flag(key) }
            return
        }
        let error = Self.error([key: value])
        #expect(error?.code == .damaged)
        #expect(error?.context.field == key)
    }

    @Test(arguments: [
        "hidden_size", "num_hidden_layers", "intermediate_size", "num_attention_heads", "vocab_size",
        "max_position_embeddings", "model_type",
    ]) func missingValuesAreNamed(_ key: String) {
        let error = Self.error([key: .null])
        #expect(error?.code == (key == "model_type" ? .incompatible : .damaged))
        #expect(error?.context.field == key)
    }

    @Test(arguments: ["", "[]", "nul", "{\"model_type\":\"llama\"", "{\"a\":1,\"a\":2}"])
    func filesThatAreNoConfigurationAreDamaged(_ text: String) {
        let error = #expect(throws: ImportError.self) { try ImportCheck(configuration: Data(text.utf8)) }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: [
        ("hidden_act", "relu2"), ("partial_rotary_factor", "half"), ("rope_scaling", "other"),
    ]) func computationsThatTheEngineLacksAreRefused(_ key: String, _ value: String) {
        let values: [String: JSONValue] = [
            "relu2": "relu2", "half": .number("0.5"), "other": ["rope_type": "ntk-by-parts", "factor": 2],
        ]
        #expect(Self.error([key: values[value]])?.code == .incompatible)
    }

    @Test func aVisionModelsTextHalfIsRead() throws {
        let text: JSONValue = [
            "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
            "sliding_window": 1024, "rope_scaling": ["factor": .number("8.0"), "rope_type": "linear"],
        ]
        let data = Data(
            JSONValue.object(["model_type": "gemma3", "text_config": text, "vision_config": [:]]).line.utf8)
        let check = try ImportCheck(configuration: data)
        #expect(check.architecture == "gemma3")
        #expect(check.dimensions.heads == 8)
        #expect(check.dimensions.head == 256)
        #expect(check.notes.isEmpty)
        let facts = Dictionary(uniqueKeysWithValues: check.facts.metadata.map { ($0.key, $0.value) })
        #expect(facts["gemma3.rope.freq_base"] == .float32(1e6))
        #expect(facts["gemma3.rope.freq_base_swa"] == .float32(1e4))
        #expect(facts["gemma3.rope.scaling.type"] == .string("linear"))
        #expect(facts["gemma3.attention.sliding_window_pattern"] == .uint32(6))
    }
}
