import HearthBase

/// Publishes a loader's state and its changes to observers.
///
/// A slow observer skips to the latest state.
package final class LoadStateBoard: Sendable {
    private struct Shared {
        var state: LoadState
        var observers: [UInt64: AsyncStream<LoadState>.Continuation] = [:]
        var nextObserver: UInt64 = 0
    }

    private let shared: Locked<Shared>

    /// A board with an initial state.
    package init(_ state: LoadState = LoadState()) { shared = Locked(Shared(state: state)) }

    deinit {
        for observer in shared.withLock({ $0.observers.values }) { observer.finish() }
    }

    /// The current state.
    package var state: LoadState { shared.withLock { $0.state } }

    /// Changes the state, increases its revision and notifies all observers.
    package func change(_ make: (inout LoadState) -> Void) {
        // Yielding under the lock keeps concurrent changes in order; `yield` does not block.
        shared.withLock { shared in
            make(&shared.state)
            shared.state.revision += 1
            for observer in shared.observers.values { observer.yield(shared.state) }
        }
    }

    /// The current state, then every change. Ends with its consumer, or with the board.
    package func states() -> AsyncStream<LoadState> {
        let (stream, observer) = AsyncStream.makeStream(of: LoadState.self, bufferingPolicy: .bufferingNewest(1))
        let id = shared.withLock { shared in
            defer { shared.nextObserver += 1 }
            shared.observers[shared.nextObserver] = observer
            observer.yield(shared.state)
            return shared.nextObserver
        }
        observer.onTermination = { [weak self] _ in self?.forget(id) }
        return stream
    }

    private func forget(_ id: UInt64) { shared.withLock { $0.observers[id] = nil } }
}
