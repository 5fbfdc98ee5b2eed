import Foundation
import HearthBase
import HearthCatalog

/// A release to install and its files.
struct Installation: Sendable {
    package let release: Release
    package let files: [StagedFile]
    package let archive: StagedFile?
    package let origin: Origin?
    let date: Date

    /// Whether every byte was compared with a digest from the publisher. The contents of a verified archive are
    /// verified.
    package var isVerified: Bool { files.allSatisfy(\.isVerified) && archive?.isVerified ?? true }

    /// Whether an installed release already has the same bytes.
    package func isDone(by found: Receipt) -> Bool {
        guard found.identity.published == release.identity.published, found.archive?.digest == archive?.digest else {
            return false
        }
        let hasAll = files.allSatisfy { file in
            found.files.contains {
                $0.name == file.name && $0.role == file.role && $0.size == file.size && $0.digest == file.digest
            }
        }
        return hasAll && (archive != nil || files.count == found.files.count)
    }

    /// Fills a staging folder. Blocks.
    /// - Parameter places: the places of each content in installed releases.
    package func fill(
        _ staging: Staging, places: ContentPlaces? = nil, flag: StopFlag,
        _ progress: @escaping StoreProgress
    ) throws -> Receipt {
        var packed: (plan: ArchivePlan, path: Path)?
        if let archive {
            guard let plan = ArchivePlan(release, packedSize: archive.size) else {
                throw StoreError(
                    .stagedFileChanged, "\(release.identity) is no archive",
                    context: ErrorContext(model: release.identity.description, file: archive.path.string))
            }
            packed = (plan, archive.path)
        }
        let sizes = release.members.compactMap(\.size.exact)
        let total = sizes.isEmpty || sizes.count < release.members.count ? nil : sizes.saturatedSum
        let unpacked = Locked<UInt64>(0)
        if packed != nil { progress(0, total) }
        return try staging.fill(
            files, archive: packed, places: places, flag: flag,
            onPiece: { count in
                let done = unpacked.withLock { bytes in
                    bytes += count
                    return bytes
                }
                progress(done, total)
            }
        ) { all in
            try checkClasses(all, in: staging)
            try checkEnds(all, in: staging)
            return Receipt(release, files: all, archive: archive, isVerified: isVerified, origin: origin, at: date)
        }
    }

    /// Refuses GGUF files that go on behind their last tensor. A file whose header cannot be read is left to the engine,
    /// which may know more.
    private func checkEnds(_ files: [Receipt.File], in staging: Staging) throws {
        for file in files
        where [.weights, .shard, .projector].contains(file.role) || file.name.last.name.lowercased().hasSuffix(".gguf")
        {
            let header: GGUFHeader
            do {
                header = try GGUFHeader(file: staging.folder.appending(file.name), fileSystem: staging.fileSystem)
            } catch let error as GGUFError {
                if error.code != .notGGUF { Log.write(.info, "the end of \(file.name) is not checked: \(error)") }
                continue
            }
            try header.checkEnd(ofFile: file.size, name: file.name.string)
        }
    }

    /// Compares the length of the class list with the model's number of classes: the list of another model would give
    /// every class a wrong name without any error. A release without a list, or with several, is not checked.
    private func checkClasses(_ files: [Receipt.File], in staging: Staging) throws {
        guard let count = release.classes?.count else { return }
        // In an archive, a file's name tells its role.
        let lists = files.filter { $0.role == .labels || FileRole(companionName: $0.name.last.name) == .labels }
        let named = lists.first { $0.name == release.classes?.labels?.name }
        guard let list = named ?? (lists.count == 1 ? lists.first : nil), list.size <= UInt64(ClassList.sizeLimit)
        else { return }
        let path = staging.folder.appending(list.name)
        let data = try staging.fileSystem.contents(ofFile: path, limit: ClassList.sizeLimit)
        guard let found = ClassList(data, name: list.name.last.name), found.count != count else { return }
        throw StoreError(
            .classesMismatched, "\(release.identity) tells \(count) classes apart, and its list names \(found.count)",
            context: ErrorContext(
                model: release.identity.description, file: list.name.string, expected: "\(count) classes",
                found: "\(found.count) classes", remedy: "The publisher must correct it."))
    }
}
