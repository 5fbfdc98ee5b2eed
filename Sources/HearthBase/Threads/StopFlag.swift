/// Tells blocking work on another thread to stop.
package final class StopFlag: Sendable {
    private let isSet = Locked(false)

    package init() {}

    package func set() { isSet.withLock { $0 = true } }

    /// Whether the flag is set.
    package var isRaised: Bool { isSet.withLock { $0 } }

    /// - Throws: `CancellationError` once the flag is set.
    package func check() throws { if isRaised { throw CancellationError() } }

    /// Runs a blocking body outside the cooperative pool; cancelling the task sets the flag.
    package static func blocking<Result: Sendable>(
        _ body: @escaping @Sendable (StopFlag) throws -> Result
    ) async throws -> Result {
        let flag = StopFlag()
        return try await withTaskCancellationHandler {
            try await HearthBase.blocking {
                try flag.check()
                return try body(flag)
            }
        } onCancel: {
            flag.set()
        }
    }
}
