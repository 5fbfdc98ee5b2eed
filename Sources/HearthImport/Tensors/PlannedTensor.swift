import HearthBase

/// A tensor of a GGUF file with its source.
struct PlannedTensor: Sendable {
    private(set) var output: GGUFWriter.Tensor
    let conversion: Conversion
    private(set) var rows: Int
    let columns: Int
    /// The rows of an attention head whose halves are interleaved; 0 for none.
    let head: Int
    private(set) var weights: Place
    private(set) var scales: Place?
    private(set) var biases: Place?

    /// The numbers of a tensor in a shard.
    struct Place: Sendable {
        /// The index of the shard.
        let shard: Int
        var offset: UInt64
        /// The tensor's name in messages.
        let name: String
    }

    init(
        output: GGUFWriter.Tensor, conversion: Conversion, rows: Int, columns: Int, head: Int = 0, weights: Place,
        scales: Place? = nil, biases: Place? = nil
    ) {
        (self.output, self.conversion, self.rows, self.columns) = (output, conversion, rows, columns)
        (self.head, self.weights, self.scales, self.biases) = (head, weights, scales, biases)
    }

    /// One of `count` equal parts of the rows, under a name of its own.
    func part(_ index: Int, of count: Int, name: String) -> PlannedTensor {
        var part = self
        part.rows = rows / count
        let bytes = conversion.rowBytes(columns: columns)
        let first = UInt64(index * part.rows)
        part.weights.offset += first * UInt64(bytes.weights)
        part.scales?.offset += first * UInt64(bytes.scales)
        part.biases?.offset += first * UInt64(bytes.scales)
        var shape = output.shape
        shape[shape.count - 1] = UInt64(part.rows)
        part.output = GGUFWriter.Tensor(name: name, shape: shape, storage: output.storage)
        return part
    }
}
