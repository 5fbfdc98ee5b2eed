import HearthBase

/// The connections shared by all transfers of a process. Many small files keep them busy, or one large file uses them
/// all.
///
/// A transfer without a connection is served first; other requests follow in the order in which they asked. A
/// connection is held for one request only, so a large file frees its connections for files that have none.
package final class ConnectionBudget: Sendable {
    private struct Waiter {
        let id: UInt64
        let share: Share
        let turn: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var lastID: UInt64 = 0
        var waiters: [Waiter] = []
        var cancelled: Set<UInt64> = []
        /// The number of connections of each transfer.
        var held: [ObjectIdentifier: Int] = [:]

        /// Gives free connections to waiters: transfers without one first, then in the order in which they asked.
        mutating func assign() -> [CheckedContinuation<Bool, Never>] {
            var turns: [CheckedContinuation<Bool, Never>] = []
            while free > 0, !waiters.isEmpty {
                let next = waiters.firstIndex { held[ObjectIdentifier($0.share)] == nil } ?? 0
                let waiter = waiters.remove(at: next)
                take(waiter.share)
                turns.append(waiter.turn)
            }
            return turns
        }

        mutating func take(_ share: Share) {
            free -= 1
            held[ObjectIdentifier(share), default: 0] += 1
        }

        mutating func release(_ share: Share) {
            free += 1
            let id = ObjectIdentifier(share)
            let left = (held[id] ?? 1) - 1
            held[id] = left > 0 ? left : nil
        }
    }

    private let state: Locked<State>

    /// A budget of at most `limit` connections at a time.
    package init(limit: Int = 16) { state = Locked(State(free: max(1, limit))) }

    /// The number of requests that wait for a connection.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// One transfer's share of the budget.
    final class Share: Sendable {
        fileprivate let budget: ConnectionBudget

        init(of budget: ConnectionBudget) { self.budget = budget }

        /// Takes a connection, after waiting for one if none is free; `nil` if the task is cancelled.
        /// - Parameter onWait: called before waiting.
        package func take(onWait: () -> Void = {}) async -> Connection? {
            if budget.takeFree(self) { return Connection(of: self) }
            onWait()
            return await budget.wait(self) ? Connection(of: self) : nil
        }
    }

    /// The right to one request at a time.
    final class Connection: Sendable {
        private let share: Locked<Share?>

        fileprivate init(of share: Share) { self.share = Locked(share) }

        deinit { release() }

        /// Returns the connection to the budget; a second call changes nothing.
        package func release() {
            let share = share.withLock { share in
                defer { share = nil }
                return share
            }
            if let share { share.budget.release(share) }
        }
    }

    private func takeFree(_ share: Share) -> Bool {
        state.withLock { state in
            guard state.free > 0, state.waiters.isEmpty else { return false }
            state.take(share)
            return true
        }
    }

    private func wait(_ share: Share) async -> Bool {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        // If the cancellation came after the turn was given, its mark is still here.
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                let (turns, isCancelled) = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return ([CheckedContinuation<Bool, Never>](), true) }
                    state.waiters.append(Waiter(id: id, share: share, turn: turn))
                    return (state.assign(), false)
                }
                if isCancelled { turn.resume(returning: false) }
                for turn in turns { turn.resume(returning: true) }
            }
        } onCancel: {
            let turn = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.waiters.remove(at: index).turn
            }
            turn?.resume(returning: false)
        }
    }

    private func release(_ share: Share) {
        let turns = state.withLock { state in
            state.release(share)
            return state.assign()
        }
        for turn in turns { turn.resume(returning: true) }
    }
}
