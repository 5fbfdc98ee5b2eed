import HearthBase

/// Whether a server has begun to end.
package final class ServerEnding: Sendable {
    private let state = Locked(false)

    package init() {}

    /// A streamed reply whose task is cancelled writes its reason if this is set: otherwise its client has left.
    package var hasBegun: Bool { state.withLock { $0 } }

    func begin() { state.withLock { $0 = true } }
}
