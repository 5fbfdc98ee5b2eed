import Foundation
import HearthBase
import HearthCatalog

/// Replaces damaged files of installed releases; runs on the caller's executor.
extension StoreHome {
    /// Replaces a damaged file, in this release and in every other that shares it.
    /// - Returns: the other releases that shared the file.
    nonisolated(nonsending) func replace(
        _ file: Receipt.File, of identity: ReleaseIdentity, with whole: Path
    ) async throws -> Set<ReleaseIdentity> {
        let places = try places(of: file, in: identity)
        for (owner, name) in places { try await swap(name, of: owner, for: whole, file) }
        return Set(places.map(\.owner)).subtracting([identity])
    }

    /// Every name of a damaged file, in its own and other releases.
    private func places(
        of file: Receipt.File, in identity: ReleaseIdentity
    ) throws -> [(owner: ReleaseIdentity, name: RelativePath)] {
        let layout = layout
        let damaged = try fileSystem.status(
            at: layout.folder(of: identity).appending(file.name), followLinks: false)
        var places: [(owner: ReleaseIdentity, name: RelativePath)] = [(identity, file.name)]
        guard let damaged, damaged.kind == .file else { return places }
        for other in try directory.releases() {
            let files = try directory.find(other).receipt?.files ?? []
            for candidate in files where candidate.digest == file.digest {
                let path = layout.folder(of: other).appending(candidate.name)
                let status = try fileSystem.status(at: path, followLinks: false)
                guard status?.identity == damaged.identity, (other, candidate.name) != (identity, file.name)
                else { continue }
                places.append((other, candidate.name))
            }
        }
        return places
    }

    /// Unpacks an archive into a staging folder, and replaces damaged files by the unpacked ones.
    /// - Returns: the other releases that shared a damaged file.
    nonisolated(nonsending) func replace(
        _ damaged: [Receipt.File], of identity: ReleaseIdentity, unpacking work: Installation,
        progress: @escaping StoreProgress
    ) async throws -> Set<ReleaseIdentity> {
        let staging = try await committing {
            try Staging(identity, in: self)
        }
        defer { staging.close() }
        let unpacked = try await StopFlag.blocking { try work.fill(staging, flag: $0, progress) }
        var also: Set<ReleaseIdentity> = []
        for file in damaged {
            guard unpacked.files.contains(where: { $0.name == file.name && $0.digest == file.digest }) else {
                throw StoreError(
                    .stagedFileChanged, "\(file.name) of \(identity) is another in its archive than its receipt says",
                    context: ErrorContext(
                        model: identity.description, file: file.name.string, expected: file.digest.hex,
                        remedy: "Remove the release and pull it again."))
            }
            also.formUnion(try await replace(file, of: identity, with: staging.folder.appending(file.name)))
        }
        return also
    }

    private nonisolated(nonsending) func swap(
        _ name: RelativePath, of owner: ReleaseIdentity, for whole: Path, _ file: Receipt.File
    ) async throws {
        let family = layout.folder(of: owner.family)
        // Beside the releases, where the next start removes it after an interruption.
        let temporary = family.appendingTemporary(besides: "repaired")
        try await copyUnlessLinked(whole, to: temporary, file)
        do {
            try await committing {
                let folder = layout.folder(of: owner)
                guard try directory.isFolder(folder) else { throw StoreError.notInstalled(owner.description) }
                try ReleaseFolder(path: folder, fileSystem: fileSystem).put(temporary, at: name)
            }
        } catch {
            do {
                try fileSystem.removeFile(temporary)
            } catch let second {
                // It may have been renamed already, and the next start removes it otherwise. The caller reports the
                // first error.
                Log.write(.info, "\(temporary) was not removed: \(second)")
            }
            throw error
        }
    }

    private nonisolated(nonsending) func copyUnlessLinked(
        _ whole: Path, to temporary: Path, _ file: Receipt.File
    ) async throws {
        do {
            try fileSystem.synchronize(try fileSystem.open(whole, .read))
            return try fileSystem.makeHardLink(at: temporary, to: whole)
        } catch let error as FileError where error.code == .notFound || error.code == .diskFull {
            throw error
        } catch let error as FileError {
            Log.write(.info, "\(whole) is copied: \(error.message)")
        }
        let digest = try await StopFlag.blocking { [fileSystem] flag in
            try FilePump(fileSystem: fileSystem, flag: flag).copy(try fileSystem.open(whole, .read), to: temporary)
        }
        guard digest == file.digest else {
            try fileSystem.removeFile(temporary)
            throw StoreError(
                .stagedFileChanged, "\(file.name) changed while it was copied",
                context: ErrorContext(file: whole.string, expected: file.digest.hex, found: digest.hex))
        }
    }
}
