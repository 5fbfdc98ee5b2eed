import HearthBase

/// Some rows of a tensor: the unit of work, of memory and of the journal.
struct ImportSlab: Sendable {
    /// The index of the tensor among the plan's items.
    let item: Int
    let firstRow: Int
    let rows: Int
    /// The bytes of the weights, of the scales, and of the result.
    let weightBytes: Int
    let scaleBytes: Int
    let outputBytes: Int

    /// The most bytes of a unit of rows: a row, or the rows of an attention head.
    static let maximumByteCount = 48 << 20

    /// Divides tensors into slabs, in their order.
    /// - Parameter byteCount: the most bytes of a slab of several units of rows.
    /// - Throws: ``ImportError`` with `incompatible` for rows that are too large to be converted at once.
    static func all(of items: [PlannedTensor], byteCount: Int) throws(ImportError) -> [ImportSlab] {
        var slabs: [ImportSlab] = []
        for (index, item) in items.enumerated() {
            let (weights, scales) = item.conversion.rowBytes(columns: item.columns)
            let block = item.output.storage.block
            // A vector's rows have one number each.
            let output = item.columns * Int(block.bytes) / Int(block.length)
            let unit = max(1, item.head)
            let bytes = (weights + 2 * scales + output) * unit
            guard bytes <= maximumByteCount else {
                throw .incompatible(
                    "the rows of a tensor are too large to be converted", field: item.weights.name,
                    expected: "at most \(maximumByteCount) bytes", found: "\(bytes)")
            }
            let step = unit * max(1, byteCount / max(1, bytes))
            for first in stride(from: 0, to: item.rows, by: step) {
                let rows = min(step, item.rows - first)
                slabs.append(
                    ImportSlab(
                        item: index, firstRow: first, rows: rows, weightBytes: rows * weights,
                        scaleBytes: rows * scales, outputBytes: rows * output))
            }
        }
        return slabs
    }
}
