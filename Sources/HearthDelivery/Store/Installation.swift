import Foundation
import HearthBase

/// A release that is to be installed, and the files it is to be made of.
struct Installation: Sendable {
    let release: Release
    let files: [StagedFile]
    let archive: StagedFile?
    let origin: URL?
    let date: Date

    /// Whether every byte was compared with a digest from the publisher. What is in a verified archive is verified.
    var isVerified: Bool { files.allSatisfy(\.isVerified) && archive?.isVerified ?? true }

    /// Whether an installed release is the same already.
    func isDone(by found: Receipt) -> Bool {
        guard found.identity == release.identity, found.archive?.digest == archive?.digest else { return false }
        let hasAll = files.allSatisfy { file in
            found.files.contains {
                $0.name == file.name && $0.role == file.role && $0.size == file.size && $0.digest == file.digest
            }
        }
        return hasAll && (archive != nil || files.count == found.files.count)
    }

    /// Fills a staging folder. Blocks.
    /// - Parameter holders: where installed releases have which contents.
    func fill(
        _ staging: Staging, holders: [ModelStore.Content: [Path]] = [:], flag: StopFlag, _ reporter: ProgressReporter
    ) throws -> Receipt {
        var packed: (plan: ArchivePlan, path: Path)?
        if let archive {
            guard let plan = ArchivePlan(release, packedSize: archive.size, isVerified: archive.isVerified) else {
                throw StoreError(
                    .stagedFileChanged, "\(release.identity) is no archive",
                    context: ErrorContext(model: release.identity.description, file: archive.path.string))
            }
            packed = (plan, archive.path)
        }
        let sizes = release.members.compactMap(\.size.exact)
        let total = sizes.isEmpty || sizes.count < release.members.count ? nil : sizes.saturatedSum
        let unpacked = Locked<UInt64>(0)
        if packed != nil { reporter.report(.extracting, 0, total) }
        return try staging.fill(
            files, archive: packed, holders: holders, flag: flag,
            onPiece: { count in
                let done = unpacked.withLock { bytes in
                    bytes += count
                    return bytes
                }
                reporter.report(.extracting, done, total)
            }
        ) { all in
            try checkClasses(all, in: staging)
            return Receipt(release, files: all, archive: archive, isVerified: isVerified, origin: origin, at: date)
        }
    }

    /// Compares the list of classes with how many the model tells apart: the list of another model would name everything
    /// wrongly, and nobody would notice. A release without such a list, or with several, is believed.
    private func checkClasses(_ files: [Receipt.File], in staging: Staging) throws {
        guard let count = release.classes?.count else { return }
        // What an archive holds has the purpose that its name tells.
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
                found: "\(found.count) classes", remedy: "Whoever publishes it must correct it."))
    }
}
