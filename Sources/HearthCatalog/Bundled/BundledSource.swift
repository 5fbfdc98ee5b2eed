import Foundation
import HearthBase

/// A folder shipped with the app: a `models.json` and the files it names, used in place and never changed.
///
/// Starting hashes nothing: a release is complete if its files have the right names and sizes.
/// `ModelManager.checked(_:)` compares the digests at the first use and remembers the result.
public struct BundledSource: CatalogSource {
    public let folder: Path
    private let fileSystem: any FileSystem

    public var name: String { "bundled" }

    /// The source of a folder.
    public init(folder: URL) { self.init(folder: Path(folder.path)) }

    package init(folder: Path, fileSystem: any FileSystem = LocalFileSystem()) {
        self.folder = folder
        self.fileSystem = fileSystem
    }

    /// Lists the releases in the folder's `models.json`.
    /// - Throws: ``CatalogError``, `FileError`.
    package func listing(_ policy: CachePolicy) async throws -> CatalogListing {
        let manifest = folder.absolute.appending("models.json")
        let catalog = try await blocking { [fileSystem] in
            let data = try fileSystem.contents(ofFile: manifest, limit: Catalog.maximumManifestSize)
            return try Catalog(manifest: data, url: manifest.url)
        }
        return CatalogListing(catalog: catalog, source: name, location: manifest.url, freshness: .bundled)
    }

    /// For each family, the complete release that the resolver chooses for the device.
    /// - Throws: as ``listing(_:)``.
    package func releases(for device: DeviceProfile) async throws -> [BundledRelease] {
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
                let offer = try Resolver(catalog: whole, device: device).offer(of: family)
                guard offer.objection == nil else { return nil }
                return there.first { $0.identity == offer.release.identity }
            }
        }
    }

    /// A release with its local files; `nil` if a file is missing, has another size, or is not local.
    private static func release(_ release: Release, _ fileSystem: any FileSystem) throws -> BundledRelease? {
        guard release.archive == nil else { return nil }
        var files: [BundledRelease.File] = []
        for file in release.files {
            guard let place = file.locations.first(where: \.isFileURL), let size = file.size.exact else { return nil }
            let path = Path(place.path)
            guard let status = try fileSystem.status(at: path), status.kind == .file, status.size == size else {
                Log.write(.warning, "\(release.identity) did not come whole with the app: \(path)")
                return nil
            }
            files.append(
                BundledRelease.File(
                    name: file.name, role: file.role, path: path, size: size, digest: file.digest))
        }
        return BundledRelease(release: release, files: files)
    }
}

/// A release in a folder shipped with the app, used in place.
public struct BundledRelease: Sendable, Hashable {
    /// One of its files with its path.
    package struct File: Sendable, Hashable {
        package let name: RelativePath
        package let role: FileRole
        package let path: Path
        /// The size in bytes.
        package let size: UInt64
        /// The expected SHA-256, `nil` if the app's manifest has none.
        package let digest: SHA256Digest?
    }

    public let release: Release
    package let files: [File]

    init(release: Release, files: [File]) {
        self.release = release
        self.files = files
    }

    /// A release of files on this machine, as ``LocalRelease`` describes them.
    package init(local release: Release) {
        self.init(
            release: release,
            files: release.files.compactMap { file in
                file.locations.first.map {
                    File(
                        name: file.name, role: file.role, path: Path($0.path), size: file.size.estimate,
                        digest: file.digest)
                }
            })
    }

    public var identity: ReleaseIdentity { release.identity }

    /// The file an engine opens.
    public var weights: Path? { files.first { $0.role == .weights }?.path }

    /// The vision projector, if the release has one.
    public var projector: Path? { files.first { $0.role == .projector }?.path }
}
