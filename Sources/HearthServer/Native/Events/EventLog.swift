import Foundation
import HearthBase

/// The last events of the process, for clients that come back.
///
/// An event's id is `EPOCH-N`: the epoch names the process, N counts its events. A client names the last event that it has, and
/// reads on from there at its own speed; one that is too slow or comes too late is told to read everything anew. Memory is
/// bounded whatever clients do.
package final class EventLog: Sendable {
    /// The bounds of the kept events.
    struct Bounds: Sendable {
        var events = 8192
        var bytes = 8 << 20
    }

    /// One event as it is sent, without its id.
    struct Event: Sendable, Hashable {
        let number: Int
        let name: String
        let data: [UInt8]
    }

    /// The events after a client's last.
    enum Reading: Sendable, Hashable {
        case events([Event])
        /// The client has missed events; it goes on after the given number.
        case missed(since: Int)
    }

    private struct State {
        /// The kept events by number.
        var events: [Int: Event] = [:]
        /// The number of the oldest kept event, or of the next one.
        var oldest = 1
        var bytes = 0
        var last = 0
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
        var isFinished = false
    }

    /// Names the process.
    let epoch: String
    private let bounds: Bounds
    private let state = Locked(State())

    package convenience init() { self.init(epoch: String(Claim.newToken().prefix(12))) }

    init(epoch: String, bounds: Bounds = Bounds()) {
        self.epoch = epoch
        self.bounds = bounds
    }

    // MARK: Writing

    /// Adds an event, and wakes all readers.
    func add(_ name: String, _ value: some Encodable) {
        do {
            add(name, data: [UInt8](try JSON.data(value, dates: .milliseconds)))
        } catch {
            Log.write(.error, "native", "an event cannot be written", [.error(error)])
        }
    }

    func add(_ name: String, data: [UInt8]) {
        let watchers = state.withLock { state in
            state.last += 1
            state.events[state.last] = Event(number: state.last, name: name, data: data)
            state.bytes += data.count
            while state.bytes > bounds.bytes || state.events.count > bounds.events {
                state.bytes -= state.events.removeValue(forKey: state.oldest)?.data.count ?? 0
                state.oldest += 1
            }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield() }
    }

    // MARK: Reading

    /// The id of the last event.
    var lastID: String { id(state.withLock { $0.last }) }

    func id(_ number: Int) -> String { "\(epoch)-\(number)" }

    /// The number in an id of this process; `nil` for another process or no id.
    func number(_ id: String) -> Int? {
        let parts = id.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, parts[0] == epoch, let number = Int(parts[1]), number >= 0 else { return nil }
        return number
    }

    /// The events after a number, at most 256 at once.
    func events(after number: Int) -> Reading {
        state.withLock { state in
            guard (state.oldest - 1...state.last).contains(number) else { return .missed(since: state.last) }
            let end = min(state.last, number + 256)
            return .events(number < end ? (number + 1...end).compactMap { state.events[$0] } : [])
        }
    }

    /// Ends the streams of all readers, which come back to the next process.
    package func finish() {
        let watchers = state.withLock { state in
            state.isFinished = true
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    /// Whether a client reads.
    var hasReaders: Bool { state.withLock { !$0.watchers.isEmpty } }

    /// A signal after each new event, merged while its consumer is busy.
    func signals() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state -> Int? in
                guard !state.isFinished else { return nil }
                state.nextWatcher += 1
                state.watchers[state.nextWatcher] = continuation
                return state.nextWatcher
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.watchers.removeValue(forKey: id) }
            }
        }
    }
}
