import HearthBase

/// Performs `body` within a time. A body that does not end when it is cancelled is not waited for.
/// - Throws: `error` when the time is over; what `body` throws; `CancellationError`.
package func within<Result: Sendable>(
    _ limit: Duration, of time: TimeSource, orThrow error: any Error,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await abandonable { _ in try await body() } }
        group.addTask {
            try await time.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else { throw error }
        return result
    }
}
