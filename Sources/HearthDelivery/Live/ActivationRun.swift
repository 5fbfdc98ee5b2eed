import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// The steps by which an installed release becomes live: verify, prepare, probe and commit.
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

    /// Keeps the present step as a mark, which says after the end of a process what it was doing.
    private let token = ActivityMark.token()

    /// Runs the activation to its end.
    ///
    /// Before the switch only marks and caches are written: the release before stays live and is never touched. A
    /// refused release is recorded as held back.
    /// - Returns: the live release.
    func run() async throws -> InstalledRelease {
        try await store.prepare()
        guard let release = try await store.installed(identity) else {
            throw StoreError.notInstalled(identity.description)
        }
        // Keeps other processes from removing the release or its artifact during the activation.
        let lease = try await store.lease(identity)
        defer { lease.release() }
        let renewal = store.marks.renewing(identity, token: token)
        defer { renewal.stop() }
        let artifact: Artifact?
        let (artifactObjection, objection): (Objection?, Objection?)
        do {
            try await mark(.verify)
            try await verify(release)
            try await mark(.prepare)
            artifact = try await prepare(release, under: lease)
            try await mark(.probe)
            artifactObjection = if let artifact { try await probe(artifact.path, release) } else { nil }
            let isProbed = artifact != nil && artifactObjection == nil
            let needsArtifact = preparer?.isRequired(for: release) ?? false
            objection =
                isProbed ? nil : needsArtifact ? artifactObjection : try await probe(release.weights, release)
            if objection == nil { try await mark(.commit) }
        } catch {
            await unmark()
            throw error
        }
        if let objection {
            do {
                if try await store.holdBack(identity, because: objection.reason) {
                    post(.heldBack(identity, reason: objection.reason))
                }
                await unmark()
            } catch {
                // The mark stays.
                Log.write(.warning, "activation", "\(identity) is not recorded as held back: \(error)")
            }
            throw refused(release, objection)
        }
        let live: InstalledRelease
        do {
            // The release passed its probe without the artifact. Refuse the artifact before the switch: otherwise an
            // engine that opens the live release would use it.
            if let artifact, let artifactObjection {
                try await refuse(artifact, release, "it did not pass its probe: \(artifactObjection.reason)")
            }
            live = try await store.commit(identity, token: token)
        } catch {
            // After a failure of the disk the link may already lead to the new release: the mark stays, and the next
            // start finishes the switch unless a later decision overtakes it.
            if !(error is FileError) { await unmark() }
            throw error
        }
        await unmark()
        do {
            for gone in try await store.collectSuperseded(identity.family) { post(.removed(gone)) }
        } catch {
            Log.write(.info, "activation", "older releases of \(identity.family) stay: \(error)")
        }
        return live
    }

    private func mark(_ stage: ActivityMark.Stage) async throws {
        try await store.mark(identity, ActivityMark(stage, at: time.now), token: token)
    }

    /// - Returns: the artifact to use in place of the weights.
    private func prepare(_ release: InstalledRelease, under lease: ReleaseLease) async throws -> Artifact? {
        guard let preparer else { return nil }
        return try await store.prepare(
            release, by: preparer, under: lease, rehashing: true, sourceIsVerified: rehashes, progress: progress
        )?.artifact
    }

    private func refuse(_ artifact: Artifact, _ release: InstalledRelease, _ reason: String) async throws {
        do {
            try await store.refuse(artifact, for: release, because: reason)
        } catch let error as FileError {
            Log.write(.info, "activation", "the refused artifact of \(identity) is not recorded: \(error)")
        }
    }

    private func verify(_ release: InstalledRelease) async throws {
        guard rehashes else { return }
        progress(.verifying)
        // The preparation reads the artifact.
        let report = try await store.verify(identity, readsArtifacts: false)
        if let damage = report.damage.first { throw StoreError.damaged(release, damage) }
    }

    /// - Returns: the objection to the release; `nil` also if no engine of this build can probe it.
    private func probe(_ weights: Path?, _ release: InstalledRelease) async throws -> Objection? {
        guard let probe, let weights else { return nil }
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
            let failure = error as? any HearthFailure
            return Objection(reason: failure?.message ?? "\(error)", cure: failure?.context.remedy)
        }
        try Task.checkCancellation()
        guard let report else { return nil }
        if let reason = canary.objection(to: report) { return Objection(reason: reason) }
        Log.write(
            .info, "activation",
            "\(identity) answered in \(report.answerSeconds) s after a load of \(report.loadSeconds) s")
        return nil
    }

    /// Removes the mark of this activation, also in a cancelled task: a mark that stays would count as a crash.
    private func unmark() async {
        do {
            try await store.unmark(identity, token: token)
        } catch {
            Log.write(.warning, "activation", "the mark of \(identity) stays until the next start: \(error)")
        }
    }

    /// What a probe found against a release, and what helps if the file itself is wrong.
    private struct Objection {
        let reason: String
        var cure: String?
    }

    private func refused(_ release: InstalledRelease, _ objection: Objection) -> StoreError {
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
        // The way to insist stands last: the command line completes it.
        return StoreError(
            .probeFailed, "\(identity) was tried and \(outcome): \(objection.reason)",
            context: ErrorContext(
                model: identity.description, remedy: (objection.cure.map { "\($0) " } ?? "") + remedy))
    }
}
