#if MLX
import CMLX
import HearthBase
import HearthImport
import HearthInference

/// Lays a model's parts out for the library.
struct MLXPlan: Sendable {
    let model: NativeModel
    let decoder: MLXDecoder
    let window: Int
    let threads: Int

    /// The bytes of the weights in memory. Scales and biases are kept as 32-bit floats.
    var weightBytes: UInt64 {
        model.parts.values.map { matrix -> UInt64 in
            let count = UInt64(matrix.rows) * UInt64(matrix.columns)
            if let groups = matrix.groups {
                return count / 8 * UInt64(groups.bits) + count / UInt64(groups.size) * 8
            }
            return matrix.columns > 1 && matrix.weights.type != .float32 ? count * 2 : count * 4
        }.saturatedSum
    }

    /// The bytes of the model in memory at most: weights, state and work.
    var totalBytes: UInt64 {
        let feedForward = model.parts["blk.0.ffn_gate.weight"]?.rows ?? 0
        return weightBytes.addingSaturating(decoder.stateBytes(window: window))
            .addingSaturating(decoder.workBytes(window: window, part: 256, feedForward: feedForward))
            .addingSaturating(MLXLibrary.cacheLimit)
    }

    /// Calls `body` with the library's form of the plan, valid during the call.
    func withLayout<Result>(_ body: (UnsafePointer<hearth_mlx_plan>) throws -> Result) throws -> Result {
        var plan = hearth_mlx_plan()
        plan.embedding = try matrix("token_embd")
        plan.head = try model.parts["output.weight"] == nil ? .absent : matrix("output")
        plan.norm = try vector("output_norm.weight")
        plan.hidden = Int32(decoder.hidden)
        plan.heads = Int32(decoder.heads)
        plan.key_heads = Int32(decoder.keyHeads)
        plan.head_length = Int32(decoder.headLength)
        plan.vocabulary = Int32(decoder.vocabulary)
        plan.epsilon = decoder.epsilon
        plan.embedding_scale = decoder.embeddingScale
        plan.query_scale = decoder.queryScale
        plan.attention_cap = decoder.attentionCap
        plan.final_cap = decoder.finalCap
        plan.adds_one = decoder.isGemma
        plan.is_gelu = decoder.isGemma
        plan.context = Int32(clamping: window)
        plan.threads = Int32(clamping: threads)
        let layers = try decoder.layers.enumerated().map { try layer($0.offset, $0.element) }
        let texts = model.files.map { Array($0.string.utf8CString) }
        var starts: [Int] = []
        var bytes: [CChar] = []
        for text in texts {
            starts.append(bytes.count)
            bytes += text
        }
        return try bytes.withUnsafeBufferPointer { bytes in
            let names = starts.map { bytes.baseAddress?.advanced(by: $0) }
            return try names.withUnsafeBufferPointer { names in
                try layers.withUnsafeBufferPointer { layers in
                    try decoder.frequencies.withUnsafeBufferPointer { frequencies in
                        (plan.files, plan.file_count) = (names.baseAddress, names.count)
                        (plan.layers, plan.layer_count) = (layers.baseAddress, layers.count)
                        plan.frequencies = frequencies.isEmpty ? nil : frequencies.baseAddress
                        return try body(&plan)
                    }
                }
            }
        }
    }

    private func layer(_ index: Int, _ rules: MLXDecoder.Layer) throws -> hearth_mlx_layer {
        let prefix = "blk.\(index)."
        var layer = hearth_mlx_layer()
        layer.query = try matrix(prefix + "attn_q")
        layer.key = try matrix(prefix + "attn_k")
        layer.value = try matrix(prefix + "attn_v")
        layer.output = try matrix(prefix + "attn_output")
        layer.gate = try matrix(prefix + "ffn_gate")
        layer.up = try matrix(prefix + "ffn_up")
        layer.down = try matrix(prefix + "ffn_down")
        layer.before_attention = try vector(prefix + "attn_norm.weight")
        layer.after_attention = part(prefix + "post_attention_norm.weight")
        layer.before_feed = try vector(prefix + "ffn_norm.weight")
        layer.after_feed = part(prefix + "post_ffw_norm.weight")
        layer.query_norm = part(prefix + "attn_q_norm.weight")
        layer.key_norm = part(prefix + "attn_k_norm.weight")
        layer.rope_base = rules.ropeBase
        layer.rope_scale = rules.ropeScale
        layer.has_frequencies = rules.hasFactors
        layer.window = Int32(clamping: rules.window)
        return layer
    }

    private func matrix(_ name: String) throws(LLMError) -> hearth_mlx_matrix {
        guard let found = model.parts["\(name).weight"] else { throw missing(name) }
        var matrix = hearth_mlx_matrix.absent
        matrix.weight = found.weights.layout
        matrix.bias = part("\(name).bias")
        (matrix.rows, matrix.columns) = (Int32(clamping: found.rows), Int32(clamping: found.columns))
        guard let groups = found.groups else {
            guard found.columns.isMultiple(of: 32) else {
                throw unfit(name, "its rows have \(found.columns) numbers", "a multiple of 32")
            }
            return matrix
        }
        guard [4, 8].contains(groups.bits) else { throw unfit(name, "it has \(groups.bits) bits", "4 or 8 bits") }
        (matrix.scales, matrix.biases) = (groups.scales.layout, groups.biases.layout)
        (matrix.bits, matrix.group) = (Int32(groups.bits), Int32(groups.size))
        return matrix
    }

    private func vector(_ name: String) throws(LLMError) -> hearth_mlx_part {
        guard let found = model.parts[name] else { throw missing(name) }
        return found.weights.layout
    }

    private func part(_ name: String) -> hearth_mlx_part { model.parts[name]?.weights.layout ?? .absent }

    private func missing(_ name: String) -> LLMError { unfit(name, "it is missing", nil) }

    private func unfit(_ name: String, _ problem: String, _ expected: String?) -> LLMError {
        LLMError(
            .cannotLoad, "MLX does not compute this model here: the tensor \(name.quoted) does not fit, \(problem)",
            context: ErrorContext(
                file: model.files.first?.string, field: name, expected: expected,
                remedy: "Use the model as it is imported."))
    }
}

extension hearth_mlx_part {
    fileprivate static var absent: Self { Self(file: -1, type: HEARTH_MLX_FLOAT32, offset: 0) }
}

extension hearth_mlx_matrix {
    fileprivate static var absent: Self {
        Self(
            weight: .absent, scales: .absent, biases: .absent, bias: .absent, rows: 0, columns: 0, bits: 0, group: 0)
    }
}

extension NativeModel.Part {
    fileprivate var layout: hearth_mlx_part {
        let type =
            switch self.type {
            case .float16: HEARTH_MLX_FLOAT16
            case .bfloat16: HEARTH_MLX_BFLOAT16
            case .uint32: HEARTH_MLX_UINT32
            default: HEARTH_MLX_FLOAT32
            }
        return hearth_mlx_part(file: Int32(clamping: file), type: type, offset: offset)
    }
}
#endif
