import HearthBase

/// The form of the weights before and after an import, in words.
struct ImportDescription {
    /// The type of most weights.
    let storage: GGUFStorage
    let summary: String
    let notes: [String]

    /// Describes the conversions of a plan.
    init(_ items: [PlannedTensor], kind: ImportCheck.Kind) {
        var weights: [Conversion: Int] = [:]
        for item in items { weights[item.conversion, default: 0] += item.rows * item.columns }
        let main = weights.max { $0.value < $1.value }?.key ?? .copy(byteCount: 2)
        storage = items.first { $0.conversion == main }?.output.storage ?? .f16
        let name = Self.name(storage)
        switch main {
        case .copy, .floats, .kernel: summary = "\(name) as stored"
        case .round(let number): summary = "\(name) from \(Self.name(number.storage))"
        case .affine(let bits, let group, _, _): summary = "\(name) from MLX's \(bits) bits in groups of \(group)"
        case .mxfp4: summary = "\(name) from MLX's MXFP4"
        }
        var notes: [String] = []
        for bits in [6, 8] where weights.keys.contains(where: { $0.bits == bits }) {
            notes.append(
                "Weights of \(bits) bits are rounded to Q8_0, each by at most 1/254 of the largest of its 32 neighbors."
            )
        }
        if weights.keys.contains(where: { if case .round = $0 { true } else { false } }) {
            notes.append("Weights are rounded to Q8_0, each by at most 1/254 of the largest of its 32 neighbors.")
        }
        self.notes = notes
    }

    private static func name(_ storage: GGUFStorage) -> String { "\(storage)".uppercased() }
}

extension Conversion {
    /// The bits of MLX's integers.
    fileprivate var bits: Int? { if case .affine(let bits, _, _, _) = self { bits } else { nil } }
}
