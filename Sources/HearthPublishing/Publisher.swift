import Foundation
import HearthBase
import HearthDelivery

/// Puts models into an origin: a folder that any web server can serve.
///
/// ```
/// <folder>/models.json                             what there is; written last, in one step
/// <folder>/models/{name}-v{x.y.z}-{quant}.gguf     the files
/// <folder>/models/{name}-v{x.y.z}-{quant}.index    their chunk indexes
/// <folder>/.publish.lock                           held while a publisher is at work
/// ```
/// Whatever fails, and whenever, `models.json` is the old one or the new one, and names only files that are whole.
public struct Publisher: Sendable {
    private let folder: Path
    private let fileSystem: any FileSystem
    private let time: TimeSource

    /// A publisher for the origin in `folder`, which is created when first published to.
    public init(folder: Path, fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource = .system) {
        self.folder = folder
        self.fileSystem = fileSystem
        self.time = time
    }

    /// Publishes files, each as one release. All of them or none: the manifest is written once, after every file.
    /// - Parameters:
    ///   - request: the files and what is said of them.
    ///   - progress: called from another thread, about once a MiB.
    /// - Throws: ``PublishingError``; `CatalogError` when the origin's manifest is not well formed; `FileError`;
    ///   `CancellationError`.
    public func publish(
        _ request: PublishRequest, progress: @escaping @Sendable (PublishProgress) -> Void = { _ in }
    ) async throws -> PublishReport {
        let isCancelled = Locked(false)
        let copier = FileCopier(
            fileSystem: fileSystem, progress: progress, isCancelled: { isCancelled.withLock { $0 } })
        return try await withTaskCancellationHandler {
            try await blocking { try publish(request, copier: copier) }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    // MARK: - On a thread that may block

    private func publish(_ request: PublishRequest, copier: FileCopier) throws -> PublishReport {
        let sources = try request.files.map { try PublishSource($0, request: request, fileSystem: fileSystem) }
        try refuseTheSameReleaseTwice(sources)
        guard !request.isDryRun else { return try publish(sources, request, copier) }
        try fileSystem.makeFolders(folder.appending("models"))
        guard let lock = try FileLock.tryAcquire(folder.appending(".publish.lock")) else {
            throw PublishingError(
                .publisherBusy, "another process publishes to \(folder) now",
                context: ErrorContext(file: folder.string, remedy: "Try again when it is done."), disposition: .tryLater
            )
        }
        defer { lock.release() }
        return try publish(sources, request, copier)
    }

    private func publish(
        _ sources: [PublishSource], _ request: PublishRequest, _ copier: FileCopier
    ) throws -> PublishReport {
        let path = folder.appending("models.json")
        var manifest = try OriginManifest(path: path, fileSystem: fileSystem)
        let serial = manifest.serial
        var placed: [Placed] = []
        var isChanged = false
        for source in sources {
            let file = try place(source, request, copier, manifest)
            placed.append(file)
            if let entry = file.entry {
                try manifest.put(
                    entry, of: source.identity, current: file.outcome == .unchanged ? .never : request.current)
                isChanged = true
            }
            if file.outcome == .unchanged, request.current == .always {
                isChanged = try manifest.makeCurrent(source.identity) || isChanged
            }
        }
        if isChanged {
            try manifest.stamp(time.now)
            if !request.isDryRun {
                try fileSystem.replaceContents(of: path, with: manifest.data)
                for file in placed { file.withdraw(fileSystem) }
            }
        }
        let items = placed.map { file in
            let identity = file.source.identity
            return PublishReport.Item(
                source: file.source.path, identity: identity, path: file.path, size: file.source.status.size,
                digest: file.digest, outcome: file.outcome,
                isCurrent: manifest.catalog.preferredVersion(of: identity.family) == identity.version)
        }
        return PublishReport(
            items: items, manifest: path, serial: isChanged ? manifest.serial : serial, changesManifest: isChanged)
    }

    /// A file in its place, and the entry that is to be written for it, `nil` if the published one is right.
    private struct Placed {
        let source: PublishSource
        let path: Path
        let digest: SHA256Digest
        let outcome: PublishReport.Outcome
        var entry: [String: JSONValue]?
        /// Files no manifest names any more.
        var withdrawn: [Path] = []

        /// Removes them; one that stays does no harm.
        func withdraw(_ fileSystem: any FileSystem) {
            for path in withdrawn {
                do {
                    // The source itself may lie there, under whatever spelling of its path.
                    let status = try fileSystem.status(at: path, followLinks: false)
                    if status?.identity != source.status.identity { try fileSystem.removeFile(path) }
                } catch {
                    Log.write(.warning, "publishing", "a replaced file stays: \(error)")
                }
            }
        }
    }

    private func place(
        _ source: PublishSource, _ request: PublishRequest, _ copier: FileCopier, _ manifest: OriginManifest
    ) throws -> Placed {
        let previous = manifest.catalog.releases.first { $0.identity == source.identity }
        guard let previous else {
            let files = try OriginFiles(source, in: folder)
            return try write(source, request, copier, files, manifest, expected: nil, outcome: .published)
        }
        let found = try copier.hash(source)
        if previous.file.digest == found.digest {
            let files = try OriginFiles(source, in: folder)
            // A location elsewhere is the publisher's own business.
            let local = previous.file.locations.first.flatMap { $0.isFileURL ? Path($0.path) : nil }
            let isThere = try local.map { try fileSystem.status(at: $0)?.size == found.size } ?? true
            if isThere {
                let writer = writer(source, request, manifest)
                return Placed(
                    source: source, path: local ?? files.weights, digest: found.digest, outcome: .unchanged,
                    entry: writer.annotated())
            }
            return try write(source, request, copier, files, manifest, expected: found.digest, outcome: .published)
        }
        guard request.replaces else {
            throw PublishingError(
                .releaseExists, "\(source.identity) is published already, with other bytes",
                context: ErrorContext(
                    model: source.identity.description, file: source.path.string,
                    expected: previous.file.digest?.hex, found: found.digest.hex,
                    remedy: "Publish it as a new version, or insist with --replace."))
        }
        let files = try OriginFiles(source, in: folder, replacing: found.digest)
        var placed = try write(source, request, copier, files, manifest, expected: found.digest, outcome: .replaced)
        let before = previous.file.locations.prefix(1) + (previous.index?.locations.prefix(1) ?? [])
        placed.withdrawn = before.filter(\.isFileURL).map { Path($0.path) }.filter { old in
            old.parent == folder.absolute.appending("models") && old != files.weights.absolute
                && old != files.index.absolute
        }
        return placed
    }

    /// Writes a release's file and index, unless this is a dry run.
    private func write(
        _ source: PublishSource, _ request: PublishRequest, _ copier: FileCopier, _ files: OriginFiles,
        _ manifest: OriginManifest, expected: SHA256Digest?, outcome: PublishReport.Outcome
    ) throws -> Placed {
        let result =
            request.isDryRun
            ? try copier.hash(source) : try copier.copy(source, to: files.weights, expected: expected)
        let index = result.index.encoded
        if !request.isDryRun { try fileSystem.replaceContents(of: files.index, with: index) }
        let entry = writer(source, request, manifest).entry(
            size: result.size, digest: result.digest, files: files, index: index)
        return Placed(source: source, path: files.weights, digest: result.digest, outcome: outcome, entry: entry)
    }

    private func writer(
        _ source: PublishSource, _ request: PublishRequest, _ manifest: OriginManifest
    ) -> ManifestEntryWriter {
        ManifestEntryWriter(
            source: source, request: request, previous: manifest.entry(of: source.identity), now: time.now)
    }

    private func refuseTheSameReleaseTwice(_ sources: [PublishSource]) throws {
        var paths: [ReleaseIdentity: Path] = [:]
        for source in sources {
            guard let other = paths.updateValue(source.path, forKey: source.identity) else { continue }
            throw PublishingError(
                .releaseTwice, "\(other) and \(source.path) would both be \(source.identity)",
                context: ErrorContext(
                    model: source.identity.description, file: source.path.string,
                    remedy: "Publish them one by one, with --family, --version or --variant."))
        }
    }
}
