import Foundation
import HearthBase
import HearthHTTP

/// One request to a ``FaultServer``, and the outcome of its reply.
package struct RecordedRequest: Sendable {
    /// The end of a reply.
    package enum Outcome: Sendable, Hashable {
        /// The whole scripted reply was sent.
        case complete
        /// The client closed the connection first.
        case peerClosed
        /// The script broke the connection.
        case dropped
        /// The server was stopped.
        case stopped
    }

    /// The number of the request in order of arrival, from 0.
    package let index: Int
    /// The number of the request's connection, from 0.
    package let connection: Int
    package let method: String
    /// The sent path and query.
    package let target: String
    package let headers: HTTPHeaders
    package let body: Data
    /// The bytes of the reply's body passed to the system so far.
    package internal(set) var bytesSent: UInt64 = 0
    /// Whether the client has read no bytes for a quarter of a second although the server had bytes to send.
    package internal(set) var isBlocked = false
    /// `nil` while the reply is being sent.
    package internal(set) var outcome: Outcome?

    /// The path without its query.
    package var path: String { target.split(separator: "?").first.map(String.init) ?? "" }

    /// The value of a query item, as sent.
    package func query(_ name: String) -> String? {
        let items = target.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&") ?? []
        return items.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// The requested bytes of a file of `size` bytes: all without a `Range` header, none for a range outside.
    package func asked(of size: UInt64) -> Range<UInt64> { askedRange(headers["Range"], size: size) }
}

/// The requests and connections of a ``FaultServer``.
package struct ServerRecord: Sendable {
    /// The requests in order of arrival.
    package internal(set) var requests: [RecordedRequest] = []
    package internal(set) var connectionsAccepted = 0
    package internal(set) var connectionsClosed = 0
    /// The open connections, by their number.
    var sockets: [Int: Int32] = [:]

    /// The number of open connections.
    package var connectionsOpen: Int { connectionsAccepted - connectionsClosed }
}

/// The record, and the tests that wait for a condition on it.
final class Recorder: Sendable {
    typealias Condition = @Sendable (ServerRecord) -> Bool

    private struct State {
        var record = ServerRecord()
        var watchers: [(condition: Condition, continuation: CheckedContinuation<ServerRecord, Never>)] = []
    }

    private let state = Locked(State())

    var record: ServerRecord { state.withLock { $0.record } }

    func update<Result: Sendable>(_ change: (inout ServerRecord) -> Result) -> Result {
        let (result, record, satisfied) = state.withLock { state in
            let result = change(&state.record)
            let record = state.record
            let satisfied = state.watchers.filter { $0.condition(record) }.map(\.continuation)
            if !satisfied.isEmpty { state.watchers.removeAll { $0.condition(record) } }
            return (result, record, satisfied)
        }
        for continuation in satisfied { continuation.resume(returning: record) }
        return result
    }

    func wait(until condition: @escaping Condition) async -> ServerRecord {
        await withCheckedContinuation { continuation in
            let record = state.withLock { state -> ServerRecord? in
                if condition(state.record) { return state.record }
                state.watchers.append((condition, continuation))
                return nil
            }
            if let record { continuation.resume(returning: record) }
        }
    }
}
