import Foundation
import HearthBase
import HearthHTTP

/// One request a ``FaultServer`` got, and what became of its answer.
public struct RecordedRequest: Sendable {
    /// How an answer ended.
    public enum Outcome: Sendable, Hashable {
        /// All that was scripted was sent.
        case complete
        /// The client closed the connection first.
        case peerClosed
        /// The script broke the connection.
        case dropped
        /// The server was stopped.
        case stopped
    }

    /// Counted from 0, in order of arrival.
    public let index: Int
    /// The connection it came on, counted from 0.
    public let connection: Int
    public let method: String
    /// The path and query as they were sent.
    public let target: String
    public let headers: HTTPHeaders
    public let body: Data
    /// The bytes of the answer's body given to the system so far.
    public internal(set) var bytesSent: UInt64 = 0
    /// Whether the client has taken nothing for a quarter of a second although there was something to send.
    public internal(set) var isBlocked = false
    /// `nil` while the answer is under way.
    public internal(set) var outcome: Outcome?

    /// The path without its query.
    public var path: String { target.split(separator: "?").first.map(String.init) ?? "" }

    /// The value of a query item, as it was sent.
    public func query(_ name: String) -> String? {
        let items = target.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&") ?? []
        return items.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// The bytes asked for of a file of `size` bytes: all without a `Range` header, none for a range outside.
    public func asked(of size: UInt64) -> Range<UInt64> { askedRange(headers["Range"], size: size) }
}

/// What a ``FaultServer`` has seen.
public struct ServerRecord: Sendable {
    /// In order of arrival.
    public internal(set) var requests: [RecordedRequest] = []
    public internal(set) var connectionsAccepted = 0
    public internal(set) var connectionsClosed = 0
    /// The open connections, by their number.
    var sockets: [Int: Int32] = [:]

    /// The connections open now.
    public var connectionsOpen: Int { connectionsAccepted - connectionsClosed }
}

/// The record and the tests that wait for it to say something.
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
