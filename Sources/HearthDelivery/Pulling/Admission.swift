import Foundation
import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// Checks whether a release may be pulled.
struct Admission: Sendable {
    let store: ModelStore
    let device: DeviceLimits
    let fetching: Fetching
    let preflight: (any ReleasePreflight)?

    func check(_ resolved: Offer, _ options: PullOptions) throws {
        let release = resolved.release
        if let objection = resolved.objection, !resolved.isNamed { try refuse(release, objection) }
        let missing = release.files.first { !$0.isVerifiable }
        if let missing, !options.allowUnverified {
            throw DeliveryError(
                .digestMissing, "the catalog gives no SHA-256 for \(missing.name), so its bytes cannot be checked",
                context: ErrorContext(
                    model: release.identity.description, file: missing.name.string,
                    remedy: "Ask the publisher for one, or accept any bytes."))
        }
        if let archive = release.archive, !archive.format.isSupported {
            throw DeliveryError(
                .archiveUnsupported,
                "\(release.identity) comes packed as \(archive.format.rawValue), which this version does not unpack",
                context: ErrorContext(
                    model: release.identity.description, remedy: "Ask the publisher for the plain file."))
        }
        // Without activation, a model of any format is fetched for another program.
        if let formats = device.formats, options.activate, !formats.contains(release.format) {
            throw DeliveryError(
                .incompatible, "\(release.identity) \(Ineligibility.noEngine(release.format).reason)",
                context: ErrorContext(
                    model: release.identity.description,
                    expected: formats.map(\.rawValue).sorted().joined(separator: ", "),
                    found: release.format.rawValue, remedy: "Choose a GGUF model, or fetch it without activating it."))
        }
        if let needed = release.comparedMemory, needed > device.memory,
            !device.ignoresMemory, !options.ignoreMemory, !(device.preparer?.fitsAfterPreparation(release) ?? false)
        {
            throw DeliveryError(
                .notEnoughMemory, "\(release.identity) needs more memory than this device has",
                context: ErrorContext(
                    model: release.identity.description, expected: "\(needed) bytes", found: "\(device.memory) bytes",
                    remedy: "Choose a smaller variant, or ignore the memory of the device."))
        }
        if let minimum = release.minimumAppVersion, let appVersion = device.appVersion, appVersion < minimum {
            throw DeliveryError(
                .appTooOld, "\(release.identity) needs version \(minimum) of this app",
                context: ErrorContext(
                    model: release.identity.description, expected: "\(minimum)", found: "\(appVersion)",
                    remedy: "Update the app first."))
        }
    }

    /// Refuses a release outside its rollout, or held back. `check` covers the other objections.
    private func refuse(_ release: Release, _ objection: Ineligibility) throws {
        let (code, remedy): (ErrorCode<PullOutcome>, String)
        switch objection {
        case .notInRollout: (code, remedy) = (.notInRollout, "Wait for your turn, or name the version.")
        case .yanked: (code, remedy) = (.yanked, "Choose another version, or name this one.")
        case .heldBack: (code, remedy) = (.heldBack, "Wait for a newer version, or try this one again.")
        // The user named the model, and another program's engine may read its format.
        case .noEngine, .appTooOld, .notEnoughMemory: return
        }
        throw DeliveryError(
            code, "\(release.identity) \(objection.reason)",
            context: ErrorContext(model: release.identity.description, remedy: remedy))
    }

    func checkStorage(for release: Release, _ files: [RemoteFile], _ shared: [StagedFile]) async throws {
        let folder = store.transfersFolder
        let (policy, bytes, unknown) = try await blocking {
            [transfer = fetching.transfer, fileSystem = fetching.fileSystem] () throws -> (
                StoragePolicy, UInt64?, (any Error)?
            ) in
            let held = try files.map { try transfer.bytesHeld(of: TransferRequest($0)) }
            // Files shared with another release need no further space.
            let there = (held + shared.map(\.size)).saturatedSum
            let policy = StoragePolicy(total: release.installationSize, held: there)
            do {
                return (policy, try fileSystem.freeSpace(at: folder), nil)
            } catch {
                return (policy, nil, error)
            }
        }
        guard !policy.allows(free: bytes) else { return }
        throw DeliveryError(
            .insufficientStorage,
            bytes == nil
                ? "the disk of \(folder) does not say how much space is free"
                : "\(release.identity) needs \(ByteCount(policy.required)) of free space, and the disk of \(folder) has "
                    + "\(ByteCount(bytes ?? 0))",
            context: ErrorContext(
                model: release.identity.description, file: folder.string, expected: "\(policy.required) bytes",
                found: bytes.map { "\($0) bytes" } ?? "unknown",
                remedy: bytes == nil
                    ? "Choose a home folder on another disk."
                    : "Free some space, or choose a smaller variant; nothing already received is lost."),
            underlying: unknown)
    }

    /// Refuses to activate a held-back release. Callers skip this check if a person asked for the release.
    /// - Parameter identity: the release as it is, or would be, installed.
    func refuseHeldBack(_ identity: ReleaseIdentity, _ options: PullOptions) async throws {
        guard options.activate, let held = try await store.state(of: identity.family).heldBack(identity) else { return }
        throw DeliveryError(
            .heldBack, "\(identity) is held back: \(held.reason)",
            context: ErrorContext(
                model: identity.description,
                remedy: "Wait for a newer version, or try this one again."))
    }

    func refuseDowngrade(_ release: Release, _ options: PullOptions) async throws {
        guard !options.allowDowngrade, options.activate else { return }
        // Also if the active release is damaged: damage is no reason to downgrade.
        guard let active = try await store.state(of: release.identity.family).active else { return }
        guard active.version.isNewer(than: release.identity.version) == true else { return }
        // A newer release became live: delete the partial downloads of this one.
        await sweepUnnamed(release)
        throw DeliveryError(
            .downgrade,
            "the origin offers \(release.identity.version), which is older than the active \(active.version)",
            context: ErrorContext(
                model: release.identity.family.name, expected: "newer than \(active.version)",
                found: release.identity.version.name,
                remedy: "Name the version, or allow a downgrade."))
    }

    /// Deletes the partial downloads that pulls without a version left of a release.
    private func sweepUnnamed(_ release: Release) async {
        for file in release.files {
            await fetching.transfers.sweep(TransferRequest(file)) { plan in
                plan.purpose?.release == release.identity && plan.purpose?.isNamed == false && !plan.isPaused
            }
        }
    }

    /// Asks the preflight whether a release fits, before fetching it.
    /// - Parameter files: the files to fetch, with the locations that may be asked.
    func preflight(_ release: Release, _ files: [RemoteFile], _ options: PullOptions) async throws {
        guard let preflight, release.archive == nil else { return }
        // Weights that another release has are not fetched.
        let weights = files.first { $0.name == release.file.name }
        var admitted = release
        admitted.file = weights ?? release.file
        admitted.companions = release.companions.map { companion in
            files.first { $0.name == companion.name } ?? companion
        }
        // Files that are on this device already were judged when they came.
        try await preflight.check(
            admitted, head: fetching.remoteHead,
            activates: options.activate,
            ignoresMemory: device.ignoresMemory || options.ignoreMemory || weights?.copies.isEmpty != true)
    }
}
