#if Server
import CMicrohttpd
import Foundation
import HearthBase

/// A thread that notices clients which leave while their connection is suspended, and connections past a deadline.
///
/// libmicrohttpd takes a suspended connection out of its own set, so that neither the client's end nor a time-out
/// reaches it. The thread sleeps without end while no connection is open.
final class PeerWatch: Sendable {
    private struct State {
        var exchanges: [UInt64: Exchange] = [:]
        var lastMark: UInt64 = 0
        var isStopped = false
    }

    /// A watched duplicate of a connection's descriptor.
    struct Watched: Sendable, Hashable {
        fileprivate let mark: UInt64
        fileprivate let descriptor: Int32
    }

    private let watch: hearth_watch
    private let state = Locked(State())

    /// Starts the thread. `tick` is called every second while `hasConnections`.
    init(hasConnections: @escaping @Sendable () -> Bool, tick: @escaping @Sendable () -> Void) {
        watch = hearth_watch_make()
        let thread = Thread { [self] in
            ThreadName.current = "hearth.peers"
            run(hasConnections: hasConnections, tick: tick)
        }
        thread.start()
    }

    deinit {
        guard watch.set >= 0 else { return }
        close(watch.set)
        close(watch.bell)
    }

    private func run(hasConnections: () -> Bool, tick: () -> Void) {
        var marks = [UInt64](repeating: 0, count: 64)
        while !state.withLock({ $0.isStopped }) {
            let count = Int(hearth_watch_wait(watch, hasConnections() ? 1000 : -1, &marks))
            for mark in marks.prefix(count) {
                state.withLock { $0.exchanges[mark] }?.breakOff()
            }
            tick()
        }
    }

    /// Interrupts the wait: a first connection is open.
    func wake() { hearth_watch_ring(watch) }

    /// Watches the client of an exchange; `nil` if the system has no more descriptors.
    func add(_ exchange: Exchange, socket: Int32) -> Watched? {
        // A duplicate: the library closes its own descriptor, and the system would give the number to another file.
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        let mark = state.withLock { state in
            state.lastMark += 1
            state.exchanges[state.lastMark] = exchange
            return state.lastMark
        }
        let watched = Watched(mark: mark, descriptor: descriptor)
        guard hearth_watch_add(watch, descriptor, mark) == 0 else {
            remove(watched)
            return nil
        }
        return watched
    }

    /// Ends the watch; the duplicate is closed, since the connection ends with its last descriptor.
    func remove(_ watched: Watched) {
        state.withLock { _ = $0.exchanges.removeValue(forKey: watched.mark) }
        hearth_watch_remove(watch, watched.descriptor)
        close(watched.descriptor)
    }

    /// Ends the thread.
    func stop() {
        state.withLock { $0.isStopped = true }
        wake()
    }
}
#endif
