import HearthBase

/// Tells whether a request has begun or was refused. Only the first report counts.
struct StartSignal: Sendable {
    private let reports: AsyncStream<Result<Void, any Error>>
    private let source: AsyncStream<Result<Void, any Error>>.Continuation

    init() { (reports, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1)) }

    func succeed() { source.yield(.success(())) }

    func fail(_ error: any Error) { source.yield(.failure(error)) }

    /// Waits for the first report, at most for a time.
    /// - Throws: the reported error; `CancellationError`.
    func wait(atMost limit: Duration, _ time: TimeSource) async throws {
        let timer = Task {
            do { try await time.sleep(for: limit) } catch { return }
            succeed()
        }
        defer { timer.cancel() }
        for await report in reports { return try report.get() }
        try Task.checkCancellation()
    }
}

/// Counts the requests that use each model.
package final class ModelActivity: Sendable {
    private let counts = Locked<[String: Int]>([:])

    package init() {}

    /// The requests in progress by model.
    package var running: [String: Int] { counts.withLock { $0 } }

    func using<Value>(_ model: String, _ body: () async throws -> Value) async rethrows -> Value {
        counts.withLock { $0[model, default: 0] += 1 }
        defer {
            counts.withLock { counts in
                let count = (counts[model] ?? 1) - 1
                counts[model] = count > 0 ? count : nil
            }
        }
        return try await body()
    }
}
