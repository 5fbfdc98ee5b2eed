import Foundation
import HearthBase

extension PreparedFiles {
    /// What speaks against what a recipe makes of a release as it is now; `nil` where nothing does, or it was made all the same.
    func refusal(of recipe: PreparationRecipe, for release: InstalledRelease) throws -> PreparedRecord.Refusal? {
        guard let source = recipe.sourceDigest(in: release) else { return nil }
        for folder in try folders(recipe, source, release.identity) {
            guard let record = try record(in: folder), record.isMade(by: recipe, of: source),
                record.isRefused(for: release)
            else { continue }
            return record.refusal
        }
        return nil
    }

    /// What of all that was made of a release as it is now was refused last; `nil` where something was made since.
    func lastRefused(of release: InstalledRelease) throws -> RefusedArtefact? {
        let records = try records(of: release).map(\.record).filter { $0.refusal == nil || $0.isRefused(for: release) }
        return records.max { $0.made < $1.made }.flatMap { RefusedArtefact($0, of: release.identity) }
    }

    /// Records that an artefact is not to be made again for what a release holds, and takes out of use what its recipe made. Under
    /// the commit lock.
    ///
    /// The record goes when something is made by the recipe all the same, and is outdated once the release holds other bytes.
    /// - Parameter prepared: what was refused; `nil` where it could not even be made.
    func refuse(
        _ recipe: PreparationRecipe, _ prepared: PreparedRelease? = nil, for release: InstalledRelease,
        because reason: String, at date: Date, isRead: () throws -> Bool
    ) throws {
        guard let source = recipe.sourceDigest(in: release), let file = PathComponent(recipe.fileName) else { return }
        var record = PreparedRecord(
            recipe: recipe, file: file, source: source,
            shape: recipe.product == .file
                ? .file(size: prepared?.size ?? 0, modified: date) : .folder(PreparedTree(files: [], folders: [])),
            sha256: prepared?.digest ?? source, made: date)
        record.refusal = PreparedRecord.Refusal(
            of: release.receipt.content, in: prepared == nil ? .making : .trial, because: reason)
        let parent = layout.preparedFolder(of: release.identity)
        let earlier = try folders(recipe, source, release.identity)
        try fileSystem.makeFolders(parent)
        let work = parent.parent.appendingTemporary(besides: release.identity.folderName)
        try fileSystem.makeFolder(work, permissions: 0o755)
        try fileSystem.replaceContents(of: work.appending("prepared.json"), with: try record.data())
        let place = folder(recipe, source, release.identity)
        try fileSystem.moveDurably(work, to: place.withSuffix("-\(String(UInt64.random(in: 0 ... .max), radix: 16))"))
        for folder in earlier { try retire(folder, parent, isRead) }
    }
}

/// What was made of a release for this device and is not opened: it did not pass a trial that the release passed without, or ended
/// programs while it was made. The release is used as it came.
public struct RefusedArtefact: Sendable, Hashable {
    public let release: ReleaseIdentity
    /// What it is and why, for people, as ``PreparationRecipe/summary``; one line of at most 512 bytes.
    public let summary: String
    /// Whether it was made and did not pass its trial; else programs ended while it was made.
    public let wasTried: Bool
    /// Why it is not opened, as the end of a sentence; one line of at most 512 bytes.
    public let reason: String

    fileprivate init?(_ record: PreparedRecord, of release: ReleaseIdentity) {
        guard let refusal = record.refusal else { return nil }
        self.release = release
        summary = HeldBack.bounded(record.recipe.summary)
        wasTried = refusal.cause == .trial
        reason = refusal.reason
    }
}
