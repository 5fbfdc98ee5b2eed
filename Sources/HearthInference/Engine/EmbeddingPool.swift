/// How the vectors of a text's tokens become one vector: the pooling types of GGUF that give a vector.
package enum EmbeddingPooling: UInt32, Sendable, Hashable {
    case mean = 1
    /// The first token's vector, as in BERT.
    case first = 2
    case last = 3
}

/// Pools vectors one by one, so that only one is in memory.
package struct EmbeddingPool: Sendable, Hashable {
    /// The pooling of the vectors.
    package let pooling: EmbeddingPooling
    private var sum: [Double]
    /// The number of vectors so far.
    package private(set) var count = 0

    /// An empty pool for vectors of the given length.
    package init(_ pooling: EmbeddingPooling, length: Int) {
        self.pooling = pooling
        sum = [Double](repeating: 0, count: length)
    }

    /// Adds the next token's vector, of the pool's length.
    package mutating func append(_ vector: some Collection<Float>) {
        precondition(vector.count == sum.count, "a vector of another length")
        defer { count += 1 }
        switch pooling {
        case .mean: for (index, value) in zip(sum.indices, vector) { sum[index] += Double(value) }
        case .first: if count == 0 { sum = vector.map { Double($0) } }
        case .last: sum = vector.map { Double($0) }
        }
    }

    /// The pooled vector, scaled to length 1. `nil` if it has no direction: without vectors, all zero, or not finite.
    package var normalised: [Float]? {
        // Scaled by the largest number first, so that no square overflows or underflows.
        let largest = sum.reduce(0) { max($0, $1.magnitude) }
        guard count > 0, largest > 0, largest.isFinite, !sum.contains(where: \.isNaN) else { return nil }
        let length = sum.reduce(0) { $0 + ($1 / largest) * ($1 / largest) }.squareRoot() * largest
        return sum.map { Float($0 / length) }
    }
}
