import Foundation
import HearthBase
import HearthCatalog

/// The signed files of an origin, in a folder or a bucket.
///
/// ```
/// metadata/N.root.json, N.targets.json, N.snapshot.json, timestamp.json
/// targets/<sha256>.models.json            what devices with a root read
/// targets/models/<sha256>.<name>.index    the chunk indexes, for other clients
/// ```
package struct SignedOrigin: Sendable {
    package let target: any PublishTarget

    package init(_ target: any PublishTarget) { self.target = target }

    package init(folder: Path, fileSystem: any FileSystem = LocalFileSystem()) {
        target = FolderTarget(folder: folder, fileSystem: fileSystem)
    }

    /// The origin for messages.
    package var name: String { target.name }

    /// Whether the origin has metadata.
    package func isSigned() async throws -> Bool { try await stored(.timestamp, nil) != nil }

    /// Reads the metadata, `nil` if there is none.
    /// - Throws: ``TrustError`` if a file is missing, damaged or not signed by the present keys; the target's errors.
    package func repository(lifetimes: TrustLifetimes = TrustLifetimes()) async throws -> TrustRepository? {
        guard let timestamp = try await stored(.timestamp, nil)?.data else { return nil }
        // The signatures are checked below; the versions only tell which files to read.
        let snapshotVersion = try TimestampMetadata(SignedMetadata(parsing: timestamp, .timestamp)).snapshot.version
        let snapshot = try await bytes(.snapshot, snapshotVersion)
        let listed = try SnapshotMetadata(SignedMetadata(parsing: snapshot, .snapshot)).listed
        guard let targets = listed[MetadataRole.targets.listedName] else {
            throw TrustError(
                .metadataInvalid, "the snapshot of \(name) lists no targets", context: ErrorContext(file: name))
        }
        let root = try await newestRoot()
        return try TrustRepository(
            root: root.data,
            formerRoot: root.version > 1 ? try await bytes(.root, root.version - 1) : nil,
            targets: try await bytes(.targets, targets.version), snapshot: snapshot, timestamp: timestamp,
            lifetimes: lifetimes)
    }

    /// As ``repository(lifetimes:)``, of an origin that has to have metadata.
    /// - Throws: ``TrustError`` with `metadata-missing`.
    package func present(_ lifetimes: TrustLifetimes = TrustLifetimes()) async throws -> TrustRepository {
        guard let repository = try await repository(lifetimes: lifetimes) else {
            throw TrustError(
                .metadataMissing, "\(name) has no keys yet",
                context: ErrorContext(file: name, field: "origin", remedy: "Make its first root."))
        }
        return repository
    }

    /// Writes the signed files, then the metadata; the timestamp comes last, so that a device that reads in between sees
    /// the state before.
    package func write(_ repository: TrustRepository, files: [SignedFile] = []) async throws {
        for step in try await steps(repository, files: files) { try await target.perform(step) { _ in } }
    }

    /// The uploads of signed files and metadata that the target lacks.
    /// - Throws: ``PublishingError`` with `origin-changed` if another publisher has signed in the meantime.
    func steps(_ repository: TrustRepository, files: [SignedFile]) async throws -> [PublishStep] {
        var steps: [PublishStep] = []
        for file in files {
            guard let name = file.entry.addressName(isConsistent: true) else { continue }
            let place = try place(OriginPlaces.copies, name)
            let digest = file.entry.digests.sha256
            if try await !target.holds(place, size: file.entry.length, digest: digest) {
                steps.append(PublishStep(.copy, place, data: file.data, isImmutable: true))
            }
        }
        let timestamp = try await stored(.timestamp, nil)
        if let timestamp {
            let present = try SignedMetadata(parsing: timestamp.data, .timestamp)
            let isOlder = try present.version() < repository.timestamp.version()
            guard isOlder || timestamp.data == repository.timestamp.data else {
                throw PublishingError(
                    .originChanged, "another publisher has signed \(name) in the meantime",
                    context: ErrorContext(file: name, remedy: "Try again."), disposition: .tryLater)
            }
        }
        for file in try repository.files {
            let place = try place(Self.metadata, file.name)
            if file.name == MetadataRole.timestamp.addressName(version: nil) {
                let condition = timestamp.map { $0.tag.map { .unchanged($0) } ?? .none } ?? PublishStep.Condition.absent
                steps.append(
                    PublishStep(.timestamp, place, data: file.data, isImmutable: false, condition: condition))
                continue
            }
            let stored = try await target.contents(of: place, limit: MetadataRole.targets.sizeLimit)
            guard stored?.data != file.data else { continue }
            if stored != nil {
                // A numbered file never changes: a device or a cache may have it.
                Log.write(.warning, "\(place) is replaced: an earlier change of the metadata was not completed")
            }
            steps.append(PublishStep(.metadata, place, data: file.data, isImmutable: true))
        }
        return steps
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

    /// The list of models and the chunk indexes that it names, as they are after a plan.
    /// - Throws: ``TrustError`` with `target-mismatch` for an index that is not the one of the list; `CatalogError`; the
    ///   target's errors.
    package func signedFiles(after plan: PublishPlan = PublishPlan()) async throws -> [SignedFile] {
        let place = try OriginPlaces.catalog
        guard let list = try await contents(of: place, after: plan, limit: Catalog.maximumManifestSize) else {
            return []
        }
        let manifest = try OriginManifest(
            StoredBytes(data: list, tag: nil), url: target.manifestURL, shown: target.shown(place))
        var files = [SignedFile(place.string, list)]
        let indexes = manifest.catalog.releases.flatMap { [$0.index].compactMap(\.self) + $0.companionIndexes.values }
        var seen: Set<RelativePath> = []
        for index in indexes {
            // An index at another place is not this publisher's to sign.
            guard let place = index.locations.lazy.compactMap(manifest.place).first, seen.insert(place).inserted
            else { continue }
            let data = try await contents(of: place, after: plan, limit: 64 << 20)
            let signed = SignedFile(place.string, data ?? Data())
            guard data != nil, let digest = index.digest, signed.entry.digests.sha256 == digest else {
                throw TrustError(
                    .targetMismatch, "\(target.shown(place)) is not the index that models.json names",
                    context: ErrorContext(
                        file: target.shown(place), expected: index.digest?.hex,
                        found: signed.entry.digests.sha256?.hex, remedy: "Publish the model again."))
            }
            files.append(signed)
        }
        return files
    }

    /// The places of the files that the present metadata lists, empty for an unsigned origin.
    func signedPlaces() async throws -> Set<RelativePath> {
        guard let listed = try await repository()?.listedFiles else { return [] }
        return Set(
            try listed.values.compactMap {
                try $0.addressName(isConsistent: true).map { try place(OriginPlaces.copies, $0) }
            })
    }

    // MARK: - Places

    private static let metadata = "metadata"

    private func contents(of place: RelativePath, after plan: PublishPlan, limit: Int) async throws -> Data? {
        if case .data(let data)? = plan.steps.first(where: { $0.place == place })?.content { return data }
        return try await target.contents(of: place, limit: limit)?.data
    }

    /// The place of a name that is escaped for an address; a web server unescapes it.
    private func place(_ folder: String, _ name: String) throws -> RelativePath {
        guard let text = name.removingPercentEncoding, let place = RelativePath("\(folder)/\(text)") else {
            throw TrustError(.metadataInvalid, "\(name.quoted) cannot be a file", context: ErrorContext(file: name))
        }
        return place
    }

    private func stored(_ role: MetadataRole, _ version: UInt64?) async throws -> StoredBytes? {
        try await target.contents(
            of: place(Self.metadata, role.addressName(version: version)), limit: role.sizeLimit)
    }

    private func bytes(_ role: MetadataRole, _ version: UInt64?) async throws -> Data {
        guard let stored = try await stored(role, version) else {
            throw TrustError(
                .metadataMissing, "\(name) lacks \(Self.metadata)/\(role.addressName(version: version))",
                context: ErrorContext(file: name))
        }
        return stored.data
    }

    /// The newest root. A numbered gap ends the chain for devices, so it ends here too.
    private func newestRoot() async throws -> (version: UInt64, data: Data) {
        var found: (version: UInt64, data: Data) = (1, try await bytes(.root, 1))
        while let next = try await stored(.root, found.version + 1) { found = (found.version + 1, next.data) }
        return found
    }
}
