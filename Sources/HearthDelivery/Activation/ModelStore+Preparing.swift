import Foundation
import HearthBase

extension ModelStore {
    nonisolated var preparedFiles: PreparedFiles { PreparedFiles(layout: layout, fileSystem: fileSystem) }

    /// What an engine made of a release, as found on the disk by name and size; `nil` where it is used as it is.
    public func prepared(of release: InstalledRelease) async throws -> PreparedRelease? {
        try preparedFiles.any(of: release)
    }

    /// What a recipe makes of a release: found whole, or built.
    /// - Parameter rehashing: whether one that is found is read again.
    /// - Returns: the artefact, and whether it was built now.
    nonisolated func prepare(
        _ release: InstalledRelease, by preparer: any ReleasePreparer, _ recipe: PreparationRecipe, rehashing: Bool,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> (prepared: PreparedRelease, isNew: Bool) {
        let files = preparedFiles
        let found = try await StopFlag.blocking { flag in
            try files.find(recipe, of: release, rehashing: rehashing, flag: flag)
        }
        if let found { return (found, false) }
        let work = try await blocking { try files.begin(recipe, of: release) }
        do {
            try await preparer.build(recipe, of: release, at: work.path, progress: progress)
            try Task.checkCancellation()
            let date = time.now
            try await StopFlag.blocking { flag in
                try files.complete(work, recipe, of: release, at: date, flag: flag)
            }
            let prepared = try await place(work, recipe, of: release)
            try await blocking { work.close() }
            return (prepared, true)
        } catch {
            try await blocking { work.close() }
            throw error
        }
    }

    private func place(
        _ work: PreparedWork, _ recipe: PreparationRecipe, of release: InstalledRelease
    ) async throws -> PreparedRelease {
        let leases = ReleaseLeases(layout: layout, fileSystem: fileSystem)
        return try await committing {
            // It was removed meanwhile, or replaced by other bytes.
            guard let now = try read(release.identity), now.receipt.isSameContent(as: release.receipt) else {
                throw notInstalled(release.identity.description)
            }
            let isRead = try !leases.holders(of: release.identity).isEmpty
            guard let prepared = try preparedFiles.commit(work, recipe, of: release, mayDrop: !isRead) else {
                throw FileError(errno: EIO, doing: "prepare", path: work.path)
            }
            return prepared
        }
    }

    /// Takes an artefact out of use that an engine could not work with.
    func drop(_ prepared: PreparedRelease) async throws {
        try await committing { try preparedFiles.drop(prepared) }
    }
}
