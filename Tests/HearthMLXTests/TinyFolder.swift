#if MLX
import Foundation
import HearthBase
import HearthInference
import HearthTestSupport

/// A folder with a small model of random weights in MLX's form, always the same for the same choices.
struct TinyFolder {
    enum Family: String, CaseIterable, Sendable {
        case llama, mistral, qwen2, qwen3, gemma2
        case gemma3 = "gemma3_text"

        var isGemma: Bool { self == .gemma2 || self == .gemma3 }
    }

    let folder: TemporaryFolder
    var path: Path { folder.path }

    /// The tokens: 256 bytes, and the control tokens.
    static let vocabulary = 256 + control.count
    static let control = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"] + (0..<61).map { "<|unused\($0)|>" }

    /// The names and numbers of tensors, before they are written.
    struct Tensor {
        let name: String
        let type: String
        let shape: [Int]
        var bytes: Data
    }

    /// Writes a model.
    /// - Parameters:
    ///   - bits: 4 or 8 in groups; 0 for floats.
    ///   - shards: the number of files with weights.
    ///   - padding: characters more in the headers of the files with weights.
    ///   - changes: replaces values of `config.json` by others in JSON.
    ///   - hidden: the length of embeddings.
    ///   - altering: changes the tensors before they are written.
    init(
        _ family: Family = .llama, bits: Int = 4, group: Int = 32, shards: Int = 1, layers: Int = 2,
        hidden: Int = 64, padding: Int = 0, changes: [String: String] = [:],
        altering: (inout [Tensor]) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        var configuration: [String: Any] = [
            "model_type": family.rawValue, "hidden_size": hidden, "num_hidden_layers": layers,
            "intermediate_size": 2 * hidden, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
            "rms_norm_eps": 1e-6, "vocab_size": Self.vocabulary, "max_position_embeddings": 4096,
            "rope_theta": 10000.0, "tie_word_embeddings": family.isGemma, "eos_token_id": 257,
        ]
        if family == .qwen2 { configuration["head_dim"] = hidden / 4 }
        if family.isGemma { configuration["sliding_window"] = 64 }
        if bits > 0 { configuration["quantization"] = ["group_size": group, "bits": bits] }
        for (key, value) in changes {
            configuration[key] = try JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
        }
        try write("config.json", JSONSerialization.data(withJSONObject: configuration))
        try write("tokenizer.json", JSONSerialization.data(withJSONObject: Self.tokenizer))
        try write("tokenizer_config.json", JSONSerialization.data(withJSONObject: Self.tokenizerConfiguration))
        let head = family == .qwen2 ? hidden / 4 : 32
        var maker = WeightMaker(bits: bits, group: group)
        var tensors = maker.tensors(family, layers: layers, hidden: hidden, head: head)
        altering(&tensors)
        for shard in 0..<shards {
            let part = tensors.indices.filter { $0 % shards == shard }.map { tensors[$0] }
            let name =
                shards == 1
                ? "model.safetensors" : String(format: "model-%05d-of-%05d.safetensors", shard + 1, shards)
            try write(name, Self.file(of: part, padding: padding))
        }
    }

