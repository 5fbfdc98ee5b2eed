import Foundation
import HearthBase

extension ModelStore {
    var marks: MarkFiles { MarkFiles(layout: layout, fileSystem: fileSystem) }

    /// Says on the disk what this process is about to do with a release.
    func mark(_ identity: ReleaseIdentity, _ mark: ActivityMark, token: String) throws {
        try marks.put(mark, identity, token: token)
    }

    /// Says that it has ended.
    func unmark(_ identity: ReleaseIdentity, token: String) throws {
        try marks.remove(identity, token: token)
    }

    /// Performs `body`, which loads a release or answers with it, in such a way that a process that dies inside of it is noticed.
    ///
    /// Costs the reading of one small file, and nothing more, for a release that is not on probation; else the writing and
    /// the removal of a mark. A disk that refuses the mark keeps nobody from the model. The time `body` takes counts as use,
    /// however it ends: what proves a release is that no process died in it.
    /// - Throws: what `body` throws, and nothing else.
    public func guarding<Result>(
        _ identity: ReleaseIdentity, _ stage: GuardedStage, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard let token = await beginGuarding(identity, stage) else { return try await body() }
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
            Log.write(.warning, "delivery.activation", "\(identity) is used without a mark: \(error)")
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
        // Whoever was cancelled has used it as well, and does not wait for another process: that goes on without him.
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
        Log.write(.warning, "delivery.activation", "the probation of \(identity) is not recorded: \(error)")
    }

    /// Counts an answer that `identity` has given to its end.
    /// - Parameter seconds: what it took, where ``guarding(_:_:isolation:_:)`` has not counted that.
    /// - Returns: whether that has ended its probation.
    @discardableResult
    public func recordAnswer(_ identity: ReleaseIdentity, seconds: Double = 0) async throws -> Bool {
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

    /// Under the commit lock.
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
        Log.write(.info, "delivery.activation", "\(identity) has passed its probation")
        clearMarks(of: identity.family) { $0.release == identity }
        return true
    }
}

/// What may end a process, and so is watched while a release is on probation.
public enum GuardedStage: String, Sendable, Hashable { case load, generate }
