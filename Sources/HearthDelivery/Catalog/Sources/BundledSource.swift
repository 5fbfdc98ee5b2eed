import Foundation
import HearthBase

/// A folder shipped with the app: a `models.json` and the files it names, which are used from where they lie.
///
/// Nothing in it is changed, and starting costs no hash: a release counts as there when its files have the right names and
/// lengths. Its digests are compared at the first use by ``ModelManager/checked(_:)`` and remembered.
public struct BundledSource: ModelSource {
    /// The folder.
    public let folder: Path
    private let fileSystem: any FileSystem

    public var name: String { "bundled" }

    /// The source of a folder.
    public init(folder: Path, fileSystem: any FileSystem = LocalFileSystem()) {
        self.folder = folder
        self.fileSystem = fileSystem
    }

    /// What the folder's `models.json` lists.
    /// - Throws: ``CatalogError``, `FileError`.
    public func listing(_ wish: ListingWish) async throws -> CatalogListing {
        let manifest = folder.absolute.appending("models.json")
        let catalog = try await blocking { [fileSystem] in
            let data = try fileSystem.contents(ofFile: manifest, limit: Catalog.maximumManifestSize)
            return try Catalog(manifest: data, url: manifest.url)
        }
        return CatalogListing(catalog: catalog, source: name, location: manifest.url, standing: .bundled)
    }

    /// The releases whose files are all there, of the version each family's users get.
    /// - Throws: as ``listing(_:)``.
    public func releases(for device: DeviceProfile) async throws -> [BundledRelease] {
        let catalog = try await listing(.asPublished).catalog
        return try await blocking { [fileSystem] in
            try catalog.families.compactMap { family in
                var whole = catalog
                let there = try catalog.releases.filter { $0.identity.family == family }
                    .compactMap { try Self.release($0, fileSystem) }
                whole.releases = there.map(\.release)
                if let current = whole.current[family], !there.contains(where: { $0.identity.version == current }) {
                    whole.current[family] = nil
                }
                guard !there.isEmpty else { return nil }
                let choice = try Resolution(catalog: whole, device: device).choose(family: family)
                guard choice.objection == nil else { return nil }
                return there.first { $0.identity == choice.release.identity }
            }
        }
    }

    /// A release as it lies there, `nil` if a file is missing, has another length, or lies elsewhere.
    private static func release(_ release: Release, _ fileSystem: any FileSystem) throws -> BundledRelease? {
        guard release.archive == nil else { return nil }
        var files: [BundledRelease.File] = []
        for file in release.files {
            guard let place = file.locations.first(where: \.isFileURL), let size = file.size.exact else { return nil }
            let path = Path(place.path)
            guard let status = try fileSystem.status(at: path), status.kind == .file, status.size == size else {
                Log.write(.warning, "delivery.catalog", "\(release.identity) did not come whole with the app: \(path)")
                return nil
            }
            files.append(
                BundledRelease.File(
                    name: file.name, role: file.role, path: path, size: size, digest: file.digest))
        }
        return BundledRelease(release: release, files: files)
    }
}

/// Which files that came with the app were found to be the right ones: `bundled.json` among the catalogs' copies. Blocks.
///
/// A file is known again by path, length, date and inode: after an update of the app it is hashed once more. What the record
/// says wrongly costs a hash, or a damaged file of the app's own folder that stays unnoticed; nothing installed depends on it.
struct BundledChecks: Sendable {
    let layout: HomeLayout
    let fileSystem: any FileSystem

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

    /// Compares a release's files with their digests, those that were not compared before.
    /// - Throws: ``StoreError`` with `release-damaged`; `FileError`.
    func check(_ release: BundledRelease, _ flag: StopFlag) throws {
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

    private var file: Path { layout.catalogs.appending("bundled.json") }

    private func read() -> [Entry] {
        do {
            guard try fileSystem.status(at: file, followLinks: false)?.kind == .file else { return [] }
            let record = try Record(data: try fileSystem.contents(ofFile: file, limit: Self.sizeLimit))
            return record.format == 1 ? record.files : []
        } catch {
            Log.write(.info, "delivery.catalog", "\(file) is made anew: \(error)")
            return []
        }
    }

    private func remember(_ files: some Sequence<Entry>) {
        do {
            try fileSystem.makeFolders(layout.catalogs)
            try fileSystem.replaceContents(of: file, with: try Record(files: Array(files)).data())
        } catch {
            Log.write(.info, "delivery.catalog", "\(file) is not written: \(error)")
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
