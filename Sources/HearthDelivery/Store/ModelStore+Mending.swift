import Foundation
import HearthBase

extension ModelStore {
    /// The receipt of a release, also of a damaged one.
    /// - Throws: `not-installed`, `receipt-damaged`.
    func receipt(of identity: ReleaseIdentity) throws -> Receipt {
        switch try shelf.find(identity) {
        case .absent: throw notInstalled(identity.description)
        case .damaged(nil, let problem): throw problem
        case .damaged(let receipt?, _), .whole(let receipt): return receipt
        }
    }

    /// A file of another name with the same contents, read just now; `nil` if there is none.
    func wholeCopy(of file: Receipt.File) async throws -> Path? {
        let places = try await holders()[Content(digest: file.digest, size: file.size)] ?? []
        guard places.count > 1 else { return nil }
        return try await StopFlag.blocking { [fileSystem] flag in
            let pump = FilePump(fileSystem: fileSystem, flag: flag)
            var seen: Set<FileIdentity> = []
            for place in places {
                do {
                    guard let status = try fileSystem.status(at: place, followLinks: false), status.kind == .file,
                        status.size == file.size, seen.insert(status.identity).inserted,
                        try pump.digest(of: place) == file.digest
                    else { continue }
                    return place
                } catch let error as FileError {
                    Log.write(.info, "delivery.store", "\(place) is of no help: \(error)")
                }
            }
            return nil
        }
    }

    /// Copies a damaged file to where a transfer of it would go on, with a journal that nobody can read: the transfer checks
    /// every chunk of it then, and fetches those that are wrong.
    ///
    /// A transfer that is there already has its own bytes. A disk that does not give the damaged file back costs the download.
    func seed(_ file: Receipt.File, of identity: ReleaseIdentity, into key: String) async throws {
        let source = layout.folder(of: identity).appending(file.name)
        let place = HomeLayout.join(layout.transfers, key)
        try await StopFlag.blocking { [fileSystem] flag in
            guard let status = try fileSystem.status(at: source, followLinks: false), status.kind == .file,
                status.size > 0, status.size <= file.size, try fileSystem.status(at: place, followLinks: false) == nil
            else { return }
            try fileSystem.makeFolder(place, permissions: 0o755)
            do {
                try fileSystem.replaceContents(of: place.appending("journal"), with: Data("mended\n".utf8))
                let damaged = try fileSystem.open(source, .read)
                let part = place.appending("data.part")
                let copy = try fileSystem.open(part, .createNew)
                if try fileSystem.clone(damaged, to: copy) { return }
                try fileSystem.removeFile(part)
                _ = try FilePump(fileSystem: fileSystem, flag: flag).copy(damaged, to: part)
            } catch let error as FileError where error.code != .diskFull {
                Log.write(.info, "delivery.store", "\(source) comes again as a whole: \(error)")
                try fileSystem.removeTree(place)
            } catch {
                try fileSystem.removeTree(place)
                throw error
            }
        }
    }

    /// Puts a file that is right in the place of a damaged one, in this release and in every other that shares it.
    ///
    /// The damaged file is never written to: it is replaced by a rename, and who reads it keeps what it has.
    /// - Parameter whole: a file with the right bytes, compared with its digest just now.
    /// - Returns: the other releases.
    func mend(_ file: Receipt.File, of identity: ReleaseIdentity, from whole: Path) async throws -> Set<ReleaseIdentity>
    {
        let damaged = try fileSystem.status(
            at: layout.folder(of: identity).appending(file.name), followLinks: false)
        var places: [(owner: ReleaseIdentity, name: RelativePath)] = [(identity, file.name)]
        if let damaged, damaged.kind == .file {
            for family in try shelf.families() {
                for other in try shelf.releases(of: family) {
                    for candidate in try knownFiles(of: other) where candidate.digest == file.digest {
                        let path = layout.folder(of: other).appending(candidate.name)
                        let status = try fileSystem.status(at: path, followLinks: false)
                        guard status?.identity == damaged.identity, (other, candidate.name) != (identity, file.name)
                        else { continue }
                        places.append((other, candidate.name))
                    }
                }
            }
        }
        for (owner, name) in places { try await swap(name, of: owner, for: whole, file) }
        return Set(places.map(\.owner)).subtracting([identity])
    }

