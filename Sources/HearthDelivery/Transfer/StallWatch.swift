import HearthBase

/// Whether a connection is worth being waited for: one that brings less than 64 KiB in 15 s is not.
///
/// Only the time spent waiting for bytes counts, so neither a limit on the rate nor a slow disk looks like a stall.
/// Complete silence brings no bytes to judge by; the transport's idle timeout ends it after the same time.
struct StallWatch {
    /// The time a connection is given.
    static let window = Duration.seconds(15)
    /// The bytes it has to bring in that time.
    static let minimumBytes = 64 << 10

    private var waited = Duration.zero
    private var bytes = 0

    /// Takes bytes that were waited for so long; returns whether the connection has stalled.
    mutating func isStalled(afterWaiting time: Duration, for count: Int) -> Bool {
        waited += time
        bytes += count
        guard waited >= Self.window else { return false }
        guard bytes >= Self.minimumBytes else { return true }
        waited = .zero
        bytes = 0
        return false
    }
}
