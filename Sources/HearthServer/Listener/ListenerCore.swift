#if Server
import Foundation
import HearthBase

/// Whether a server has begun to end.
package final class ServerEnding: Sendable {
    private let state = Locked(false)

    package init() {}

    /// A streamed reply whose task is cancelled writes its reason if this is set: otherwise its client has left.
    package var hasBegun: Bool { state.withLock { $0 } }

    func begin() { state.withLock { $0 = true } }
}

/// The state that the C callbacks of one listener share.
final class ListenerCore: Sendable {
    /// Decides replies on the library's thread, `nil` for requests that need their body or a task. Sets the caller.
    typealias Immediately = @Sendable (inout ServerRequest) -> ServerReply?

    let limits: ListenerLimits
    let time: TimeSource
    let respond: Responder
    let immediately: Immediately?
    let finished: (@Sendable (FinishedExchange) -> Void)?
    let exchanges = ExchangeTable()
    let connections: ConnectionTable
    let ending = ServerEnding()
    let watch: PeerWatch
    /// Set before the library is stopped: no exchange begins after it.
    private let closing = Locked(false)
    private let started: Stopwatch
    private let lastID = Locked<UInt64>(.random(in: 0 ... .max))

    init(
        limits: ListenerLimits, time: TimeSource, finished: (@Sendable (FinishedExchange) -> Void)?,
        immediately: Immediately?, respond: @escaping Responder
    ) {
        self.limits = limits
        self.time = time
        self.finished = finished
        self.immediately = immediately
        self.respond = respond
        let started = time.stopwatch()
        self.started = started
        let connections = ConnectionTable()
        self.connections = connections
        watch = PeerWatch(hasConnections: { connections.count > 0 }) {
            connections.cutOffOverdue(at: started.elapsed, limits: limits)
        }
    }

    var isClosed: Bool { closing.withLock { $0 } }

    func close() { closing.withLock { $0 = true } }

    /// The time since the listener's start.
    var now: Duration { started.elapsed }

    /// A new request's id.
    func nextID() -> String {
        let number = lastID.withLock { last in
            last &+= 0x9E37_79B9_7F4A_7C15
            return last
        }
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
#endif
