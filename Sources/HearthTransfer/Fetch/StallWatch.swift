import HearthBase

/// Detects a stalled connection: one that brings less than 64 KiB in 15 s.
///
/// Only the time spent waiting for bytes counts, so neither a rate limit nor a slow disk looks like a stall. A silent
/// connection brings no bytes to judge; the transport's idle timeout ends it after the same time.
struct StallWatch {
    /// The time a connection is given.
    package static let window = Duration.seconds(15)
    /// The bytes it has to bring in that time.
    static let minimumBytes = 64 << 10

    private var waited = Duration.zero
    private var bytes = 0

    /// Counts bytes and the time spent waiting for them; returns whether the connection has stalled.
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
