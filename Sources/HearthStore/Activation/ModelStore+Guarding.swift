import Foundation
import HearthBase
import HearthCatalog

extension ModelStore {
    package nonisolated var marks: MarkFiles {
        MarkFiles(layout: layout, fileSystem: fileSystem, renewalTime: renewalTime)
    }

    /// Writes a mark before this process works with a release.
    package func mark(_ identity: ReleaseIdentity, _ mark: ActivityMark, token: String) throws {
        try marks.put(mark, identity, token: token)
    }

    /// Removes the mark after that work.
    package func unmark(_ identity: ReleaseIdentity, token: String) throws {
        try marks.remove(identity, token: token)
    }

    /// Runs `body`, which loads a release or answers with it, so that the next start notices an end of the process in
    /// between.
    ///
    /// For a release on probation it writes and removes a mark; for any other it only reads one small file. If the disk
    /// refuses the mark, `body` runs without one. The time of `body` counts as use even if it throws: surviving it is
    /// what proves a release.
    /// - Throws: only what `body` throws.
    package func guarding<Result>(
        _ identity: ReleaseIdentity, _ stage: GuardedStage, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard let token = await beginGuarding(identity, stage) else { return try await body() }
        let renewal = marks.renewing(identity, token: token)
        defer { renewal.stop() }
        let stopwatch = time.stopwatch()
        do {
            let result = try await body()
            await endGuarding(identity, token, seconds: stopwatch.elapsed.seconds)
            return result
        } catch {
            await endGuarding(identity, token, seconds: stopwatch.elapsed.seconds)
            throw error
        }
    }

    private func beginGuarding(_ identity: ReleaseIdentity, _ stage: GuardedStage) -> String? {
        do {
            guard try isOnProbation(identity) else { return nil }
            let token = ActivityMark.token()
            try mark(identity, ActivityMark(stage == .load ? .load : .generate, at: time.now), token: token)
            return token
        } catch {
            Log.write(.warning, "activation", "\(identity) is used without a mark: \(error)")
            return nil
        }
    }

    private func endGuarding(_ identity: ReleaseIdentity, _ token: String, seconds: Double) async {
        do {
            try unmark(identity, token: token)
            guard seconds > 0, try isOnProbation(identity) else { return }
            if let lock = try FileLock.tryAcquire(layout.lock) {
                defer { lock.release() }
                try record(.used(seconds: seconds), of: identity)
                return
            }
        } catch {
            return Self.notRecorded(identity, error)
        }
        // A cancelled caller would stop waiting for the lock: a task of its own counts the use.
        let (counting, ended) = AsyncStream<Never>.makeStream()
        Task {
            defer { ended.finish() }
            do {
                try await self.count(.used(seconds: seconds), of: identity)
            } catch {
                Self.notRecorded(identity, error)
            }
        }
        for await _ in counting {}
    }

    private static func notRecorded(_ identity: ReleaseIdentity, _ error: any Error) {
        Log.write(.warning, "activation", "the probation of \(identity) is not recorded: \(error)")
    }

    /// Counts a completed answer of `identity`.
    /// - Parameter seconds: the time of the answer, if ``guarding(_:_:isolation:_:)`` has not counted it.
    /// - Returns: whether this has ended its probation.
    @discardableResult
    package func recordAnswer(_ identity: ReleaseIdentity, seconds: Double = 0) async throws -> Bool {
        try await count(.answered(seconds: seconds), of: identity)
    }

    @discardableResult
    private func count(_ event: Probation.Event, of identity: ReleaseIdentity) async throws -> Bool {
        guard try isOnProbation(identity) else { return false }
        return try await committing { try record(event, of: identity) }
    }

    private func isOnProbation(_ identity: ReleaseIdentity) throws -> Bool {
        try activation.state(of: identity.family).probation?.release == identity
    }

    /// Records an event of a probation. Under the commit lock.
    @discardableResult
    private func record(_ event: Probation.Event, of identity: ReleaseIdentity) throws -> Bool {
        var state = try activation.stateBeforeChange(of: identity.family)
        guard let probation = state.probation, probation.release == identity else { return false }
        switch probation.after(event) {
        case .goesOn(let next): state.probation = next
        case .passed, .failed: state.probation = nil
        }
        try activation.write(state, of: identity.family)
        guard state.probation == nil else { return false }
        Log.write(.info, "activation", "\(identity) has passed its probation")
        clearMarks(of: identity.family) { $0.release == identity }
        return true
    }
}

/// Stages in which a process may end because of a release; watched during probation.
package enum GuardedStage: String, Sendable, Hashable { case load, generate }
