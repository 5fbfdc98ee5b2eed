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
    private let key = Locked(false)

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

    /// Whether a request of the connection has shown a key.
    var hasKey: Bool { key.withLock { $0 } }

    func noteKey() { key.withLock { $0 = true } }

    /// Whether it is one of this user, or of the administrator, over the unix socket: these are not counted.
    var isOwn: Bool {
        if case .local(let user) = peer { user == geteuid() || user == 0 } else { false }
    }

    /// Whether no request of the connection is served: 0 while it waits for one, 1 while it sends one, `nil` otherwise.
    var idleness: Int? {
        switch phase.withLock({ $0 }) {
        case .idle, .header: 0
        case .body: 1
        case .replying: nil
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
    private struct State {
        var records: [ObjectIdentifier: ConnectionRecord] = [:]
        /// The connections of each peer that are not cut off, the oldest first.
        var byPeer: [String: [ConnectionRecord]] = [:]

        mutating func removeFromPeer(_ record: ConnectionRecord) {
            let peer = record.peer.counted
            byPeer[peer]?.removeAll { $0 === record }
            if byPeer[peer]?.isEmpty == true { byPeer[peer] = nil }
        }
    }

    private let state = Locked(State())
    /// The connections that were given to the library, and those it has begun.
    private let counts = Locked((accepted: 0, begun: 0))

    var count: Int { state.withLock { $0.records.count } }

    /// Counts a connection that the library has in its queue.
    func wasAccepted() { counts.withLock { $0.accepted += 1 } }

    /// Adds a connection, and cuts off one of a peer that has too many: the oldest that waits for a request, otherwise
    /// the oldest that sends one, otherwise the new one; but a new one may still show a key, for which there is room
    /// beside those without. So a peer that holds connections cannot keep out another program at the same address.
    /// - Returns: whether it is the only one.
    func add(_ record: ConnectionRecord, limits: ListenerLimits) -> Bool {
        let isOnly = state.withLock { state in
            state.records[ObjectIdentifier(record)] = record
            state.byPeer[record.peer.counted, default: []].append(record)
            let peers = state.byPeer[record.peer.counted] ?? []
            if let surplus = Self.surplus(among: peers, limits: limits) {
                state.removeFromPeer(surplus)
                // The library then closes it. The lock keeps the socket's number from being given to another.
                shutdown(surplus.socket, Int32(SHUT_RDWR))
            }
            return state.records.count == 1
        }
        counts.withLock { $0.begun += 1 }
        return isOnly
    }

    /// The connection to cut off among those of one peer, of which the last is new; `nil` if there is room.
    static func surplus(among peers: [ConnectionRecord], limits: ListenerLimits) -> ConnectionRecord? {
        guard let newest = peers.last, !newest.isOwn else { return nil }
        let isFull = peers.count > limits.connectionsPerPeer
        let candidates = isFull ? peers : peers.filter { !$0.hasKey }
        guard isFull || candidates.count > limits.connectionsWithoutKey else { return nil }
        let others = candidates.dropLast()
        return others.first { $0.idleness == 0 } ?? others.first { $0.idleness == 1 } ?? (isFull ? newest : nil)
    }

    /// Whether the other connections of a peer on which a request without a key is served are as many as permitted.
    func isCrowded(for record: ConnectionRecord, limits: ListenerLimits) -> Bool {
        guard limits.connectionsWithoutKey < .max, !record.hasKey, !record.isOwn else { return false }
        return state.withLock { state in
            let others = state.byPeer[record.peer.counted] ?? []
            guard others.count > limits.connectionsWithoutKey else { return false }
            return others.count { $0 !== record && !$0.hasKey && $0.idleness != 0 } >= limits.connectionsWithoutKey
        }
    }

    /// Whether the library has not begun a connection, or the header of a request is still to come.
    private var isAwaited: Bool {
        counts.withLock { $0.accepted > $0.begun }
            || state.withLock { $0.records.values.contains(where: \.isAwaited) }
    }

    /// Forgets a connection whose socket is about to be closed.
    func remove(_ record: ConnectionRecord) {
        state.withLock { state in
            state.records.removeValue(forKey: ObjectIdentifier(record))
            state.removeFromPeer(record)
        }
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
        state.withLock { state in
            for record in state.records.values where record.isOverdue(at: now, limits: limits) {
                shutdown(record.socket, Int32(SHUT_RDWR))
            }
        }
    }
}
