import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// Puts models into an origin: a folder that any web server can serve, or a part of an S3-compatible bucket.
///
/// A publication is a plan, made of the files and the origin's present catalog, and then carried out in order. After any
/// failure, the catalog is the old one or the new one, and names only complete files.
public struct Publisher: Sendable {
    let target: any PublishTarget
    let fileSystem: any FileSystem
    let time: TimeSource
    /// Adds signed metadata to plans; `nil` for an unsigned origin.
    package var signing: (any PublishSigning)?
    /// Whether another machine signs the list afterwards. Otherwise a change of a signed origin needs ``signing``.
    package var isSignedElsewhere = false

    /// Creates a publisher for an origin.
    ///
    /// ```swift
    /// let publisher = Publisher(to: .folder(folder))
    /// let report = try await publisher.publish(PublishRequest(files: [model]))
    /// ```
    /// - Parameters:
    ///   - signing: signs the list with the origin's keys; `nil` for an unsigned origin.
    ///   - isSignedElsewhere: whether another machine signs the list of a signed origin afterwards. Until then its devices
    ///     see the list before.
    public init(to destination: PublishDestination, signing: OriginSigner? = nil, isSignedElsewhere: Bool = false) {
        self.init(target: destination.target, time: .system, signing: signing)
        self.isSignedElsewhere = isSignedElsewhere
    }

    package init(folder: Path, fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource = .system) {
        self.init(
            target: FolderTarget(folder: folder, fileSystem: fileSystem), fileSystem: fileSystem, time: time)
    }

    /// Creates a publisher for any target.
    package init(
        target: any PublishTarget, fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource,
        signing: (any PublishSigning)? = nil
    ) {
        self.target = target
        self.fileSystem = fileSystem
        self.time = time
        self.signing = signing
    }

    /// Publishes each model as one release with its companions. All or none: the manifest is written once, after every
    /// file.
    /// - Parameters:
    ///   - request: the files, and the publisher's values for them.
    ///   - progress: called on another thread, about once for each MiB. A file is read once and then sent once.
    /// - Throws: ``PublishingError``; `StoreError` for an archive that devices would refuse; `CatalogError` if the
    ///   origin's manifest is not well formed; `FileError`; `HTTPError`; `CancellationError`.
    public func publish(
        _ request: PublishRequest,
        progress: @escaping @Sendable (_ file: Path, _ completedBytes: UInt64, _ totalBytes: UInt64) -> Void = {
            _, _, _ in
        }
    ) async throws -> PublishReport {
        try await publish(
            request, onProgress: { progress($0.file, $0.completedBytes, $0.totalBytes) })
    }

    /// As ``publish(_:progress:)``, with the phase of each file.
    package func publish(
        _ given: PublishRequest, onProgress progress: @escaping @Sendable (PublishProgress) -> Void
    ) async throws -> PublishReport {
        let packing = FolderPacking(given, fileSystem: fileSystem)
        defer { packing.removeFolder() }
        let request = try await StopFlag.blocking { try packing.pack(flag: $0) }
        let (sources, classes) = try await StopFlag.blocking { flag in
            (
                try PublishSource.list(request, fileSystem: fileSystem, flag: flag),
                try request.classes.map { try PublishClasses($0, fileSystem: fileSystem) }
            )
        }
        try await checkSigning()
        // Released at the end of this function.
        let session: (any Sendable)? = request.isDryRun ? nil : try await target.begin()
        defer { withExtendedLifetime(session) {} }
        let hashed = try await HashedSource.list(sources, fileSystem: fileSystem, progress)
        let before = try await manifest()
        let draft = try await PublishDraft(
            hashed, request: request, classes: classes, before: before, target: target, now: time.now)
        let plan = try await plan(draft, before: before)
        if !request.isDryRun { try await perform(plan, draft: draft, progress) }
        return try draft.report(plan: plan, target: target)
    }