    func write(_ name: String, _ data: Data) throws { try folder.write(name, data) }

    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: folder.path(name).string)) }

    /// The bytes of a safetensors file.
    static func file(of tensors: [Tensor], padding: Int = 0) throws -> Data {
        let metadata = ["format": "mlx", "padding": String(repeating: " ", count: padding)]
        var (header, offset): ([String: Any], Int) = (["__metadata__": metadata], 0)
        for tensor in tensors {
            header[tensor.name] = [
                "dtype": tensor.type, "shape": tensor.shape, "data_offsets": [offset, offset + tensor.bytes.count],
            ]
            offset += tensor.bytes.count
        }
        let json = try JSONSerialization.data(withJSONObject: header, options: .sortedKeys)
        var file = Data()
        withUnsafeBytes(of: UInt64(json.count).littleEndian) { file.append(contentsOf: $0) }
        file.append(json)
        for tensor in tensors { file.append(tensor.bytes) }
        return file
    }

    /// A vocabulary of bytes, without merges.
    private static var tokenizer: [String: Any] {
        var vocabulary: [String: Int] = [:]
        // GPT-2's letters for bytes: printable ones stand for themselves, the others follow from 256 on.
        var next = 256
        for byte in 0..<256 {
            let isPrintable = (33...126).contains(byte) || (161...172).contains(byte) || (174...255).contains(byte)
            let scalar = isPrintable ? byte : next
            if !isPrintable { next += 1 }
            vocabulary[String(UnicodeScalar(UInt16(scalar)).map(Character.init) ?? "?")] = byte
        }
        for (index, name) in control.enumerated() { vocabulary[name] = 256 + index }
        let added = control.enumerated().map { index, name -> [String: Any] in
            [
                "id": 256 + index, "content": name, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true,
            ]
        }
        let byteLevel: [String: Any] = [
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true,
        ]
        let digits: [String: Any] = ["type": "Digits", "individual_digits": true]
        return [
            "version": "1.0", "added_tokens": added, "decoder": byteLevel,
            "pre_tokenizer": ["type": "Sequence", "pretokenizers": [digits, byteLevel]],
            "model": [
                "type": "BPE", "fuse_unk": false, "byte_fallback": false, "vocab": vocabulary, "merges": [String](),
            ] as [String: Any],
        ]
    }

    private static let template = """
        {% for message in messages %}\
        {{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}\
        {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}
        """

    private static var tokenizerConfiguration: [String: Any] {
        [
            "tokenizer_class": "GPT2Tokenizer", "eos_token": "<|im_end|>", "bos_token": "<|endoftext|>",
            "chat_template": template,
        ]
    }
}

/// Makes random weights.
struct WeightMaker {
    let bits: Int
    let group: Int
    private var generator = SeededGenerator(seed: 5)

    init(bits: Int, group: Int) { (self.bits, self.group) = (bits, group) }

    mutating func tensors(
        _ family: TinyFolder.Family, layers: Int, hidden: Int, head: Int
    ) -> [TinyFolder.Tensor] {
        let vocabulary = TinyFolder.vocabulary
        var all = matrix("model.embed_tokens", vocabulary, hidden) + [vector("model.norm.weight", hidden, family)]
        if !family.isGemma { all += matrix("lm_head", vocabulary, hidden) }
        for layer in 0..<layers {
            let prefix = "model.layers.\(layer)."
            let attention = prefix + "self_attn."
            for (name, rows, columns) in [
                ("q_proj", 4 * head, hidden), ("k_proj", 2 * head, hidden), ("v_proj", 2 * head, hidden),
                ("o_proj", hidden, 4 * head),
            ] { all += matrix(attention + name, rows, columns) }
            if family == .qwen2 {
                for (name, length) in [("q_proj", 4 * head), ("k_proj", 2 * head), ("v_proj", 2 * head)] {
                    all.append(
                        floats("\(attention)\(name).bias", [length]) { Float.random(in: -0.1...0.1, using: &$0) })
                }
            }
            if family == .qwen3 || family == .gemma3 {
                all += ["q_norm", "k_norm"].map { vector("\(attention)\($0).weight", head, family) }
            }
            for (name, rows, columns) in [
                ("gate_proj", 2 * hidden, hidden), ("up_proj", 2 * hidden, hidden), ("down_proj", hidden, 2 * hidden),
            ] { all += matrix("\(prefix)mlp.\(name)", rows, columns) }
            var norms = ["input_layernorm", "post_attention_layernorm"]
            if family.isGemma { norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"] }
            all += norms.map { vector("\(prefix)\($0).weight", hidden, family) }
        }
        return all
    }

    private mutating func vector(_ name: String, _ length: Int, _ family: TinyFolder.Family) -> TinyFolder.Tensor {
        floats(name, [length]) { Float.random(in: -0.1...0.1, using: &$0) + (family.isGemma ? 0 : 1) }
    }

    private mutating func floats(
        _ name: String, _ shape: [Int], _ value: (inout SeededGenerator) -> Float
    ) -> TinyFolder.Tensor {
        var bytes = Data()
        for _ in 0..<shape.reduce(1, *) {
            withUnsafeBytes(of: value(&generator).bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        }
        return TinyFolder.Tensor(name: name, type: "F32", shape: shape, bytes: bytes)
    }

    /// Random groups, or floats of about the same size.
    private mutating func matrix(_ name: String, _ rows: Int, _ columns: Int) -> [TinyFolder.Tensor] {
        let size = 2 / Float(columns).squareRoot()
        guard bits > 0 else {
            return [floats("\(name).weight", [rows, columns]) { Float.random(in: -size...size, using: &$0) }]
        }
        var words = Data()
        for _ in 0..<rows * columns * bits / 32 {
            let word = UInt32.random(in: 0 ... .max, using: &generator).littleEndian
            withUnsafeBytes(of: word) { words.append(contentsOf: $0) }
        }
        let step = 2 * size / Float(1 << bits)
        return [
            TinyFolder.Tensor(
                name: "\(name).weight", type: "U32", shape: [rows, columns * bits / 32], bytes: words),
            floats("\(name).scales", [rows, columns / group]) { Float.random(in: 0.8 * step...1.2 * step, using: &$0) },
            floats("\(name).biases", [rows, columns / group]) {
                Float.random(in: -1.1 * size ... -0.9 * size, using: &$0)
            },
        ]
    }
}

extension TinyFolder.Tensor {
    /// The numbers of a tensor of floats.
    var numbers: [Float] {
        bytes.withUnsafeBytes { raw in
            (0..<raw.count / 4).map {
                Float(bitPattern: UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)))
            }
        }
    }

