import HearthBase
import HearthInference

/// A worker for other work on a model's files than answering: quantizing, classifying. It ends with its last reference.
package final class WorkerHost: Sendable {
    private let connection: WorkerConnection
    private let model: String
    private let time: TimeSource

    /// Starts a worker.
    /// - Parameter model: its name in errors.
    package init(
        model: String, time: TimeSource = .system, start: @escaping @Sendable () throws -> any WorkerHandle
    ) async throws {
        (self.model, self.time) = (model, time)
        connection = WorkerConnection(try await blocking { try start() }, model: model) { _ in }
    }

    deinit { connection.dismiss() }

    /// Whether the worker can take work.
    package var isAlive: Bool { connection.isAlive }

    /// Does the work that ``EngineService/Work`` reads from the content.
    /// - Parameters:
    ///   - limit: the longest time; the worker is ended after it. `nil` for none.
    ///   - progress: 0...1. The work fails if it makes none for two minutes.
    /// - Returns: the result, as the worker made it: nothing in it is to be trusted.
    /// - Throws: errors of the work; `engine-died`; `CancellationError`.
    package func run(
        _ content: [UInt8], within limit: Duration? = nil, progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> [UInt8] {
        let timer = limit.map { limit in
            Task { [connection, time] in
                try await time.sleep(for: limit)
                connection.kill(.time("its computation did not end"))
            }
        }
        defer { timer?.cancel() }
        let answer = try await connection.ask(
            .work(content), allowance: WorkerConnection.largeReply, leavesAtOnce: false, onProgress: progress)
        guard case .content(let result) = answer else {
            connection.kill(.crashed("it sent what is no reply"))
            throw EngineDeath(.load, .crashed("it sent what is no reply")).error(model)
        }
        return result
    }
}
