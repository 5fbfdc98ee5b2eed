import Foundation
import HearthBase

#if Server
import CMicrohttpd
#endif

/// The phase of a connection, with the time at which it is cut off.
enum ConnectionPhase: Sendable, Hashable {
    /// Between two requests, or before the first.
    case idle(since: Duration, isFirst: Bool)
    /// The line of a request has arrived, its header has not.
    case header(since: Duration)
    case body(since: Duration, received: UInt64)
    /// The server computes or sends; the library cuts off a client that reads nothing.
    case replying

    /// Whether the connection is to be cut off.
    func isOverdue(at now: Duration, limits: ListenerLimits) -> Bool {
        switch self {
        case .idle(let since, let isFirst):
            now - since > (isFirst ? limits.headerTime : limits.idleTime)
        case .header(let since):
            now - since > limits.headerTime
        case .body(let since, let received):
            now - since > limits.bodyTime + .seconds(Int64(received / max(1, limits.slowestBody)))
        case .replying:
            false
        }
    }
}

/// One connection from its acceptance to its end.
final class ConnectionRecord: Sendable {
    /// Owned by the library; valid while the record is in ``ConnectionTable``.
    let socket: Int32
    let peer: ServerPeer
    private let phase: Locked<ConnectionPhase>

    init(socket: Int32, peer: ServerPeer, at now: Duration) {
        self.socket = socket
        self.peer = peer
        phase = Locked(.idle(since: now, isFirst: true))
    }

    func enter(_ next: ConnectionPhase) { phase.withLock { $0 = next } }

    /// Counts bytes of a body.
    func received(_ count: Int) {
        phase.withLock { phase in
            guard case .body(let since, let received) = phase else { return }
            phase = .body(since: since, received: received + UInt64(count))
        }
    }

    /// Whether the header of a request is still to come: the first of its connection, or one that has begun.
    var isAwaited: Bool {
        switch phase.withLock({ $0 }) {
        case .idle(_, let isFirst): isFirst
        case .header: true
        case .body, .replying: false
        }
    }

    func isOverdue(at now: Duration, limits: ListenerLimits) -> Bool {
        phase.withLock { $0 }.isOverdue(at: now, limits: limits)
    }
}

/// The open connections of a listener.
final class ConnectionTable: Sendable {
    private let records = Locked<[ObjectIdentifier: ConnectionRecord]>([:])
    /// The connections that were given to the library, and those it has begun.
    private let counts = Locked((accepted: 0, begun: 0))

    var count: Int { records.withLock { $0.count } }

    /// Counts a connection that the library has in its queue.
    func wasAccepted() { counts.withLock { $0.accepted += 1 } }

    /// - Returns: whether it is the only one.
    func add(_ record: ConnectionRecord) -> Bool {
        let isOnly = records.withLock { records in
            records[ObjectIdentifier(record)] = record
            return records.count == 1
        }
        counts.withLock { $0.begun += 1 }
        return isOnly
    }

    /// Whether the library has not begun a connection, or the header of a request is still to come.
    private var isAwaited: Bool {
        counts.withLock { $0.accepted > $0.begun } || records.withLock { $0.values.contains(where: \.isAwaited) }
    }

    /// Forgets a connection whose socket is about to be closed.
    func remove(_ record: ConnectionRecord) {
        records.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(record)) }
    }

    /// Waits for the first requests of connections that were just accepted, so that a restart drops none of them.
    func lateRequests(within limit: Duration, time: TimeSource) async {
        let watch = time.stopwatch()
        while watch.elapsed < limit, isAwaited {
            // A cancelled caller does not wait.
            guard (try? await time.sleep(for: .milliseconds(10))) != nil else { return }
        }
    }

    /// Shuts down the overdue connections; the library then closes them.
    func cutOffOverdue(at now: Duration, limits: ListenerLimits) {
        // The lock keeps the library from closing a socket, and the system from giving its number to another.
        records.withLock { records in
            for record in records.values where record.isOverdue(at: now, limits: limits) {
                shutdown(record.socket, Int32(SHUT_RDWR))
            }
        }
    }
}
