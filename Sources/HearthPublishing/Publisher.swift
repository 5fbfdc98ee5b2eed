import Foundation
import HearthBase
import HearthCatalog

/// Puts models into an origin: a folder that any web server can serve.
///
/// ```
/// <folder>/models.json                             the manifest; written last, in one step
/// <folder>/models/{name}-v{x.y.z}-{quant}.gguf     the weights, or an archive of them
/// <folder>/models/{digest}-{name}.gguf             companions, shared by releases
/// <folder>/models/….index                          their chunk indexes
/// <folder>/.publish.lock                           held while a publisher runs
/// ```
/// After any failure, `models.json` is the old one or the new one, and names only complete files.
public struct Publisher: Sendable {
    private let folder: Path
    private let fileSystem: any FileSystem
    private let time: TimeSource
    /// Signs the list after it was written; `nil` leaves the signed files of the origin as they are.
    package var signer: OriginSigner?

    /// Creates a publisher for the origin in `folder`, which is made at the first publication.
    public init(folder: Path) { self.init(folder: folder, fileSystem: LocalFileSystem(), time: .system) }

    package init(folder: Path, fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource) {
        self.folder = folder
        self.fileSystem = fileSystem
        self.time = time
    }

    /// Publishes each model as one release with its companions. All or none: the manifest is written once, after every
    /// file.
    /// - Parameters:
    ///   - request: the files, and the publisher's values for them.
    ///   - progress: called on another thread, about once for each MiB.
    /// - Throws: ``PublishingError``; `StoreError` for an archive that devices would refuse; `CatalogError` if the
    ///   origin's manifest is not well formed; `FileError`; `CancellationError`.
    public func publish(
        _ request: PublishRequest,
        progress: @escaping @Sendable (_ file: Path, _ completedBytes: UInt64, _ totalBytes: UInt64) -> Void = {
            _, _, _ in
        }
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
        let sorting = try PublishSorting(request, fileSystem: fileSystem)
        let companions = try sorting.companions.map {
            try PublishSource.companion($0.path, role: $0.role, fileSystem: fileSystem)
        }
        let sources = try sorting.models.map { model in
            try PublishSource(
                model, companions: companions, request: request, fileSystem: fileSystem, isCancelled: copier.isCancelled
            )
        }
        try refuseTheSameReleaseTwice(sources)
        try refuseCompanionsOfSeveral(sources, companions)
        try signer?.check(SignedFolder(folder, fileSystem: fileSystem))
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
                    entry, of: source.identity, isCurrent: file.outcome == .unchanged ? false : request.isCurrent)
                isChanged = true
            }
            if file.outcome == .unchanged, request.isCurrent == true {
                isChanged = try manifest.makeCurrent(source.identity) || isChanged
            }
        }
        if isChanged {
            try manifest.stamp(time.now)
            if !request.isDryRun {
                try fileSystem.replaceContents(of: path, with: manifest.data)
                for file in placed { withdraw(file.withdrawn, of: file, unless: manifest.catalog) }
            }
        }
        if !request.isDryRun { try signer?.sign(SignedFolder(folder, fileSystem: fileSystem), now: time.now) }
        let items = placed.map { file in
            let identity = file.source.identity
            return PublishReport.Item(
                source: file.source.path, identity: identity, files: file.files,
                packedFiles: file.source.packed?.members.count, outcome: file.outcome,
                isCurrent: manifest.catalog.preferredVersion(of: identity.family) == identity.version)
        }
        return PublishReport(
            items: items, manifest: path, serial: isChanged ? manifest.serial : serial, changesManifest: isChanged)
    }

    /// A published release, and the manifest entry to write; `nil` if the published entry is right.
    private struct Placed {
        let source: PublishSource
        let files: [PublishReport.File]
        let outcome: PublishReport.Outcome
        var entry: [String: JSONValue]?
        /// The files of the replaced entry.
        var withdrawn: Set<Path> = []
    }

    /// Removes files that the manifest no longer names; a file that stays does no harm.
    private func withdraw(_ paths: Set<Path>, of placed: Placed, unless catalog: Catalog) {
        let named = catalog.releases.reduce(into: Set<Path>()) { $0.formUnion($1.localFiles) }
        for path in paths.subtracting(named) where path.parent == folder.absolute.appending("models") {
            do {
                // The source may be at this path, under another spelling.
                let status = try fileSystem.status(at: path, followLinks: false)
                let isSource = placed.source.parts.contains { $0.status.identity == status?.identity }
                if !isSource { try fileSystem.removeFile(path) }
            } catch {
                Log.write(.warning, "a replaced file stays: \(error)")
            }
        }
    }

    private func place(
        _ source: PublishSource, _ request: PublishRequest, _ copier: FileCopier, _ manifest: OriginManifest
    ) throws -> Placed {
        let origin = OriginFolder(
            folder: folder, fileSystem: fileSystem, copier: copier, isDryRun: request.isDryRun)
        let writer = ManifestEntryWriter(
            source: source, request: request, previous: manifest.entry(of: source.identity), now: time.now)
        let previous = manifest.catalog.releases.first { $0.identity == source.identity }
        guard let previous else {
            let files = try source.parts.map { try origin.put($0, found: nil, known: nil, replaces: false) }
            return Placed(
                source: source, files: files.map { $0.part.report($0.path, size: $0.size, digest: $0.digest) },
                outcome: .published, entry: writer.entry(files))
        }
        let found = try source.parts.map { try copier.hash($0) }
        let known = zip(source.parts, found).map { previous.published($0.name, $1.digest) }
        let isSame = source.isContent(of: previous, digests: found.map(\.digest))
        if isSame {
            // A file at a remote location is not checked.
            let isThere = try zip(known, found).allSatisfy { file, found in
                guard let local = file?.localPath else { return true }
                return try fileSystem.status(at: local)?.size == found.size
            }
            if isThere {
                let files = zip(zip(source.parts, found), known).map { pair, file in
                    let path = file?.localPath ?? folder.appending("models").appending(pair.0.name)
                    return pair.0.report(path, size: pair.1.size, digest: pair.1.digest)
                }
                return Placed(source: source, files: files, outcome: .unchanged, entry: writer.annotated())
            }
        } else if !request.replaces {
            let isOnlyBeside = previous.file.digest == found[0].digest
            throw PublishingError(
                .releaseExists,
                "\(source.identity) is published already, with other \(isOnlyBeside ? "files beside it" : "bytes")",
                context: ErrorContext(
                    model: source.identity.description, file: source.path.string,
                    expected: isOnlyBeside ? nil : previous.file.digest?.hex,
                    found: isOnlyBeside ? nil : found[0].digest.hex,
                    remedy: "Publish it as a new version, or replace the published one."))
        }
        let files = try zip(zip(source.parts, found), known).map { pair, file in
            try origin.put(pair.0, found: pair.1, known: file?.localPath, replaces: !isSame)
        }
        return Placed(
            source: source, files: files.map { $0.part.report($0.path, size: $0.size, digest: $0.digest) },
            outcome: isSame ? .published : .replaced,
            entry: writer.entry(files), withdrawn: isSame ? [] : previous.localFiles)
    }

    /// Refuses companions if the models are of several families.
    private func refuseCompanionsOfSeveral(_ sources: [PublishSource], _ companions: [PublishPart]) throws {
        let families = Set(sources.map(\.identity.family)).sorted()
        guard families.count > 1, let companion = companions.first else { return }
        throw PublishingError.refused(
            companion.path, "it does not say which of \(families.map(\.name).joined(separator: ", ")) it belongs to",
            "Publish the models one by one.")
    }

    private func refuseTheSameReleaseTwice(_ sources: [PublishSource]) throws {
        var paths: [ReleaseIdentity: Path] = [:]
        for source in sources {
            guard let other = paths.updateValue(source.path, forKey: source.identity) else { continue }
            throw PublishingError(
                .releaseTwice, "\(other) and \(source.path) would both be \(source.identity)",
                context: ErrorContext(
                    model: source.identity.description, file: source.path.string,
                    remedy: "Publish them one by one, each with its own name, version or variant."))
        }
    }
}
