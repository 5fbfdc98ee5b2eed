import HearthInference
import Testing

@Suite struct EmbeddingPoolTests {
    private func pooled(_ pooling: EmbeddingPooling, _ vectors: [[Float]]) -> [Float]? {
        var pool = EmbeddingPool(pooling, length: 2)
        for vector in vectors { pool.append(vector) }
        return pool.normalised
    }

    @Test func poolsAsItIsTold() {
        let vectors: [[Float]] = [[3, 4], [0, 1], [-3, 0]]
        #expect(pooled(.first, vectors) == [0.6, 0.8])
        #expect(pooled(.last, vectors) == [-1, 0])
        #expect(pooled(.mean, vectors) == [0, 1])
    }

    @Test(
        arguments: [[], [[0, 0]], [[1, 0], [-1, 0]], [[.nan, 1]], [[.infinity, 1]]] as [[[Float]]])
    func givesNothingWithoutADirection(vectors: [[Float]]) { #expect(pooled(.mean, vectors) == nil) }

    @Test(arguments: [1e-38, 1e38] as [Float])
    func keepsTheDirectionOfTheVerySmallAndLarge(size: Float) throws {
        let vector = try #require(pooled(.mean, [[size, size]]))
        #expect(vector.allSatisfy { abs($0 - 0.7071) < 1e-3 })
    }
}
