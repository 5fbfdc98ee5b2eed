import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// Puts a model into a repository of an OCI registry, in the form of ModelPack: raw files, and a manifest that names them.
///
/// The blobs are sent first, then the manifest under its tag. So a tag names the old release or the new one, and always all
/// files of it.
package struct RegistryPublisher: Sendable {
    let reference: RegistryReference
    /// Whether the publisher gave the tag; otherwise it is the release's version.
    let hasTag: Bool
    let client: any HTTPClient
    let fileSystem: any FileSystem
    let time: TimeSource

    /// A publisher to the repository of `oci://host/repository[:tag]`.
    /// - Parameters:
    ///   - client: sends the requests with the log-ins of container tools: a `RegistryClient`.
    /// - Throws: ``PublishingError`` with `remote-unusable` for a digest, or a text that names no repository.
    package init(
        _ text: String, client: any HTTPClient, fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource
    ) throws {
        guard case .registry(let reference)? = try? ModelReference(parsing: text), reference.digest == nil else {
            throw PublishingError(
                .remoteUnusable, "\(text.quoted) names no repository of a registry",
                context: ErrorContext(
                    field: "to", expected: "oci://host/repository or oci://host/repository:tag", found: text),
                disposition: .usage)
        }
        self.reference = reference
        hasTag = text.split(separator: "/").last?.contains(":") == true
        (self.client, self.fileSystem, self.time) = (client, fileSystem, time)
    }

    /// The result of a publication.
    package struct Report: Sendable, Hashable {
        package let identity: ReleaseIdentity
        /// With tag and digest.
        package let reference: RegistryReference
        package let files: [File]
        /// The bytes that were sent, or would be.
        package let sentBytes: UInt64
        /// Whether the tag named this manifest already.
        package let wasPublished: Bool

        package struct File: Sendable, Hashable {
            package let name: String
            package let role: FileRole
            package let size: UInt64
            package let digest: SHA256Digest
        }
    }

    /// Publishes one release.
    /// - Throws: ``PublishingError``; `FileError`; `HTTPError`; `CancellationError`.
    package func publish(
        _ request: PublishRequest, onProgress progress: @escaping @Sendable (PublishProgress) -> Void = { _ in }
    ) async throws -> Report {
        let sources = try await StopFlag.blocking { flag in
            try PublishSource.list(request, fileSystem: fileSystem, flag: flag)
        }
        guard sources.count == 1, let source = sources.first else {
            throw PublishingError(
                .releaseTwice, "a tag names one release, and the files are \(sources.count)",
                context: ErrorContext(field: "to", remedy: "Publish them one by one."), disposition: .usage)
        }
        guard let base = reference.base else { throw BucketLocation.unusable(reference.description) }
        let hashed = try await HashedSource.list(sources, fileSystem: fileSystem, progress)
        let pack = try ModelPack(hashed[0], request: request)
        let upload = RegistryUpload(
            reference: reference, base: base.below("v2/\(reference.repository)"), client: client, time: time)
        let digest = SHA256Digest(hashing: pack.manifest)
        let tag = hasTag ? reference.manifestName : Self.tag(of: source.identity)
        let before = try await upload.manifest(tag, type: RegistryFormat.manifest)
        let wasPublished = before == pack.manifest
        if before != nil, !wasPublished, !hasTag, !request.replaces {
            throw PublishingError(
                .releaseExists, "\(reference.path):\(tag) is published already, with other contents",
                context: ErrorContext(
                    model: source.identity.description, expected: before.map { SHA256Digest(hashing: $0).tagged },
                    found: digest.tagged, remedy: "Publish it as a new version, or replace the published one."))
        }
        let sent = try await send(pack, to: upload, isDryRun: request.isDryRun, progress)
        if !request.isDryRun {
            if !wasPublished { _ = try await upload.put(pack.manifest, as: tag, type: RegistryFormat.manifest) }
            try await refer(pack, digest, upload)
        }
        guard
            let published = RegistryReference(
                host: reference.host, repository: reference.repository, tag: tag, digest: digest)
        else { throw BucketLocation.unusable(reference.description) }
        return Report(
            identity: source.identity, reference: published,
            files: pack.files.map {
                Report.File(name: $0.name, role: $0.part.role, size: $0.found.size, digest: $0.found.digest)
            }, sentBytes: sent, wasPublished: wasPublished)
    }

    /// The tag of a release: `1.1.0` or `1.1.0-q4_k_m`.
    private static func tag(of identity: ReleaseIdentity) -> String {
        identity.version.name + (identity.variant.map { "-\($0)" } ?? "")
    }

    /// Sends the blobs that the registry does not have. Returns their size.
    private func send(
        _ pack: ModelPack, to upload: RegistryUpload, isDryRun: Bool,
        _ progress: @escaping @Sendable (PublishProgress) -> Void
    ) async throws -> UInt64 {
        var sent: UInt64 = 0
        for file in pack.files where try await !upload.holds(file.found.digest) {
            try Task.checkCancellation()
            let (path, size) = (file.part.path, file.found.size)
            sent += size
            if isDryRun { continue }
            let source = UploadSource(
                path: path, size: size, modified: file.part.status.modified, fileSystem: fileSystem)
            try await upload.send(file.found.digest, size: size) { completed in
                progress(
                    PublishProgress(file: path, phase: .sending, completedBytes: completed, totalBytes: size))
            } _: { range in
                try await source.read(range)
            }
            try await source.requireUnchanged()
        }
        if !isDryRun { try await send(pack.config, to: upload) }
        return sent
    }

    private func send(_ data: Data, to upload: RegistryUpload) async throws {
        let digest = SHA256Digest(hashing: data)
        guard try await !upload.holds(digest) else { return }
        try await upload.send(digest, size: UInt64(data.count)) { range in
            data.subdata(in: Int(range.lowerBound)..<Int(range.upperBound))
        }
    }

    // MARK: - Referrers

    /// Publishes the chunk indexes as a manifest that refers to the release's. A registry that does not list such manifests gets
    /// the list under the tag `sha256-…` (distribution specification, "Referrers Tag Schema").
    private func refer(_ pack: ModelPack, _ digest: SHA256Digest, _ upload: RegistryUpload) async throws {
        guard let (manifest, blobs) = pack.chunks else { return }
        for blob in blobs { try await send(blob, to: upload) }
        let own = SHA256Digest(hashing: manifest)
        let answer = try await upload.put(manifest, as: own.tagged, type: RegistryFormat.manifest)
        guard answer.headers["OCI-Subject"] == nil else { return }
        let name = RegistryFormat.referrersTag(digest.hex)
        let present = try await upload.manifest(name, type: RegistryFormat.list)
        var others: [JSONValue] = []
        if let present { others = (try? JSONValue(parsing: present))?["manifests"]?.items ?? [] }
        others.removeAll { $0["digest"] == .string(own.tagged) }
        var entry = ModelPack.descriptor(RegistryFormat.manifest, own, UInt64(manifest.count))
        entry["artifactType"] = .string(RegistryFormat.chunks)
        let list = ModelPack.bytes([
            "schemaVersion": 2, "mediaType": .string(RegistryFormat.list), "manifests": .array(others + [entry]),
        ])
        if list != present { _ = try await upload.put(list, as: name, type: RegistryFormat.list) }
    }
}
