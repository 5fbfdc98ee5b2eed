import Observation
import Testing

/// Returns once `condition` holds; it is looked at again whenever something it reads has changed, and only then.
@MainActor func until(_ condition: @escaping @MainActor () -> Bool) async {
    while true {
        var isMet = false
        await withCheckedContinuation { continuation in
            let once = Once(continuation)
            isMet = withObservationTracking(condition) { once.resume() }
            if isMet { once.resume() }
        }
        if isMet { return }
        // The change is told before it is made, on the main actor: the next turn sees it.
        await Task.yield()
    }
}

/// Returns once `condition` holds, for what cannot be observed.
@MainActor func yielding(until condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

/// Returns once something that `read` reads is told to change.
@MainActor func changesOnce(of read: @escaping @MainActor () -> Void) async {
    await withCheckedContinuation { continuation in
        let once = Once(continuation)
        withObservationTracking(read) { once.resume() }
    }
}

/// Whether something that `read` reads is told to change while `work` runs.
@MainActor func isTold(_ read: @escaping @MainActor () -> Void, while work: @MainActor () async throws -> Void)
    async rethrows -> Bool
{
    let flag = Flag()
    withObservationTracking(read) { flag.isSet = true }
    try await work()
    return flag.isSet
}

/// Touched on the main actor only: the view models change nothing elsewhere.
private final class Flag: @unchecked Sendable { var isSet = false }

/// A continuation that is resumed at the first call.
private final class Once: @unchecked Sendable {
    // Touched on the main actor only.
    private var continuation: CheckedContinuation<Void, Never>?

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

    func resume() {
        continuation?.resume()
        continuation = nil
    }
}
