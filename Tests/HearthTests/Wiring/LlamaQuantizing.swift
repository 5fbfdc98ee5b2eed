#if Llama
import HearthBase
import HearthLlama

/// Makes a large file of a small one, which only tests want.
enum LlamaQuantizing {
    static func makeF16(
        of source: Path, at target: Path, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws {
        try await LlamaQuantizer.quantize(
            source, to: target, as: .f16, allowsRequantizing: true, progress: progress)
    }
}
#endif
