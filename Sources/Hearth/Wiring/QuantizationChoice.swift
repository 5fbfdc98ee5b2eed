import HearthBase
import HearthDelivery
import HearthInference

/// Which quantisation of a model fits a device, as a value: nothing to do where the file fits as it is.
struct QuantizationChoice: Sendable, Hashable {
    /// A way to store weights, with the bits each takes on average.
    struct Candidate: Sendable, Hashable {
        var name: String
        var bitsPerWeight: Double
    }

    /// From the best to the smallest.
    static let candidates = [
        Candidate(name: "q8_0", bitsPerWeight: 8.5), Candidate(name: "q6_k", bitsPerWeight: 6.56),
        Candidate(name: "q5_k_m", bitsPerWeight: 5.7), Candidate(name: "q4_k_m", bitsPerWeight: 4.89),
        Candidate(name: "q4_0", bitsPerWeight: 4.66),
    ]

    var candidate: Candidate
    /// The bytes the file is going to have, about.
    var predictedSize: UInt64
    /// Whether the file was quantised before, so that its quality suffers twice.
    var isRequantizing: Bool

    /// What is to be made of a file, `nil` where it fits, or where nothing that can be made of it would be loaded.
    ///
    /// What a model needs is what a release without a word from its publisher is said to need: its size, a fifth more for the
    /// KV cache and compute buffers, and 256 MiB for the rest of the program. Where not even the smallest has that much, it is
    /// made if the memory for models holds it: it is loaded with a shorter context.
    /// - Parameters:
    ///   - size: the file's bytes.
    ///   - parameterCount: its weights.
    ///   - deviceMemory: the bytes a model may count on.
    init?(size: UInt64, parameterCount: UInt64, deviceMemory: UInt64) {
        guard parameterCount > 0, size > 0, Self.needed(size) > deviceMemory else { return nil }
        let bits = Double(size) * 8 / Double(parameterCount)
        // A step that saves less than a tenth is not worth the loss.
        let smaller = Self.candidates.filter { $0.bitsPerWeight < bits * 0.9 }
        func predicted(_ candidate: Candidate) -> UInt64 {
            // A tenth more, for the tensors that llama.cpp keeps in more bits.
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

    /// What is going to be made of a release that is still elsewhere, as far as its entry tells.
    ///
    /// A projector is in memory beside the model, and stays as it is. What its publisher asks for beyond the usual it needs
    /// whatever its weights take.
    /// - Parameters:
    ///   - quantization: how its weights are stored, such as `f16`.
    ///   - deviceMemory: the bytes a model may count on.
    init?(_ release: Release, storedAs quantization: String?, deviceMemory: UInt64) {
        guard release.format == .gguf, release.archive == nil,
            // Of a model in pieces llama.cpp would make one.
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

    /// The bits each weight takes on average in files that something smaller can be made of, by `general.file_type`.
    private static let storedBits: [String: Double] = [
        "f32": 32, "f16": 16, "bf16": 16, "q8_0": 8.5, "q6_k": 6.56, "q5_1": 6, "q5_k_m": 5.7, "q5_k_s": 5.54,
        "q5_0": 5.5,
    ]

    private static func needed(_ size: UInt64) -> UInt64 {
        let (sum, isTooMuch) = size.addingReportingOverflow(size / 5 + (256 << 20))
        return isTooMuch ? .max : sum
    }
}
