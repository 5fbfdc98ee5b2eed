import Foundation
import HearthBase
import HearthCatalog

/// Remembers the bundled files that were verified, in `bundled.json` beside the cached catalogs. Blocks.
///
/// A file is recognised by path, length, date and inode: after an update of the app it is hashed once more. A wrong
/// record costs a hash, or hides damage in the app's own folder; no installed release depends on it.
package struct BundledChecks: Sendable {
    /// The folder of the cached catalogs.
    package let folder: Path
    package let fileSystem: any FileSystem

    /// Memberwise.
    package init(folder: Path, fileSystem: any FileSystem) {
        self.folder = folder
        self.fileSystem = fileSystem
    }

    private static let sizeLimit = 1 << 18
    private static let maximumCount = 256

    private struct Record: DiskRecord {
        var format = 1
        var files: [Entry] = []
    }

    private struct Entry: Codable, Hashable {
        let path: String
        let sizeBytes: UInt64
        let modified: Int64
        let device: UInt64
        let inode: UInt64
        let sha256: SHA256Digest
    }

    /// Compares a release's files with their digests, except those verified before.
    /// - Throws: `StoreError` with `release-damaged`; `FileError`.
    package func check(_ release: BundledRelease, _ flag: StopFlag) throws {
        var known = read()
        var isChanged = false
        for file in release.files {
            guard let digest = file.digest else { continue }
            let opened = try fileSystem.open(file.path, .read)
            let entry = Self.entry(file.path, try fileSystem.status(of: opened), digest)
            if known.contains(entry) { continue }
            let found = try FilePump(fileSystem: fileSystem, flag: flag).digest(of: file.path)
            guard found == digest else { throw Self.damaged(release, file, found) }
            known.removeAll { $0.path == entry.path }
            known.append(entry)
            isChanged = true
        }
        if isChanged { remember(known.suffix(Self.maximumCount)) }
    }

    private static func entry(_ path: Path, _ status: FileStatus, _ digest: SHA256Digest) -> Entry {
        let seconds = status.modified.timeIntervalSince1970.rounded(.down)
        return Entry(
            path: path.string, sizeBytes: status.size, modified: Int64(exactly: seconds) ?? 0,
            device: status.identity.device, inode: status.identity.inode, sha256: digest)
    }

    private var file: Path { folder.appending("bundled.json") }

    private func read() -> [Entry] {
        do {
            guard try fileSystem.status(at: file, followLinks: false)?.kind == .file else { return [] }
            let record = try Record(data: try fileSystem.contents(ofFile: file, limit: Self.sizeLimit))
            return record.format == 1 ? record.files : []
        } catch {
            Log.write(.info, "catalog", "\(file) is made anew: \(error)")
            return []
        }
    }

    private func remember(_ files: some Sequence<Entry>) {
        do {
            try fileSystem.makeFolders(folder)
            try fileSystem.replaceContents(of: file, with: try Record(files: Array(files)).data())
        } catch {
            Log.write(.info, "catalog", "\(file) is not written: \(error)")
        }
    }

    private static func damaged(
        _ release: BundledRelease, _ file: BundledRelease.File, _ found: SHA256Digest
    ) -> StoreError {
        StoreError(
            .releaseDamaged, "\(release.identity) did not come whole with the app: \(file.name) is another file",
            context: ErrorContext(
                model: release.identity.description, file: file.path.string, expected: file.digest?.hex,
                found: found.hex, remedy: "Install the app again, or download the model."))
    }
}
