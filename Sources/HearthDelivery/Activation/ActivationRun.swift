import Foundation
import HearthBase

/// Performs what ``Activation`` decides.
struct ActivationRun: Sendable {
    let store: ModelStore
    let preparer: (any ReleasePreparer)?
    let probe: (any ReleaseProbe)?
    let time: TimeSource
    let identity: ReleaseIdentity
    /// What is to take the place of other bytes that are live under its name, and is tried where it is until then; the caller
    /// puts it there. `nil` for what is installed.
    var staged: InstalledRelease?
    /// What the catalog's entry promised of what is staged, as ``HeldBack/promised``.
    var promised: SHA256Digest?
    let rehashes: Bool
    let ignoresMemory: Bool
    let progress: @Sendable (ActivationProgress) -> Void
    /// Hears what becomes of releases on the way, but for the one that becomes live.
    var tell: @Sendable (ModelEvent) -> Void = { _ in }

    /// What the effects have brought so far.
    private struct Work {
        let token = ActivityMark.token()
        /// Keeps others from removing the release, or what is made of it, while it is read and tried; nothing of it is open yet
        /// under this one. For what is staged it is one on what has its name, `nil` where nothing is in its place.
        let lease: ReleaseLease?
        var release: InstalledRelease
        var prepared: PreparedRelease?
        /// What an earlier trial had against what is prepared; it holds until a trial has passed.
        var refusal: PreparedRecord.Refusal?
        /// An artefact that failed; of what is staged, the live release may open the same one.
        var refused: PreparedRelease?
        /// What the last trial had to object.
        var objection = ""
        var error: (any Error)?
    }

    /// Runs to the end.
    /// - Returns: the release, live.
    func run() async throws -> InstalledRelease {
        try await store.prepare()
        var found = staged
        if found == nil { found = try await store.installed(identity) }
        guard let release = found else { throw await store.notInstalled(identity.description) }
        var work = Work(lease: try await lease(), release: release)
        defer { work.lease?.release() }
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

    private func lease() async throws -> ReleaseLease? {
        do {
            return try await store.lease(identity)
        } catch let error as StoreError where error.code == .notInstalled && staged != nil {
            return nil
        }
    }

    private func perform(_ effect: Activation.Effect, _ work: inout Work) async throws -> Activation.Event? {
        switch effect {
        case .mark(let stage):
            // Nothing is switched for what is staged, and an end in its trial is one of its bytes, not of what has their name.
            guard staged == nil || stage != .commit else { return nil }
            var mark = ActivityMark(stage, at: time.now)
            if stage == .probe, let staged { (mark.content, mark.promised) = (staged.receipt.content, promised) }
            try await store.mark(identity, mark, token: work.token)
            return nil
        case .verify: return try await verify()
        case .prepare:
            guard let preparer else { return .prepared(.notNeeded) }
            let outcome = try await ReleasePreparation(
                store: store, preparer: preparer, lease: work.lease,
                // What did not pass is made only to be tried again.
                overrides: probe == nil ? [.making] : [.making, .trial],
                sourceIsVerified: rehashes, progress: progress
            ).prepare(work.release, rehashing: true)
            work.prepared = outcome.prepared
            work.refusal = outcome.refusal
            return .prepared(outcome.preparation)
        case .probe(let usesPrepared):
            let event =
                try await tryOut(usesPrepared ? work.prepared?.path : nil, work.release)
                // Not tried: what had failed before counts as it did.
                ?? (usesPrepared ? work.refusal : nil).map { .probeFailed($0.reason) } ?? .probePassed
            if case .probeFailed(let reason) = event { work.objection = reason }
            return event
        case .dropPrepared:
            work.refused = work.prepared
            if staged == nil, let prepared = work.prepared { try await store.drop(prepared, under: work.lease) }
            work.prepared = nil
            return nil
        case .commit:
            // It has passed without: so that was at fault. First, for whoever opens what is live would make it again.
            if let refused = work.refused { try await refuse(refused, work) }
            if staged == nil { work.release = try await store.commit(identity, token: work.token) }
            return .committed
        case .holdBack(let reason):
            // What has the name of what is staged has not failed, also where it is not live any more.
            if let staged {
                try await store.holdBack(
                    staged.receipt.content, promised: promised, of: identity, because: reason)
                return nil
            }
            if try await store.holdBack(identity, because: reason) { tell(.heldBack(identity, reason: reason)) }
            return nil
        case .unmark:
            await unmark(work.token)
            return nil
        case .collect:
            guard staged == nil else { return nil }
            do {
                for gone in try await store.collectSuperseded(identity.family) { tell(.removed(gone)) }
            } catch {
                Log.write(.info, "delivery.activation", "older releases of \(identity.family) stay: \(error)")
            }
            return nil
        }
    }

    private func refuse(_ prepared: PreparedRelease, _ work: Work) async throws {
        if staged != nil { try await store.drop(prepared, under: work.lease) }
        do {
            try await store.refuse(prepared, for: work.release, because: work.objection, under: work.lease)
        } catch let error as FileError {
            Log.write(.info, "delivery.activation", "what did not pass of \(identity) may be made again: \(error)")
        }
    }

    private func verify() async throws -> Activation.Event {
        guard rehashes else { return .verified }
        progress(.verifying)
        // What was prepared of it is read when that is asked for.
        let report = try await store.verify(identity, readsPrepared: false)
        return report.files.lazy.compactMap(\.damage).first.map { .damaged($0) } ?? .verified
    }

    /// - Returns: `nil` where no trial takes place.
    private func tryOut(_ prepared: Path?, _ release: InstalledRelease) async throws -> Activation.Event? {
        guard let probe, let weights = prepared ?? release.weights else { return nil }
        progress(.probing)
        let canary = release.receipt.canary ?? .usual
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
        guard let report else { return nil }
        if let objection = canary.objection(to: report) { return .probeFailed(objection) }
        Log.write(
            .info, "delivery.activation",
            "\(identity) answered in \(report.answerSeconds) s after a load of \(report.loadSeconds) s")
        return .probePassed
    }

    /// Also for a task that was cancelled: a mark that stays would count as an end in the middle.
    private func unmark(_ token: String) async {
        do {
            try await store.unmark(identity, token: token)
        } catch {
            Log.write(.warning, "delivery.activation", "the mark of \(identity) stays until the next start: \(error)")
        }
    }

    private func refused(_ release: InstalledRelease, _ reason: String) -> ActivationError {
        let again = staged == nil ? "use" : "pull"
        let (outcome, remedy) =
            release.isActive && staged == nil
            ? (
                "did not pass",
                "It was active before and still is. Go back with 'hearth rollback \(identity.family)', or choose another "
                    + "with 'hearth use'."
            )
            : (
                "is not used",
                // Of bytes that were to replace others nobody knows here whether those are whole.
                (staged == nil ? "What was active before still is. " : "")
                    + "Wait for a newer version, or try it again with 'hearth \(again) \(identity)'."
            )
        return ActivationError(
            .probeFailed, "\(identity) was tried and \(outcome): \(reason)",
            context: ErrorContext(model: identity.description, remedy: remedy))
    }
}
