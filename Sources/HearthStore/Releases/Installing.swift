import Foundation
import HearthBase
import HearthCatalog

/// Installs releases from files, completely or not at all; runs on the caller's executor.
struct Installing: Sendable {
    let home: StoreHome
    /// The release to install and its files.
    let work: Installation

    private var directory: ReleaseDirectory { home.directory }
    private var fileSystem: any FileSystem { home.fileSystem }

    /// Installs the release, as `ModelStore.install` says.
    nonisolated(nonsending) func install(_ progress: @escaping StoreProgress) async throws -> InstalledRelease {
        let release = work.release
        if let kept = try await keep() { return kept }
        let staging = try await home.committing {
            try home.deactivateUnknown(release.identity)
            return try Staging(release.identity, in: home)
        }
        defer { staging.close() }
        let staged: Receipt
        do {
            let places = try home.places()
            staged = try await StopFlag.blocking { [work] in
                try work.fill(staging, places: places, flag: $0, progress)
            }
        } catch let error as FileError where error.code == .notFound {
            // Another process may have installed the same files, which removes them from the transfers folder.
            if let kept = try await keep() { return kept }
            throw error
        }
        return try await home.committing {
            let identity = try directory.identity(for: staged.content, publishedAs: release.identity)
            var receipt = staged.named(identity)
            if case .whole(let there) = try directory.find(identity), there.isVerified { receipt.isVerified = true }
            try staging.commit(receipt)
            consume()
            return try home.require(identity)
        }
    }

    /// The installed release that has these bytes, if re-hashing shows that it is whole.
    private nonisolated(nonsending) func keep() async throws -> InstalledRelease? {
        let installed = try directory.releases(publishedAs: work.release.identity)
        for identity in installed {
            guard case .whole(let found) = try directory.find(identity), work.isDone(by: found) else { continue }
            let folder = home.layout.folder(of: identity)
            let checks = try await StopFlag.blocking { [fileSystem] flag in
                try Verification(receipt: found, folder: folder, fileSystem: fileSystem, flag: flag).compare(
                    found.files)
            }
            guard checks.allSatisfy({ $0.outcome == .intact }) else { continue }
            let kept = try await home.committing { () -> InstalledRelease? in
                guard case .whole(var current) = try directory.find(identity), work.isDone(by: current) else {
                    return nil
                }
                if work.isVerified, !current.isVerified {
                    current.isVerified = true
                    try fileSystem.replaceContents(of: HomeLayout.receipt(in: folder), with: try current.data())
                }
                // An earlier attempt may have failed between the move and bringing it to the disk.
                try fileSystem.synchronizeFolder(folder.parent)
                consume()
                return try home.find(identity)
            }
            if let kept { return kept }
        }
        return nil
    }

    /// Removes the files from the transfers folder: the release has names of its own for them.
    private func consume() {
        for file in work.files + [work.archive].compactMap(\.self) where home.layout.isTransfer(file.path) {
            do {
                try fileSystem.removeFile(file.path)
            } catch {
                Log.write(.info, "\(file.path) stays until the next start: \(error)")
            }
        }
    }
}

extension Installation {
    /// Refuses reserved and equal names, and files that differ from the promised digests.
    func check() throws {
        let model = release.identity.description
        if HomeLayout.isReserved(release.identity) {
            throw StoreError(
                .reservedName,
                "\(model) cannot be installed: the store keeps the name "
                    + "\(release.identity.folderName) for itself", context: ErrorContext(model: model))
        }
        for file in files {
            if let objection = file.name.reservation {
                throw StoreError(
                    .reservedName, "\(model) cannot be installed: its file \(file.name) has a name of the store's own",
                    context: ErrorContext(model: model, file: file.name.string, found: objection))
            }
        }
        guard !files.isEmpty || archive != nil else {
            throw StoreError(
                .stagedFileChanged, "\(model) came without a file", context: ErrorContext(model: model))
        }
        try Staging.refuseEqualNames(files.map(\.name), of: release.identity)
        // A digest in the catalog entry is the one promised for the file of that name.
        for (index, remote) in release.files.enumerated() {
            let isArchive = index == 0 && release.archive != nil
            let staged = isArchive ? archive : files.first { $0.name == remote.name }
            guard let file = staged, let promised = remote.digest else { continue }
            guard promised == file.digest else {
                throw StoreError(
                    .stagedFileChanged, "\(file.name) is not the file that \(model) promises",
                    context: ErrorContext(
                        model: model, file: file.path.string, expected: promised.hex, found: file.digest.hex))
            }
        }
    }
}