    init(name: String, shape: [Int], _ numbers: [Float]) {
        var bytes = Data()
        for number in numbers {
            withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        }
        self.init(name: name, type: "F32", shape: shape, bytes: bytes)
    }
}

extension [TinyFolder.Tensor] {
    /// The same model with every group computed to floats.
    func dequantized(bits: Int, group: Int) -> [TinyFolder.Tensor] {
        let byName = Dictionary(map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return compactMap { tensor in
            if tensor.name.hasSuffix(".scales") || tensor.name.hasSuffix(".biases") { return nil }
            let base = String(tensor.name.dropLast(".weight".count))
            guard let scales = byName["\(base).scales"]?.numbers, let biases = byName["\(base).biases"]?.numbers
            else { return tensor }
            let per = 32 / bits
            let columns = tensor.shape[1] * per
            let words = tensor.numbers.map(\.bitPattern)
            let numbers = (0..<tensor.shape[0] * columns).map { index -> Float in
                let value = words[index / per] >> UInt32(index % per * bits) & (1 << UInt32(bits) - 1)
                return Float(value) * scales[index / group] + biases[index / group]
            }
            return TinyFolder.Tensor(name: tensor.name, shape: [tensor.shape[0], columns], numbers)
        }
    }

    /// The tensors with 16 bits for a number, or with the same numbers in 32.
    func rounded(_ type: String, isWide: Bool) -> [TinyFolder.Tensor] {
        map { tensor in
            let numbers = tensor.numbers.map { number in
                type == "F16" ? Float(Float16(number)) : Float(bitPattern: number.bitPattern & 0xFFFF_0000)
            }
            guard !isWide else { return TinyFolder.Tensor(name: tensor.name, shape: tensor.shape, numbers) }
            let bytes = numbers.map { type == "F16" ? Float16($0).bitPattern : UInt16($0.bitPattern >> 16) }
                .withUnsafeBytes { Data($0) }
            return TinyFolder.Tensor(name: tensor.name, type: type, shape: tensor.shape, bytes: bytes)
        }
    }
}
#endif
