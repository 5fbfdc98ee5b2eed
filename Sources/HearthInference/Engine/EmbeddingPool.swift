/// The way in which the vectors of a text's tokens become one (the pooling types of GGUF, as far as they give a vector).
package enum EmbeddingPooling: UInt32, Sendable, Hashable {
    case mean = 1
    /// The first token's, as in BERT.
    case first = 2
    case last = 3
}

/// Pools vectors one by one, so that no more than one needs to be held.
package struct EmbeddingPool: Sendable, Hashable {
    /// The way in which the vectors become one.
    package let pooling: EmbeddingPooling
    private var sum: [Double]
    /// The vectors taken until now.
    package private(set) var count = 0

    /// An empty pool for vectors of the given length.
    package init(_ pooling: EmbeddingPooling, length: Int) {
        self.pooling = pooling
        sum = [Double](repeating: 0, count: length)
    }

    /// Takes the next token's vector, of the pool's length.
    package mutating func append(_ vector: some Collection<Float>) {
        precondition(vector.count == sum.count, "a vector of another length")
        defer { count += 1 }
        switch pooling {
        case .mean: for (index, value) in zip(sum.indices, vector) { sum[index] += Double(value) }
        case .first: if count == 0 { sum = vector.map { Double($0) } }
        case .last: sum = vector.map { Double($0) }
        }
    }

    /// The pooled vector, scaled to length 1; `nil` if it has no direction: of no vectors, all zero, or not finite.
    package var normalised: [Float]? {
        // Scaled by the largest first, so that no square overflows or vanishes.
        let largest = sum.reduce(0) { max($0, $1.magnitude) }
        guard count > 0, largest > 0, largest.isFinite, !sum.contains(where: \.isNaN) else { return nil }
        let length = sum.reduce(0) { $0 + ($1 / largest) * ($1 / largest) }.squareRoot() * largest
        return sum.map { Float($0 / length) }
    }
}