    /// Unpacks an archive beside its release, and puts what is damaged there right.
    /// - Parameters:
    ///   - damaged: files that came out of the archive.
    ///   - archive: compared with its digest.
    ///   - release: the archive's, without files beside it.
    /// - Returns: other releases that were mended with it.
    func mend(
        _ damaged: [Receipt.File], of identity: ReleaseIdentity, from archive: StagedFile, of release: Release,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> Set<ReleaseIdentity> {
        let work = Installation(release: release, files: [], archive: archive, origin: nil, date: time.now)
        let staging = try await committing {
            try Staging(identity, layout: layout, fileSystem: fileSystem)
        }
        defer { staging.close() }
        let reporter = ProgressReporter(time: time, report: progress)
        let unpacked = try await StopFlag.blocking { try work.fill(staging, flag: $0, reporter) }
        var also: Set<ReleaseIdentity> = []
        for file in damaged {
            guard unpacked.files.contains(where: { $0.name == file.name && $0.digest == file.digest }) else {
                throw StoreError(
                    .stagedFileChanged, "\(file.name) of \(identity) is another in its archive than its receipt says",
                    context: ErrorContext(
                        model: identity.description, file: file.name.string, expected: file.digest.hex,
                        remedy: "Remove it with 'hearth remove \(identity)' and bring it again with 'hearth pull'."))
            }
            also.formUnion(try await mend(file, of: identity, from: staging.folder.appending(file.name)))
        }
        return also
    }

    /// What the receipt of a release tells of, nothing where there is none to read.
    private func knownFiles(of identity: ReleaseIdentity) throws -> [Receipt.File] {
        switch try shelf.find(identity) {
        case .whole(let receipt), .damaged(let receipt?, _): receipt.files
        case .absent, .damaged(nil, _): []
        }
    }

    private func swap(
        _ name: RelativePath, of owner: ReleaseIdentity, for whole: Path, _ file: Receipt.File
    ) async throws {
        let family = layout.folder(of: owner.family)
        // Beside the releases, where the next start clears up what is left of an interruption.
        let temporary = family.appendingTemporary(besides: "mended")
        try await copyUnlessLinked(whole, to: temporary, file)
        do {
            try await committing {
                let folder = layout.folder(of: owner)
                guard try shelf.isFolder(folder) else { throw notInstalled(owner.description) }
                let target = folder.appending(name)
                for parent in name.folders {
                    let path = folder.appending(parent)
                    if try shelf.isFolder(path) { continue }
                    try fileSystem.removeFile(path)
                    try fileSystem.makeFolder(path, permissions: 0o755)
                    try fileSystem.synchronizeFolder(path.parent)
                }
                if try shelf.isFolder(target) { try fileSystem.removeTree(target) }
                try fileSystem.rename(temporary, to: target)
                try fileSystem.synchronizeFolder(target.parent)
            }
        } catch {
            do {
                try fileSystem.removeFile(temporary)
            } catch let second {
                // It may have moved in already. What stays is cleared up at the next start; the first error is the one to
                // tell.
                Log.write(.info, "delivery.store", "\(temporary) was not removed: \(second)")
            }
            throw error
        }
    }

    private func copyUnlessLinked(_ whole: Path, to temporary: Path, _ file: Receipt.File) async throws {
        do {
            try fileSystem.synchronize(try fileSystem.open(whole, .read))
            return try fileSystem.makeHardLink(at: temporary, to: whole)
        } catch let error as FileError where error.code == .notFound || error.code == .diskFull {
            throw error
        } catch let error as FileError {
            Log.write(.info, "delivery.store", "\(whole) is copied: \(error.message)")
        }
        let digest = try await StopFlag.blocking { [fileSystem] flag in
            try FilePump(fileSystem: fileSystem, flag: flag).copy(try fileSystem.open(whole, .read), to: temporary)
        }
        guard digest == file.digest else {
            try fileSystem.removeFile(temporary)
            throw StoreError(
                .stagedFileChanged, "\(file.name) changed while it was mended",
                context: ErrorContext(file: whole.string, expected: file.digest.hex, found: digest.hex))
        }
    }
}
