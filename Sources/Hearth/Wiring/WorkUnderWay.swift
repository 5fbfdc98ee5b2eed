import HearthBase

/// What leaves a mark on the disk while it is under way, until there may be no more of it: a program ends it before it ends itself.
final class WorkUnderWay: Sendable {
    private struct State {
        var isClosed = false
        var begun = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Performs `body` as a part of it; `nil` once it is closed.
    func begin(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            let number = state.begun
            state.begun += 1
            let task = Task {
                await body()
                self.end(number)
            }
            state.tasks[number] = task
            return task
        }
    }

    /// The same, and waits for what comes of it.
    /// - Throws: what `body` throws; `CancellationError` once it is closed.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let outcome = Locked<Result<Value, any Error>>(.failure(CancellationError()))
        let task = begin {
            do {
                let value = try await body()
                outcome.withLock { $0 = .success(value) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        await withTaskCancellationHandler {
            await task?.value
        } onCancel: {
            task?.cancel()
        }
        return try outcome.withLock { $0 }.get()
    }

    private func end(_ number: Int) { state.withLock { $0.tasks[number] = nil } }

    /// Cancels all that is under way and lets nothing begin; returns when it has ended, at the latest after `limit`. Also in a
    /// task that was cancelled.
    /// - Parameters:
    ///   - name: what the log calls it.
    ///   - other: something else that ends, and is waited for no longer.
    func stop(
        within limit: Duration, _ time: TimeSource, _ name: String, besides other: Task<Void, Never>? = nil
    ) async {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        let left = tasks + [other].compactMap(\.self)
        guard !left.isEmpty else { return }
        // A task of its own is not cancelled, and so can wait.
        await Task {
            let (ended, source) = AsyncStream<Never>.makeStream()
            Task {
                for task in left { await task.value }
                source.finish()
            }
            let bound = Task {
                do { try await time.sleep(for: limit) } catch { return }
                Log.write(.warning, "activation", "\(name) does not stop")
                source.finish()
            }
            for await _ in ended {}
            bound.cancel()
        }.value
    }
}
