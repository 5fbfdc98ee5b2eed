import HearthBase

/// What a loader says of itself: the state it is in, and each later one to whoever listens.
///
/// Whoever is slow hears the newest only.
package final class LoadStateBoard: Sendable {
    private struct Shared {
        var state: LoadState
        var observers: [UInt64: AsyncStream<LoadState>.Continuation] = [:]
        var nextObserver: UInt64 = 0
    }

    private let shared: Locked<Shared>

    /// A board of a loader in that state.
    package init(_ state: LoadState = LoadState()) { shared = Locked(Shared(state: state)) }

    deinit {
        for observer in shared.withLock({ $0.observers.values }) { observer.finish() }
    }

    /// The state it is in.
    package var state: LoadState { shared.withLock { $0.state } }

    /// Puts it in another one, which is the next revision, and tells everybody.
    package func change(_ make: (inout LoadState) -> Void) {
        // Told under the lock: of two changes nobody hears the later one first. Telling waits for nobody.
        shared.withLock { shared in
            make(&shared.state)
            shared.state.revision += 1
            for observer in shared.observers.values { observer.yield(shared.state) }
        }
    }

    /// The state it is in, and then every change. Ends with its consumer, or with the board.
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
