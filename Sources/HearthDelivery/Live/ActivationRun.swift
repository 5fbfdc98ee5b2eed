import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// Performs the effects that `Activation` decides on.
struct ActivationRun: Sendable {
    let store: ModelStore
    let preparer: (any ReleasePreparer)?
    let probe: (any ReleaseProbe)?
    let time: TimeSource
    let identity: ReleaseIdentity
    let rehashes: Bool
    let ignoresMemory: Bool
    let progress: @Sendable (ActivationProgress) -> Void
    /// Receives events about releases, except that one became live.
    var post: @Sendable (ModelEvent) -> Void = { _ in }

    /// The results of the effects so far.
    private struct Work {
        let token = ActivityMark.token()
        /// Keeps other processes from removing the release or its artifact during the activation.
        let lease: ReleaseLease
        var release: InstalledRelease
        var artifact: Artifact?
        /// The reason why the probe failed with the artifact.
        var objection: String?
        var error: (any Error)?
    }

    /// Runs the activation to its end.
    /// - Returns: the live release.
    func run() async throws -> InstalledRelease {
        try await store.prepare()
        guard let release = try await store.installed(identity) else {
            throw StoreError.notInstalled(identity.description)
        }
        var work = Work(lease: try await store.lease(identity), release: release)
        defer { work.lease.release() }
        let renewal = store.marks.renewing(identity, token: work.token)
        defer { renewal.stop() }
        var activation = Activation(identity)
        var effects = activation.handle(.begun)[...]
        while let effect = effects.popFirst() {
            let event: Activation.Event?
            do {
                event = try await perform(effect, &work)
            } catch {
                work.error = error
                event = .stopped(duringSwitch: effect == .commit && error is FileError)
            }
            guard let event else { continue }
            let next = activation.handle(event)
            if case .stopped = event { effects = next[...] } else { effects += next }
        }
        switch activation.failure {
        case nil: return work.release
        case .refused(let reason): throw refused(release, reason)
        case .damaged(let what): throw StoreError.damaged(release, what)
        case .stopped: throw work.error ?? CancellationError()
        }
    }

    private func perform(_ effect: Activation.Effect, _ work: inout Work) async throws -> Activation.Event? {
        switch effect {
        case .mark(let stage):
            try await store.mark(identity, ActivityMark(stage, at: time.now), token: work.token)
            return nil
        case .verify: return try await verify()
        case .prepare:
            guard let preparer else { return .prepared(.notNeeded) }
            let preparation = try await store.prepare(
                work.release, by: preparer, under: work.lease, rehashing: true, sourceIsVerified: rehashes,
                progress: progress)
            work.artifact = preparation.artifact
            return .prepared(preparation.outcome)
        case .probe(let usesArtifact):
            let event = try await runProbe(usesArtifact ? work.artifact?.path : nil, work.release)
            if usesArtifact, case .probeFailed(let reason) = event { work.objection = reason }
            return event
        case .commit:
            // The release passed its probe without the artifact. Refuse the artifact before the switch: otherwise an
            // engine that opens the live release would use it.
            if let artifact = work.artifact, let objection = work.objection {
                try await refuse(artifact, work.release, "it did not pass its probe: \(objection)")
            }
            work.release = try await store.commit(identity, token: work.token)
            return .committed
        case .holdBack(let reason):
            if try await store.holdBack(identity, because: reason) { post(.heldBack(identity, reason: reason)) }
            return nil
        case .unmark:
            await unmark(work.token)
            return nil
        case .collect:
            do {
                for gone in try await store.collectSuperseded(identity.family) { post(.removed(gone)) }
            } catch {
                Log.write(.info, "activation", "older releases of \(identity.family) stay: \(error)")
            }
            return nil
        }
    }

    private func refuse(_ artifact: Artifact, _ release: InstalledRelease, _ reason: String) async throws {
        do {
            try await store.refuse(artifact, for: release, because: reason)
        } catch let error as FileError {
            Log.write(.info, "activation", "the refused artifact of \(identity) is not recorded: \(error)")
        }
    }

    private func verify() async throws -> Activation.Event {
        guard rehashes else { return .verified }
        progress(.verifying)
        // The preparation reads the artifact.
        let report = try await store.verify(identity, readsArtifacts: false)
        return report.files.lazy.compactMap(\.damage).first.map { .damaged($0) } ?? .verified
    }

    /// - Returns: `.probePassed` also if no engine of this build can probe the release.
    private func runProbe(_ artifact: Path?, _ release: InstalledRelease) async throws -> Activation.Event {
        guard let probe, let weights = artifact ?? release.weights else { return .probePassed }
        progress(.probing)
        let canary = release.receipt.canary ?? .default
        let report: ProbeReport?
        do {
            var candidate = ProbeCandidate(release: release, weights: weights, canary: canary)
            candidate.ignoresMemory = ignoresMemory
            report = try await probe.probe(candidate)
        } catch {
            try Task.checkCancellation()
            if error is CancellationError { throw error }
            return .probeFailed((error as? any HearthFailure)?.message ?? "\(error)")
        }
        try Task.checkCancellation()
        guard let report else { return .probePassed }
        if let objection = canary.objection(to: report) { return .probeFailed(objection) }
        Log.write(
            .info, "activation",
            "\(identity) answered in \(report.answerSeconds) s after a load of \(report.loadSeconds) s")
        return .probePassed
    }

    /// Removes the mark of this activation, also in a cancelled task: a mark that stays would count as a crash.
    private func unmark(_ token: String) async {
        do {
            try await store.unmark(identity, token: token)
        } catch {
            Log.write(.warning, "activation", "the mark of \(identity) stays until the next start: \(error)")
        }
    }

    private func refused(_ release: InstalledRelease, _ reason: String) -> StoreError {
        let (outcome, remedy) =
            release.isActive
            ? (
                "did not pass",
                "It was active before and still is. Roll back, choose another release, or try this one again."
            )
            : (
                "is not used",
                "What was active before still is. Wait for a newer version, or try this one again."
            )
        return StoreError(
            .probeFailed, "\(identity) was tried and \(outcome): \(reason)",
            context: ErrorContext(model: identity.description, remedy: remedy))
    }
}