    /// Changes the catalog only, and signs it also if it had been changed before without being signed.
    /// - Parameter isDryRun: whether to make the plan only.
    /// - Returns: the catalog afterwards, and the plan, which is empty if nothing changes.
    func edit(
        isDryRun: Bool, _ change: (inout OriginManifest) throws -> Void
    ) async throws -> (manifest: OriginManifest, plan: PublishPlan) {
        try await requireCatalog()
        try await checkSigning()
        let session: (any Sendable)? = isDryRun ? nil : try await target.begin()
        defer { withExtendedLifetime(session) {} }
        let before = try await manifest()
        var manifest = before
        try change(&manifest)
        var plan = PublishPlan()
        if manifest.document != before.document {
            try manifest.stamp(time.now)
            try await addCatalog(manifest, to: &plan)
        } else {
            try await addMetadata(to: &plan)
        }
        if !isDryRun { try await perform(plan) { _ in } }
        return (manifest, plan)
    }

    /// Refuses an origin that ``signing`` cannot sign, and a signed one without it: its devices would not see the change.
    private func checkSigning() async throws {
        if let signing { return try await signing.check(target) }
        guard !isSignedElsewhere, try await SignedOrigin(target).isSigned() else { return }
        throw PublishingError(
            .signatureNeeded, "\(target.name) is signed, so a change without its keys reaches no device",
            context: ErrorContext(
                file: target.name, remedy: "Give the keys, or say that another machine signs the list."),
            disposition: .usage)
    }

    /// The origin's catalog as it is now.
    func manifest() async throws -> OriginManifest {
        let place = try OriginPlaces.catalog
        return try OriginManifest(
            try await target.contents(of: place, limit: Catalog.maximumManifestSize), url: target.manifestURL,
            shown: target.shown(place))
    }

    /// - Throws: ``PublishingError`` with `origin-unusable` if the target has no catalog: it may be the wrong place.
    func requireCatalog() async throws {
        guard try await manifest().isNew else { return }
        throw PublishingError(
            .originUnusable, "\(target.name) has no models.json, so nothing is changed",
            context: ErrorContext(file: target.name, remedy: "Check the name of the folder or the bucket."))
    }

    // MARK: - Plan

    private func plan(_ draft: PublishDraft, before: OriginManifest) async throws -> PublishPlan {
        var plan = draft.plan
        if draft.isChanged { try await addCatalog(draft.manifest, to: &plan) } else { try await addMetadata(to: &plan) }
        return plan
    }

    /// Adds the catalog, its copy, and the metadata that vouches for it.
    private func addCatalog(_ manifest: OriginManifest, to plan: inout PublishPlan) async throws {
        let data = manifest.data
        var condition = PublishStep.Condition.none
        if manifest.isNew { condition = .absent } else if let tag = manifest.tag { condition = .unchanged(tag) }
        plan.add(
            PublishStep(.copy, try OriginPlaces.copy(of: SHA256Digest(hashing: data)), data: data, isImmutable: true))
        plan.add(
            PublishStep(
                .catalog, try OriginPlaces.catalog, data: data, isImmutable: false, condition: condition))
        try await addMetadata(to: &plan)
    }

    private func addMetadata(to plan: inout PublishPlan) async throws {
        for step in try await signing?.steps(for: plan, target: target, now: time.now) ?? [] { plan.add(step) }
    }

    // MARK: - Carrying out

    private func perform(
        _ plan: PublishPlan, draft: PublishDraft, _ progress: @escaping @Sendable (PublishProgress) -> Void
    ) async throws {
        try await perform(plan, progress)
        await target.withdraw(draft.withdrawn, sparing: draft.sourceIdentities)
    }

    private func perform(
        _ plan: PublishPlan, _ progress: @escaping @Sendable (PublishProgress) -> Void
    ) async throws {
        for step in plan.steps {
            try Task.checkCancellation()
            try await target.perform(step) { completed in
                guard case .file(let path, _) = step.content else { return }
                progress(
                    PublishProgress(file: path, phase: .sending, completedBytes: completed, totalBytes: step.size))
            }
        }
    }
}
