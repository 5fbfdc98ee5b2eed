import Foundation
import HearthBase

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Holds a scripted reply until the test opens the gate, or the peer closes the connection.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())
    private let ends: (read: Int32, write: Int32)

    /// A closed gate.
    package init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.ends = (ends[0], ends[1])
    }

    deinit {
        close(ends.write)
        close(ends.read)
    }

    /// Opens the gate for all requests from now on.
    package func open() {
        let isNews = state.withLock { state in
            defer { state.isOpen = true }
            return !state.isOpen
        }
        // A byte that is never read makes the reading end ready for every polling thread, from now on. Closing the
        // writing end would not do so: a child process that another test is starting has a copy of it.
        if isNews { _ = write(ends.write, [1], 1) }
    }

    /// Returns after `count` replies have reached the gate.
    package func reached(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.arrivals >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    /// A descriptor that is ready once the gate is open.
    var descriptor: Int32 { ends.read }

    func arrive() {
        let reached = state.withLock { state in
            state.arrivals += 1
            let arrivals = state.arrivals
            defer { state.watchers.removeAll { $0.count <= arrivals } }
            return state.watchers.filter { $0.count <= arrivals }.map(\.continuation)
        }
        for continuation in reached { continuation.resume() }
    }
}
