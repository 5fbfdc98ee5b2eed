import HearthBase
import HearthInference

/// One piece of work on a model's files, in a worker of its own that ends afterwards.
package enum WorkerErrand {
    /// Does the work that ``EngineService/Work`` reads from the content.
    /// - Parameters:
    ///   - model: its name in errors.
    ///   - progress: 0...1. The work fails if it makes none for two minutes.
    /// - Returns: the result, as the worker made it: nothing in it is to be trusted.
    /// - Throws: errors of the work; `engine-died`; `CancellationError`.
    package static func run(
        _ content: [UInt8], model: String, start: @escaping @Sendable () throws -> any WorkerHandle,
        progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> [UInt8] {
        let handle = try await blocking { try start() }
        let connection = WorkerConnection(handle, model: model) { _, _ in }
        defer { connection.dismiss() }
        let answer = try await connection.ask(.work(content), leavesAtOnce: false, onProgress: progress)
        guard case .content(let result) = answer else {
            throw LLMError(.engineDied, "the engine of \(model) ended: it sent what is no reply")
        }
        return result
    }
}
