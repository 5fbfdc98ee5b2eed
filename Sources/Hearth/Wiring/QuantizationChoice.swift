import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

/// The quantization that makes a model fit a device; `nil` if the file fits as published.
struct QuantizationChoice: Sendable, Hashable {
    /// A quantization with its average bits per weight.
    struct Candidate: Sendable, Hashable {
        var name: String
        var bitsPerWeight: Double
    }

    /// Sorted from the best to the smallest.
    static let candidates = [
        Candidate(name: "q8_0", bitsPerWeight: 8.5), Candidate(name: "q6_k", bitsPerWeight: 6.56),
        Candidate(name: "q5_k_m", bitsPerWeight: 5.7), Candidate(name: "q4_k_m", bitsPerWeight: 4.89),
        Candidate(name: "q4_0", bitsPerWeight: 4.66),
    ]

    var candidate: Candidate
    /// The estimated size of the quantized file, in bytes.
    var predictedSize: UInt64
    /// Whether the source is already quantized, which reduces the quality twice.
    var isRequantizing: Bool

    /// Chooses a quantization; `nil` if the file fits, or if no quantization would fit.
    ///
    /// The memory needed is estimated as for a release without a figure from its publisher: its size, a fifth more
    /// for the KV cache and compute buffers, and 256 MiB for the rest of the program. If even the smallest needs
    /// more, it is chosen if the budget for models holds its weights, with a shorter context.
    /// - Parameters:
    ///   - size: the size of the file, in bytes.
    ///   - parameterCount: the number of weights.
    ///   - deviceMemory: the bytes available to a model.
    init?(size: UInt64, parameterCount: UInt64, deviceMemory: UInt64) {
        guard parameterCount > 0, size > 0, Self.needed(size) > deviceMemory else { return nil }
        let bits = Double(size) * 8 / Double(parameterCount)
        // Saving less than a tenth is not worth the loss of quality.
        let smaller = Self.candidates.filter { $0.bitsPerWeight < bits * 0.9 }
        func predicted(_ candidate: Candidate) -> UInt64 {
            // A tenth more, as llama.cpp stores some tensors with more bits.
            let bytes = Double(parameterCount) * candidate.bitsPerWeight / 8 * 1.1
            return bytes < Double(size) ? UInt64(bytes) : size
        }
        let budget = MemoryPlan.Device(memory: deviceMemory).budget
        let best =
            smaller.first { Self.needed(predicted($0)) <= deviceMemory }
            ?? smaller.last.flatMap { predicted($0) <= budget ? $0 : nil }
        guard let best else { return nil }
        candidate = best
        predictedSize = predicted(best)
        isRequantizing = bits < 15
    }

    /// Predicts the quantization of a remote release from its catalog entry.
    ///
    /// A projector is loaded beside the model and not quantized. A publisher's extra memory does not depend on the
    /// weights' size.
    /// - Parameters:
    ///   - quantization: the type of its weights, such as `f16`.
    ///   - deviceMemory: the bytes available to a model.
    init?(_ release: Release, storedAs quantization: String?, deviceMemory: UInt64) {
        guard release.format == .gguf, release.archive == nil,
            // llama.cpp would join the parts of a split model into one file.
            !release.companions.contains(where: { $0.role == .shard }),
            let bits = quantization.flatMap({ Self.storedBits[$0.lowercased()] })
        else { return nil }
        let usual = Self.needed(release.totalSize)
        var memory = deviceMemory
        for taken in [
            release.companions.first { $0.role == .projector }?.size.estimate ?? 0,
            max(release.requirements.memoryBytes ?? 0, usual) - usual,
        ] { memory -= min(memory, taken) }
        let size = release.file.size.estimate
        let count = Double(size) * 8 / bits
        self.init(size: size, parameterCount: count < 1e18 ? UInt64(count) : 0, deviceMemory: memory)
    }

    /// The average bits per weight of files that can be quantized, by `general.file_type`.
    private static let storedBits: [String: Double] = [
        "f32": 32, "f16": 16, "bf16": 16, "q8_0": 8.5, "q6_k": 6.56, "q5_1": 6, "q5_k_m": 5.7, "q5_k_s": 5.54,
        "q5_0": 5.5,
    ]

    private static func needed(_ size: UInt64) -> UInt64 {
        let (sum, isTooMuch) = size.addingReportingOverflow(size / 5 + (256 << 20))
        return isTooMuch ? .max : sum
    }
}
