#if Server
import HearthBase

/// The exchanges in progress, so that a stop can wait for them and end them.
final class ExchangeTable: Sendable {
    private struct State {
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var waiters: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.exchanges.count } }

    /// The exchanges, in no order.
    var all: [Exchange] { state.withLock { Array($0.exchanges.values) } }

    func began(_ exchange: Exchange) { state.withLock { $0.exchanges[ObjectIdentifier(exchange)] = exchange } }

    func ended(_ exchange: Exchange) {
        let waiters = state.withLock { state -> [AsyncStream<Never>.Continuation] in
            state.exchanges.removeValue(forKey: ObjectIdentifier(exchange))
            guard state.exchanges.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }

    /// Returns when no exchange is in progress, after `grace` at the latest.
    func idle(within grace: Duration, time: TimeSource) async {
        let (idle, waiter) = AsyncStream<Never>.makeStream()
        let isIdle = state.withLock { state in
            if !state.exchanges.isEmpty { state.waiters.append(waiter) }
            return state.exchanges.isEmpty
        }
        if isIdle { return }
        let timer = Task {
            do { try await time.sleep(for: grace) } catch { return }
            waiter.finish()
        }
        // A task of its own: the caller may be cancelled, and a cancelled task would not wait.
        await Task { for await _ in idle {} }.value
        timer.cancel()
    }
}
#endif
