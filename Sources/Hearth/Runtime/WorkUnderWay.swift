import HearthBase

/// Work that leaves marks on the disk, so that a program stops it before it ends.
final class WorkUnderWay: Sendable {
    private struct State {
        var isClosed = false
        var begun = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Starts `body`; `nil` once closed.
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

    /// Starts `body` and waits for its result.
    /// - Throws: errors of `body`; `CancellationError` once closed.
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

    /// Cancels all work and starts no more. Returns when the work has ended, after `limit` at the latest, also in a
    /// cancelled task.
    /// - Parameters:
    ///   - name: the name of the work in the log.
    ///   - other: another task to wait for, within the same limit.
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
        // An unstructured task is not cancelled, and so can wait.
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
