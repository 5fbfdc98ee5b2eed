#if MLX
import CMLX
import HearthBase
import HearthImport
import HearthInference
import HearthLlama

/// A model in MLX's memory with the state of one sequence. Only one thread at a time uses it.
final class MLXComputer: TokenComputer {
    private let library: MLXLibrary
    private let raw: OpaquePointer
    let vocabularySize: Int
    private let description: String

    /// Reads the weights. Blocks.
    /// - Parameters:
    ///   - description: the model in messages.
    ///   - progress: 0...1; `false` ends the load.
    /// - Throws: `cannot-load-model`; `CancellationError`.
    init(
        _ library: MLXLibrary, _ plan: MLXPlan, description: String, progress: @escaping (Float) -> Bool
    ) throws {
        let watcher = Watcher(progress)
        var error = hearth_mlx_error()
        let raw = try plan.withLayout { layout in
            withExtendedLifetime(watcher) {
                library.table.pointee.load(
                    layout, { Watcher.report($0, to: $1) }, Unmanaged.passUnretained(watcher).toOpaque(), &error)
            }
        }
        guard let raw else {
            // Nothing of a load that ended early stays in memory.
            library.table.pointee.clear_cache()
            if error.kind == HEARTH_MLX_NONE { throw CancellationError() }
            throw LLMError(
                .cannotLoad, "cannot load \(description): \(error.reason)",
                context: ErrorContext(
                    file: plan.model.files.first?.string,
                    remedy: "Verify the files, or fetch them again; if they are whole, use another model."))
        }
        self.library = library
        self.raw = raw
        self.description = description
        vocabularySize = plan.decoder.vocabulary
    }

    deinit {
        library.table.pointee.free(raw)
        library.table.pointee.clear_cache()
    }

    func truncate(to count: Int) { library.table.pointee.truncate(raw, max(0, count)) }

    func compute(
        _ tokens: ArraySlice<TokenID>, logits: UnsafeMutablePointer<Float>?, isStopped: () -> Bool
    ) throws -> Bool {
        var error = hearth_mlx_error()
        let isDone = withoutActuallyEscaping(isStopped) { isStopped in
            let question = Question(isStopped)
            return withExtendedLifetime(question) {
                tokens.withUnsafeBufferPointer { tokens in
                    library.table.pointee.compute(
                        raw, tokens.baseAddress, tokens.count, logits, { Question.ask($0) },
                        Unmanaged.passUnretained(question).toOpaque(), &error)
                }
            }
        }
        if isDone { return true }
        if error.kind == HEARTH_MLX_NONE { return false }
        throw LLMError(
            .generateFailed, "MLX failed while it was answering: \(error.reason)",
            context: ErrorContext(
                model: description, remedy: "Try again; if it happens again, load the model with a smaller context."))
    }

    /// Passes the progress of a load through C.
    private final class Watcher {
        private let body: (Float) -> Bool

        init(_ body: @escaping (Float) -> Bool) { self.body = body }

        static func report(_ value: Float, to watcher: UnsafeMutableRawPointer?) -> Bool {
            watcher.map { Unmanaged<Watcher>.fromOpaque($0).takeUnretainedValue().body(value) } ?? true
        }
    }

    /// Passes the question whether to stop through C. MLX's threads ask it.
    private final class Question {
        private let body: () -> Bool

        init(_ body: @escaping () -> Bool) { self.body = body }

        static func ask(_ question: UnsafeMutableRawPointer?) -> Bool {
            question.map { Unmanaged<Question>.fromOpaque($0).takeUnretainedValue().body() } ?? false
        }
    }
}
#endif
