import HearthBase

/// The tensors of what a model sees with, and where each comes from.
struct ProjectorPlan: Sendable {
    private(set) var items: [PlannedTensor] = []
    private var reader: TensorReader
    private let facts: ProjectorFacts

    /// Finds the source of every tensor of a tower.
    /// - Throws: ``ImportError`` with `damaged` for a tensor that is missing or of another shape.
    init(
        _ sources: SourceTensors, _ facts: ProjectorFacts, _ quantization: Quantization?
    ) throws(ImportError) {
        reader = TensorReader(sources, quantization, target: .asStored)
        self.facts = facts
        switch facts.tower {
        case .gemma3: try addGemma()
        case .qwen25: try addQwen()
        }
    }

    private mutating func addGemma() throws(ImportError) {
        let (width, tower) = (facts.width, "vision_tower.vision_model")
        items.append(
            try reader.kernel(
                "\(tower).embeddings.patch_embedding.weight", as: "v.patch_embd.weight", rows: width,
                Conversion.Patch(size: facts.patch)))
        try addVector("\(tower).embeddings.patch_embedding.bias", "v.patch_embd.bias")
        let patches = facts.image / facts.patch
        items.append(
            try reader.floats(
                "\(tower).embeddings.position_embedding.weight", as: "v.position_embd.weight",
                rows: patches * patches, columns: width))
        for layer in 0..<facts.layers {
            let (from, to) = ("\(tower).encoder.layers.\(layer)", "v.blk.\(layer)")
            try addNorm("\(from).layer_norm1", "\(to).ln1")
            try addNorm("\(from).layer_norm2", "\(to).ln2")
            for (source, output) in [
                ("q_proj", "attn_q"), ("k_proj", "attn_k"), ("v_proj", "attn_v"), ("out_proj", "attn_out"),
            ] {
                try addLinear("\(from).self_attn.\(source)", "\(to).\(output)", rows: width, columns: width)
            }
            try addLinear("\(from).mlp.fc1", "\(to).ffn_up", rows: facts.feedForward, columns: width)
            try addLinear("\(from).mlp.fc2", "\(to).ffn_down", rows: width, columns: facts.feedForward)
        }
        try addNorm("\(tower).post_layernorm", "v.post_ln")
        items.append(
            try reader.floats(
                "multi_modal_projector.mm_input_projection_weight", as: "mm.input_projection.weight", rows: width,
                columns: facts.textWidth))
        items.append(
            try reader.vector(
                "multi_modal_projector.mm_soft_emb_norm.weight", as: "mm.soft_emb_norm.weight", count: width, shift: 1))
    }

    private mutating func addQwen() throws(ImportError) {
        let width = facts.width
        // The engine adds the kernels of two frames, as if every picture were two of them.
        for frame in 0..<2 {
            items.append(
                try reader.kernel(
                    "visual.patch_embed.proj.weight", as: "v.patch_embd.weight\(frame == 0 ? "" : ".1")", rows: width,
                    Conversion.Patch(frames: 2, frame: frame, size: facts.patch)))
        }
        for layer in 0..<facts.layers {
            let (from, to) = ("visual.blocks.\(layer)", "v.blk.\(layer)")
            try addVector("\(from).norm1.weight", "\(to).ln1.weight")
            try addVector("\(from).norm2.weight", "\(to).ln2.weight")
            let weights = try reader.matrix(
                "\(from).attn.qkv.weight", as: "", rows: 3 * width, columns: width)
            let biases = try reader.vector("\(from).attn.qkv.bias", as: "", count: 3 * width)
            for (index, name) in ["attn_q", "attn_k", "attn_v"].enumerated() {
                items.append(weights.part(index, of: 3, name: "\(to).\(name).weight"))
                items.append(biases.part(index, of: 3, name: "\(to).\(name).bias"))
            }
            try addLinear("\(from).attn.proj", "\(to).attn_out", rows: width, columns: width)
            try addLinear("\(from).mlp.gate_proj", "\(to).ffn_gate", rows: facts.feedForward, columns: width)
            try addLinear("\(from).mlp.up_proj", "\(to).ffn_up", rows: facts.feedForward, columns: width)
            try addLinear("\(from).mlp.down_proj", "\(to).ffn_down", rows: width, columns: facts.feedForward)
        }
        try addVector("visual.merger.ln_q.weight", "v.post_ln.weight")
        try addLinear("visual.merger.mlp.0", "mm.0", rows: 4 * width, columns: 4 * width)
        try addLinear("visual.merger.mlp.2", "mm.2", rows: facts.textWidth, columns: 4 * width)
    }

    /// Adds a matrix and its biases.
    private mutating func addLinear(
        _ source: String, _ output: String, rows: Int, columns: Int
    ) throws(ImportError) {
        items.append(
            try reader.matrix("\(source).weight", as: "\(output).weight", rows: rows, columns: columns))
        items.append(try reader.vector("\(source).bias", as: "\(output).bias", count: rows))
    }

    /// Adds the factors and biases of a norm.
    private mutating func addNorm(_ source: String, _ output: String) throws(ImportError) {
        try addVector("\(source).weight", "\(output).weight")
        try addVector("\(source).bias", "\(output).bias")
    }

    private mutating func addVector(_ source: String, _ output: String) throws(ImportError) {
        items.append(try reader.vector(source, as: output, count: facts.width))
    }
}
