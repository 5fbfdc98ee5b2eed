import Foundation
import HearthBase

extension ModelStore {
    nonisolated var preparedFiles: PreparedFiles { PreparedFiles(layout: layout, fileSystem: fileSystem) }

    /// What an engine made of a release, as found on the disk by name and size; `nil` where it is used as it is.
    public func prepared(of release: InstalledRelease) async throws -> PreparedRelease? {
        try preparedFiles.any(of: release)
    }

    /// What was made of a release, failed its trial there and so is not opened; `nil` where there was nothing of the kind, the release
    /// holds other bytes by now, or something was made of it since.
    public func refusedArtefact(of release: InstalledRelease) async throws -> RefusedArtefact? {
        try preparedFiles.lastRefused(of: release)
    }

    /// What a recipe makes of a release: found whole, or built. What other recipes made goes, unless somebody may read it; while
    /// the release is tried where it was staged, nothing goes that the live one of its name may open.
    /// - Parameters:
    ///   - rehashing: whether one that is found is read again.
    ///   - verifying: whether what it is built from is read again first. Nothing is read where it is found.
    ///   - lease: the caller's own lease on the release, under which nothing is open yet.
    /// - Returns: the artefact, and whether it was built now.
    /// - Throws: ``DamagedSource``; what the preparer throws; ``ActivationError``, ``StoreError``, `FileError`, `CancellationError`.
    nonisolated func prepare(
        _ release: InstalledRelease, by preparer: any ReleasePreparer, _ recipe: PreparationRecipe, rehashing: Bool,
        verifying: Bool = true, under lease: ReleaseLease? = nil,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> (prepared: PreparedRelease, isNew: Bool) {
        let files = preparedFiles
        let found = try await StopFlag.blocking { flag in
            try files.find(recipe, of: release, rehashing: rehashing, flag: flag)
        }
        if let found {
            // Whoever made it may have ended right after that.
            await forgetEnds(of: release.identity)
            if !isStaged(release) { await retireOthers(than: found, under: lease) }
            return (found, false)
        }
        // What forbids it is asked before anything is read.
        let work = try await begin(recipe, of: release, under: lease)
        do {
            try await preparer.check(recipe, of: release)
            if verifying { try await verifySource(of: recipe, in: release) }
            try await build(recipe, of: release, by: preparer, at: work, progress: progress)
            let date = time.now
            try await StopFlag.blocking { flag in
                try files.complete(work, recipe, of: release, at: date, flag: flag)
            }
            let prepared = try await place(work, recipe, of: release, under: lease)
            await forgetEnds(of: release.identity)
            try await blocking { work.close() }
            return (prepared, true)
        } catch {
            try await blocking { work.close() }
            throw error
        }
    }

    /// Weights that were whole when they were installed may have rotted on the disk since. Reading them takes seconds, making
    /// something of them minutes.
    private nonisolated func verifySource(of recipe: PreparationRecipe, in release: InstalledRelease) async throws {
        let report = try await StopFlag.blocking { [fileSystem] flag in
            try Verification(receipt: release.receipt, folder: release.folder, fileSystem: fileSystem, flag: flag)
                .compare(recipe.sourceFiles(in: release))
        }
        if let what = report.lazy.compactMap(\.damage).first { throw DamagedSource(what: what) }
    }

    private func begin(
        _ recipe: PreparationRecipe, of release: InstalledRelease, under lease: ReleaseLease?
    ) async throws -> PreparedWork {
        try await committing {
            try refuseWhatEnds(recipe, of: release, under: lease)
            return try preparedFiles.begin(recipe, of: release)
        }
    }

    private func place(
        _ work: PreparedWork, _ recipe: PreparationRecipe, of release: InstalledRelease, under lease: ReleaseLease?
    ) async throws -> PreparedRelease {
        return try await committing {
            // It was removed meanwhile, or replaced by other bytes. What is tried before it is in its place is not there yet.
            let isStaged = isStaged(release)
            guard try isStaged || read(release.identity)?.receipt.isSameContent(as: release.receipt) == true else {
                throw notInstalled(release.identity.description)
            }
            let prepared = try preparedFiles.commit(work, recipe, of: release) {
                try isStaged || isRead(release.identity, besides: lease)
            }
            guard let prepared else { throw FileError(errno: EIO, doing: "prepare", path: work.path) }
            return prepared
        }
    }

    /// Whether a release is not in its place yet, where other bytes may be live that share its folder of artefacts.
    private nonisolated func isStaged(_ release: InstalledRelease) -> Bool {
        release.folder != layout.folder(of: release.identity)
    }

    /// What was read when the artefact in use was made, and is not any more, goes now. What cannot go stays.
    private func retireOthers(than prepared: PreparedRelease, under lease: ReleaseLease?) async {
        do {
            guard try preparedFiles.hasOthers(than: prepared), try !isRead(prepared.release, besides: lease) else {
                return
            }
            try await committing {
                try preparedFiles.retireOthers(than: prepared) { try isRead(prepared.release, besides: lease) }
            }
        } catch {
            Log.write(
                .info, "delivery.activation", "what else was made of \(prepared.release) stays for now: \(error)")
        }
    }

    /// The bytes of what was made of a release and is opened no more.
    func outdatedBytes(of release: InstalledRelease, besides wish: PreparedWish) throws -> UInt64 {
        try preparedFiles.outdated(of: release, besides: wish).map { try bytes(below: $0) }.saturatedSum
    }

    /// Removes what was made of a release and is opened no more, unless somebody reads the release.
    /// - Returns: whether there was anything, and all of it is gone.
    func removeOutdated(of release: InstalledRelease, besides wish: PreparedWish) async throws -> Bool {
        try await committing {
            guard let now = try read(release.identity), now.receipt.isSameContent(as: release.receipt) else {
                return false
            }
            let outdated = try preparedFiles.outdated(of: release, besides: wish)
            for folder in outdated {
                guard try !isRead(release.identity) else { return false }
                try preparedFiles.retire(folder, folder.parent) { try isRead(release.identity) }
            }
            return try !outdated.isEmpty && preparedFiles.outdated(of: release, besides: wish).isEmpty
        }
    }

    func isRead(_ identity: ReleaseIdentity, besides lease: ReleaseLease? = nil) throws -> Bool {
        try !ReleaseLeases(layout: layout, fileSystem: fileSystem).holders(of: identity, besides: lease).isEmpty
    }

    /// Takes an artefact out of use that an engine could not work with. Where somebody reads it, the file itself goes later.
    /// - Parameter lease: the caller's own lease on the release, under which the artefact is open no more.
    func drop(_ prepared: PreparedRelease, under lease: ReleaseLease? = nil) async throws {
        try await committing {
            try preparedFiles.drop(prepared) { try isRead(prepared.release, besides: lease) }
        }
    }

    /// The same, and has it not made again for what the release holds: it has passed its trial without.
    func refuse(
        _ prepared: PreparedRelease, for release: InstalledRelease, because reason: String, under lease: ReleaseLease?
    ) async throws {
        try await committing {
            try preparedFiles.refuse(prepared.recipe, prepared, for: release, because: reason, at: time.now) {
                try isRead(prepared.release, besides: lease)
            }
        }
    }

    /// Takes artefacts out of use that were found damaged. Where somebody reads one, the file itself goes later.
    func drop(_ damaged: [VerificationReport.Prepared]) async throws {
        try await committing {
            for prepared in damaged { try preparedFiles.drop(prepared) { try isRead(prepared.artefact.release) } }
        }
    }
}
