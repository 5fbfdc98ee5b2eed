import HearthBase

/// The tensors of a text model, and where each comes from.
struct TensorPlan: Sendable {
    private(set) var items: [PlannedTensor] = []

    /// Finds the source of every tensor of a model.
    /// - Throws: ``ImportError`` with `damaged` for a tensor that is missing, of another shape or type than the
    ///   configuration says; with `incompatible` for a tensor that the family does not have.
    init(
        _ sources: SourceTensors, _ family: Family, _ dimensions: Dimensions, _ quantization: Quantization?,
        isTied: Bool?, target: ImportTarget
    ) throws(ImportError) {
        var reader = TensorReader(sources, quantization, target: target)
        let (width, vocabulary) = (dimensions.width, dimensions.vocabulary)
        items.append(
            try reader.matrix(
                "model.embed_tokens.weight", as: "token_embd.weight", rows: vocabulary, columns: width))
        items.append(
            try reader.vector(
                "model.norm.weight", as: "output_norm.weight", count: width, shift: family.normShift))
        let head = "lm_head.weight"
        if isTied == false || (isTied == nil && sources[head] != nil) {
            items.append(try reader.matrix(head, as: "output.weight", rows: vocabulary, columns: width))
        }
        for layer in 0..<dimensions.layers {
            for tensor in family.layer {
                let source = "model.layers.\(layer).\(tensor.source)"
                if tensor.isOptional, sources[source] == nil { continue }
                let output = "blk.\(layer).\(tensor.target)"
                let head = tensor.isRotated && family.interleavesHeads ? dimensions.head : 0
                switch tensor.shape {
                case .vector(let length):
                    let shift = source.hasSuffix("norm.weight") ? family.normShift : 0
                    items.append(
                        try reader.vector(source, as: output, count: dimensions[length], head: head, shift: shift))
                case .matrix(let rows, let columns):
                    items.append(
                        try reader.matrix(
                            source, as: output, rows: dimensions[rows], columns: dimensions[columns], head: head))
                }
            }
        }
        // The embeddings are the head of a tied model; a copy of them is left out.
        for name in sources.names where !reader.used.contains(name) && !name.hasPrefix("lm_head.") {
            throw .incompatible(
                "the tensor \(name.quoted) has no place in the architecture \(family.architecture.quoted)",
                file: sources[name]?.file, field: name)
        }
    }
}

extension Dimensions {
    /// The number of a length.
    subscript(length: Family.Length) -> Int {
        switch length {
        case .width: width
        case .feedForward: feedForward
        case .doubleFeedForward: 2 * feedForward
        case .head: head
        case .queries: heads * head
        case .keys: keyValueHeads * head
        case .queriesKeysValues: (heads + 2 * keyValueHeads) * head
        case .vocabulary: vocabulary
        }
    }
}
