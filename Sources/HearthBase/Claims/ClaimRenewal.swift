import Foundation

/// Renews a claim while some work runs, so that other containers and machines see that its holder still runs.
///
/// Ends with ``stop()`` or its last reference. Skips a claim that is not on the disk at the time.
package final class ClaimRenewal: Sendable {
    /// The pause between two renewals: a claim that is valid for an hour survives several failures.
    package static let interval = Duration.seconds(600)

    private let task: Task<Void, Never>

    /// - Parameter renew: renews the claim if it is on the disk. Blocks.
    package init(
        every interval: Duration = ClaimRenewal.interval, time: TimeSource,
        _ renew: @escaping @Sendable (Date) throws -> Void
    ) {
        task = Task {
            while true {
                do {
                    try await time.sleep(for: interval)
                    try await blocking { try renew(time.now) }
                } catch is CancellationError {
                    return
                } catch {
                    Log.write(.info, "claims", "a claim was not renewed", [.error(error)])
                }
            }
        }
    }

    deinit { stop() }

    package func stop() { task.cancel() }
}
