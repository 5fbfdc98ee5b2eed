#if Llama
import CLlama
import CLlamaShim
import Foundation
import HearthBase
import HearthInference

/// Quantizes a GGUF file. llama.cpp's rules choose the type of each tensor.
package enum LlamaQuantizer {
    /// The quantized types.
    package enum Target: String, Sendable, Hashable, CaseIterable {
        case q8_0, q6_k, q5_k_m, q4_k_m, q4_0, f16

        /// The average bits of a weight, as `llama-quantize` prints them for a model of 8 billion weights.
        package var bitsPerWeight: Double {
            switch self {
            case .q8_0: 8.5
            case .q6_k: 6.56
            case .q5_k_m: 5.7
            case .q4_k_m: 4.89
            case .q4_0: 4.66
            case .f16: 16
            }
        }

        fileprivate var type: Int32 {
            switch self {
            case .q8_0: Int32(LLAMA_FTYPE_MOSTLY_Q8_0.rawValue)
            case .q6_k: Int32(LLAMA_FTYPE_MOSTLY_Q6_K.rawValue)
            case .q5_k_m: Int32(LLAMA_FTYPE_MOSTLY_Q5_K_M.rawValue)
            case .q4_k_m: Int32(LLAMA_FTYPE_MOSTLY_Q4_K_M.rawValue)
            case .q4_0: Int32(LLAMA_FTYPE_MOSTLY_Q4_0.rawValue)
            case .f16: Int32(LLAMA_FTYPE_MOSTLY_F16.rawValue)
            }
        }
    }

    /// The version of llama.cpp that quantizes.
    package static var version: String { LlamaLibrary.version }

    /// Checks the header of a file before all of it is read. Blocks.
    /// - Throws: `cannot-load-model` for a file that is no model, or shorter than its header says.
    package static func check(_ source: Path, fileSystem: any FileSystem = LocalFileSystem()) throws {
        try ModelFile.check(source, as: .model, fileSystem: fileSystem)
    }

    /// Writes the weights of a file with fewer bits. Runs on its own thread; cancelling the task stops it before
    /// the next tensor.
    ///
    /// - Parameters:
    ///   - source: a GGUF file.
    ///   - target: the file to write; after a failure an incomplete file remains.
    ///   - kind: the type to write.
    ///   - allowsRequantizing: accepts a file that is already quantized, whose quality is then lost twice.
    ///   - threadCount: the number of computing threads.
    ///   - progress: 0...1, called on that thread.
    /// - Throws: `cannot-load-model` for a file that is no model; `cannot-quantize`; `CancellationError`.
    package static func quantize(
        _ source: Path, to target: Path, as kind: Target, allowsRequantizing: Bool = false,
        threadCount: Int = max(1, ProcessInfo.processInfo.activeProcessorCount - 1),
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws {
        let flag = StopSignal()
        try await withTaskCancellationHandler {
            try Task.checkCancellation()
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let thread = Thread {
                    ThreadName.current = "hearth.quantize"
                    continuation.resume(
                        with: Result {
                            try run(
                                source, target, kind, allowsRequantizing, Int32(clamping: threadCount),
                                ProgressObserver {
                                    progress(Double($0))
                                    return !flag.isSet
                                })
                        })
                }
                thread.stackSize = 8 << 20
                thread.start()
            }
            try Task.checkCancellation()
        } onCancel: {
            flag.cancel()
        }
    }

    private static func run(
        _ source: Path, _ target: Path, _ kind: Target, _ allowsRequantizing: Bool, _ threads: Int32,
        _ observer: ProgressObserver
    ) throws {
        LlamaLibrary.prepare()
        try ModelFile.check(source, as: nil)
        _ = LlamaLog.shared.takeProblems()
        var options = hearth_quantize_options()
        options.type = kind.type
        options.threads = threads
        options.requantize = allowsRequantizing
        options.progress = { ProgressObserver.report($0, to: $1) }
        options.user = Unmanaged.passUnretained(observer).toOpaque()
        var reason: UnsafeMutablePointer<CChar>?
        let isDone = withExtendedLifetime(observer) {
            hearth_model_quantize(source.string, target.string, &options, &reason)
        }
        let why = LoadFailure.reason(reason, else: "llama.cpp does not say why")
        if observer.isStopped { throw CancellationError() }
        guard isDone else {
            throw LLMError(
                .cannotQuantize, "cannot make \(source.lastComponent) smaller: \(why)",
                context: ErrorContext(file: source.string, remedy: "Pull a variant that fits this device."))
        }
        _ = observer.report(1)
    }
}
#endif
