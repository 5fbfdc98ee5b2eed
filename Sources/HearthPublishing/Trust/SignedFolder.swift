import Foundation
import HearthBase
import HearthCatalog

/// The signed files of an origin in a folder. Blocks.
///
/// ```
/// <folder>/metadata/N.root.json, N.targets.json, N.snapshot.json, timestamp.json
/// <folder>/targets/<sha256>.models.json            what devices with a root read
/// <folder>/targets/models/<sha256>.<name>.index    the chunk indexes, for other clients
/// ```
package struct SignedFolder: Sendable {
    package let folder: Path
    let fileSystem: any FileSystem

    package init(_ folder: Path, fileSystem: any FileSystem = LocalFileSystem()) {
        self.folder = folder
        self.fileSystem = fileSystem
    }

    private var metadata: Path { folder.appending("metadata") }
    private var targets: Path { folder.appending("targets") }

    /// Whether the origin has metadata.
    package func isSigned() throws -> Bool { try fileSystem.status(at: path(.timestamp, nil)) != nil }

    /// Reads the metadata, `nil` if there is none.
    /// - Throws: ``TrustError`` if a file is missing, damaged or not signed by the present keys; `FileError`.
    package func repository(lifetimes: TrustLifetimes = TrustLifetimes()) throws -> TrustRepository? {
        guard try isSigned() else { return nil }
        let timestamp = try bytes(.timestamp, nil)
        // The signatures are checked below; the versions only tell which files to read.
        let snapshotVersion = try TimestampMetadata(SignedMetadata(parsing: timestamp, .timestamp)).snapshot.version
        let snapshot = try bytes(.snapshot, snapshotVersion)
        let listed = try SnapshotMetadata(SignedMetadata(parsing: snapshot, .snapshot)).listed
        guard let targets = listed[MetadataRole.targets.listedName] else {
            throw TrustError(
                .metadataInvalid, "the snapshot of \(folder) lists no targets",
                context: ErrorContext(file: folder.string))
        }
        let version = try rootVersion()
        return try TrustRepository(
            root: try bytes(.root, version), formerRoot: version > 1 ? try bytes(.root, version - 1) : nil,
            targets: try bytes(.targets, targets.version), snapshot: snapshot, timestamp: timestamp,
            lifetimes: lifetimes)
    }

    /// Writes the signed files, then the metadata; the timestamp comes last, so that a device that reads in between sees
    /// the state before.
    package func write(_ repository: TrustRepository, files: [SignedFile] = []) throws {
        for file in files {
            guard let name = file.entry.addressName(isConsistent: true) else { continue }
            let path = try path(below: targets, name)
            try fileSystem.makeFolders(path.parent)
            let isThere = try fileSystem.status(at: path)?.size == file.entry.length
            if try !isThere || file.data != fileSystem.contents(ofFile: path, limit: file.data.count) {
                try fileSystem.replaceContents(of: path, with: file.data)
            }
        }
        try fileSystem.makeFolders(metadata)
        for file in try repository.files {
            let path = metadata.joined(file.name)
            if try fileSystem.status(at: path) == nil || file.name == MetadataRole.timestamp.addressName(version: nil) {
                try fileSystem.replaceContents(of: path, with: file.data)
            } else if try fileSystem.contents(ofFile: path, limit: MetadataRole.targets.sizeLimit) != file.data {
                // A numbered file never changes: a device or a cache may have it.
                try fileSystem.replaceContents(of: path, with: file.data)
                Log.write(.warning, "\(path) is replaced: an earlier change of the metadata was not completed")
            }
        }
    }

    /// A file that the targets role signs.
    package struct SignedFile: Sendable, Hashable {
        package let entry: TargetFile
        package let data: Data

        package init(_ path: String, _ data: Data) {
            entry = TargetFile(path: path, length: UInt64(data.count), digests: ListedDigests(of: data))
            self.data = data
        }
    }

    /// The list of models and the chunk indexes that it names.
    /// - Throws: ``TrustError`` with `target-mismatch` for an index that is not the one of the list; `CatalogError`;
    ///   `FileError`.
    package func signedFiles() throws -> [SignedFile] {
        let path = folder.appending("models.json")
        guard try fileSystem.status(at: path) != nil else { return [] }
        let list = try fileSystem.contents(ofFile: path, limit: Catalog.maximumManifestSize)
        let catalog = try Catalog(manifest: list, url: path.absolute.url)
        var files = [SignedFile("models.json", list)]
        let indexes = catalog.releases.flatMap { [$0.index].compactMap(\.self) + $0.companionIndexes.values }
        var seen: Set<Path> = []
        for index in indexes {
            // An index at another place is not this publisher's to sign.
            guard let file = index.localPath, let name = relative(file), seen.insert(file).inserted else { continue }
            let signed = SignedFile(name, try fileSystem.contents(ofFile: file, limit: 64 << 20))
            guard let digest = index.digest, signed.entry.digests.sha256 == digest else {
                throw TrustError(
                    .targetMismatch, "\(file) is not the index that models.json names",
                    context: ErrorContext(
                        file: file.string, expected: index.digest?.hex, found: signed.entry.digests.sha256?.hex,
                        remedy: "Publish the model again."))
            }
            files.append(signed)
        }
        return files
    }

    private func relative(_ file: Path) -> String? {
        let start = folder.absolute.string + "/"
        guard file.string.hasPrefix(start) else { return nil }
        let name = String(file.string.dropFirst(start.count))
        return RelativePath(name) == nil ? nil : name
    }

    private func path(below folder: Path, _ name: String) throws -> Path {
        try name.split(separator: "/").reduce(folder) { path, part in
            // The name is escaped for an address; a web server unescapes it.
            guard let component = PathComponent(part.removingPercentEncoding ?? "") else {
                throw TrustError(.metadataInvalid, "\(name.quoted) cannot be a file", context: ErrorContext(file: name))
            }
            return path.appending(component)
        }
    }

    private func path(_ role: MetadataRole, _ version: UInt64?) -> Path {
        metadata.joined(role.addressName(version: version))
    }

    private func bytes(_ role: MetadataRole, _ version: UInt64?) throws -> Data {
        try fileSystem.contents(ofFile: path(role, version), limit: role.sizeLimit)
    }

    /// The version of the newest root. A numbered gap ends the chain for devices, so it ends here too.
    private func rootVersion() throws -> UInt64 {
        var version: UInt64 = 1
        while try fileSystem.status(at: path(.root, version + 1)) != nil { version += 1 }
        return version
    }
}
