import HearthBase

/// Performs `body` within a time. A body that does not end when it is cancelled is not waited for.
/// - Throws: `error` when the time is over; what `body` throws; `CancellationError`.
package func within<Result: Sendable>(
    _ limit: Duration, of time: TimeSource, orThrow error: any Error,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let result = try await within(limit, of: time) { try await abandonable(body) }
    guard let result else { throw error }
    return result
}

/// Performs `body`, and cancels it after a time. Returns `nil` if it was cancelled for that.
package func within<Result: Sendable>(
    _ limit: Duration, of time: TimeSource = .system, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await time.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
