#if Llama
import CLlama
import CLlamaShim
import HearthBase
import HearthInference

extension ModelFile {
    /// Reads all weights of a model or projector, and of all parts of a split model.
    ///
    /// Damage in one layer may not show in an answer: some computations turn a value that is no number into a wrong
    /// one.
    /// - Parameter progress: called about once a megabyte; `false` ends the reading.
    /// - Throws: `not-finite` for a weight that is NaN or infinite; `cannot-load-model` for a file that cannot be read;
    ///   `CancellationError`.
    static func checkWeights(_ path: Path, _ progress: @escaping (Float) -> Bool) throws {
        let header = try GGUFHeader(file: path, extent: .metadata)
        for part in header.parts(at: path) ?? [path] { try checkWeights(ofFile: part, progress) }
    }

    private static func checkWeights(ofFile path: Path, _ progress: @escaping (Float) -> Bool) throws {
        let observer = ProgressObserver(progress)
        var (name, reason): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
        let isSound = withExtendedLifetime(observer) {
            hearth_weights_check(
                path.string, { ProgressObserver.report($0, to: $1) },
                Unmanaged.passUnretained(observer).toOpaque(), &name, &reason)
        }
        let (tensor, problem) = (String(taking: name), String(taking: reason))
        if observer.isStopped { throw CancellationError() }
        if let tensor {
            throw LLMError(
                .notFinite, "the weights \(tensor) of \(path.lastComponent) hold values that are no numbers",
                context: ErrorContext(
                    file: path.string, field: tensor,
                    remedy: "Verify the file; if it is whole, use another model: its publisher must correct it."))
        }
        if !isSound { throw failure(path, problem ?? "its weights cannot be read") }
    }
}
#endif
