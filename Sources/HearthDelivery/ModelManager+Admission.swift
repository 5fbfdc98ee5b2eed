import Foundation
import HearthBase

/// What speaks against bringing a release over.
extension ModelManager {
    func check(_ resolved: ResolvedRelease, _ options: PullOptions) throws {
        let release = resolved.release
        if let objection = resolved.objection, !resolved.isNamed { try refuse(release, objection) }
        let missing = release.files.first { !$0.isVerifiable }
        if let missing, !options.allowUnverified {
            throw DeliveryError(
                .digestMissing, "the catalog gives no SHA-256 for \(missing.name), so its bytes cannot be checked",
                context: ErrorContext(
                    model: release.identity.description, file: missing.name.string,
                    remedy: "Ask the publisher for one, or accept any bytes with --allow-unverified."))
        }
        if let archive = release.archive, !archive.format.isSupported {
            throw DeliveryError(
                .archiveUnsupported,
                "\(release.identity) comes packed as \(archive.format.rawValue), which this version does not unpack",
                context: ErrorContext(
                    model: release.identity.description, remedy: "Ask the publisher for the plain file."))
        }
        if let needed = release.requirements.memoryBytes, needed > deviceMemory,
            !ignoresMemory, !options.ignoreMemory, !(preparer?.makesFit(release) ?? false)
        {
            throw DeliveryError(
                .notEnoughMemory, "\(release.identity) needs more memory than this device has",
                context: ErrorContext(
                    model: release.identity.description, expected: "\(needed) bytes", found: "\(deviceMemory) bytes",
                    remedy: "Choose a smaller variant, or insist with --ignore-memory."))
        }
        if let minimum = release.minimumAppVersion, let appVersion, appVersion < minimum {
            throw DeliveryError(
                .appTooOld, "\(release.identity) needs version \(minimum) of this app",
                context: ErrorContext(
                    model: release.identity.description, expected: "\(minimum)", found: "\(appVersion)",
                    remedy: "Update the app first."))
        }
    }

    /// Refuses what nobody asked for by its version; the other objections are looked at for every release.
    private func refuse(_ release: Release, _ objection: Ineligibility) throws {
        let (code, remedy): (ErrorCode<DeliveryErrorDomain>, String)
        switch objection {
        case .notInRollout: (code, remedy) = (.notInRollout, "Wait for your turn, or name the version.")
        case .heldBack, .bytesHeldBack: (code, remedy) = (.heldBack, "Wait for a newer version, or name this one.")
        // Engines of other programs may read it: whoever asks for a model by name may have it.
        case .noEngine: return
        case .appTooOld, .notEnoughMemory: return
        }
        throw DeliveryError(
            code, "\(release.identity) \(objection.reason)",
            context: ErrorContext(model: release.identity.description, remedy: remedy))
    }

    func checkStorage(for release: Release, _ files: [RemoteFile], _ shared: [StagedFile]) async throws {
        let folder = store.transfersFolder
        let (policy, free) = try await blocking { [transfer, fileSystem] in
            let held = try files.map { try transfer.bytesHeld(of: TransferRequest($0)) }
            // What another release holds takes no second place.
            let there = (held + shared.map(\.size)).saturatedSum
            let policy = StoragePolicy(total: release.installationSize, held: there)
            return (policy, Result { try fileSystem.freeSpace(at: folder) })
        }
        var unknown: (any Error)?
        var bytes: UInt64?
        switch free {
        case .success(let known): bytes = known
        case .failure(let error): unknown = error
        }
        guard case .refused(let required) = policy.verdict(free: bytes) else { return }
        throw DeliveryError(
            .insufficientStorage,
            bytes == nil
                ? "the disk of \(folder) does not say how much space is free"
                : "\(release.identity) needs more free space than the disk has",
            context: ErrorContext(
                model: release.identity.description, file: folder.string, expected: "\(required) bytes",
                found: bytes.map { "\($0) bytes" } ?? "unknown",
                remedy: bytes == nil
                    ? "Choose a home folder on another disk."
                    : "Free some space, or choose a smaller variant; nothing already received is lost."),
            underlying: unknown)
    }

    /// Bytes that are held back would be tried wherever they come to a place that is live; a release only to be made live.
    func refuseHeldBack(_ release: Release, _ options: PullOptions) async throws {
        let state = try await store.state(of: release.identity.family)
        if let held = state.heldBackContents.last(where: release.isMeant) {
            // What came before they were: nobody asks for it again.
            await sweepUnnamed(release)
            throw Self.bytesHeldBack(release.identity, held)
        }
        guard options.activate, let held = state.heldBack(release.identity) else { return }
        throw DeliveryError(
            .heldBack, "\(release.identity) is held back: \(held.reason)",
            context: ErrorContext(
                model: release.identity.description,
                remedy: "Wait for a newer version, or name this one to try it again."))
    }

    /// The same for what is to take the place of other bytes that are live, and of which nobody told all digests before.
    /// - Parameter release: what brought it.
    func refuseHeldBack(_ staged: InstalledRelease, of release: Release) async throws {
        let state = try await store.state(of: staged.identity.family)
        guard let held = state.heldBack(staged.identity, content: staged.receipt.content) else { return }
        if let promised = release.promised, promised != held.promised {
            do {
                try await store.note(promised, of: held)
            } catch {
                Log.write(
                    .info, "delivery.store", "what brings these bytes of \(staged.identity) is not noted: \(error)")
            }
        }
        throw Self.bytesHeldBack(staged.identity, held)
    }

    private static func bytesHeldBack(_ identity: ReleaseIdentity, _ held: HeldBack) -> DeliveryError {
        DeliveryError(
            .heldBack, "what \(identity) was replaced by is held back: \(held.reason)",
            context: ErrorContext(
                model: identity.description,
                remedy: "Wait for a newer version, or name this one to try it again."))
    }

    func refuseDowngrade(_ release: Release, _ options: PullOptions) async throws {
        guard !options.allowDowngrade, options.activate else { return }
        // Also where it is damaged: a damaged release is no reason to go back.
        guard let active = try await store.state(of: release.identity.family).active else { return }
        guard active.version.isNewer(than: release.identity.version) == true else { return }
        // What had come when a newer one became live: nobody asks for it again.
        await sweepUnnamed(release)
        throw DeliveryError(
            .downgrade,
            "the origin offers \(release.identity.version), which is older than the active \(active.version)",
            context: ErrorContext(
                model: release.identity.family.name, expected: "newer than \(active.version)",
                found: release.identity.version.name,
                remedy: "Name the version, or insist with --allow-downgrade."))
    }

    /// Throws away what pulls that named no version have left of a release.
    private func sweepUnnamed(_ release: Release) async {
        for file in release.files { await transfers.sweep(TransferRequest(file), ofUnnamed: release.identity) }
    }
}
