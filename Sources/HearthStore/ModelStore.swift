import Foundation
import HearthBase
import HearthCatalog

/// The models on this device: installs, activates, verifies and removes them.
///
/// Every change is one step under a lock between processes. Its order leaves a whole home folder if it is interrupted
/// anywhere. ``HomeLayout`` shows the layout. Values do the work on the actor's thread: `StoredReleases` reads,
/// `Installing`, `FileReplacing`, `ReleaseSwitch`, `Recovering`, `ArtifactBuilding` and `ReleaseRemoval` change.
///
/// ```swift
/// let store = ModelStore(home: home)
/// try await store.prepare()
/// let release = try await store.install(release, files: [file], origin: origin)
/// try await store.activate(release.identity)
/// let weights = try await store.active(release.identity.family)?.weights
/// ```
///
/// - Throws: `StoreError` and `FileError` throughout; `home-busy` and `CancellationError` where a commit has to wait.
package actor ModelStore {
    /// How long a commit step waits for another process before `home-busy`.
    package static let lockTimeout = StoreHome.lockTimeout

    nonisolated let home: StoreHome
    private let executor = ThreadExecutor(name: "hearth.store")
    private var isPrepared = false
    private var isInspected = false

    /// Disk calls block: the actor has a thread of its own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The store in a home folder, which is created at the first change.
    package init(
        home: Path, fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource = .system,
        renewalTime: TimeSource = .system, archives: ArchiveLibrary = .standard
    ) {
        self.home = StoreHome(
            layout: HomeLayout(home: home), fileSystem: fileSystem, time: time, renewalTime: renewalTime,
            archives: archives)
    }

    /// The places of all files.
    package nonisolated var layout: HomeLayout { home.layout }
    /// The folder of unfinished transfers; ``install(_:files:archive:origin:progress:)`` moves files from there.
    package nonisolated var transfersFolder: Path { layout.transfers }
    package nonisolated var artifacts: ArtifactStore { home.artifacts }
    package nonisolated var marks: MarkFiles { home.marks }

    /// Creates missing folders, checks the layout's version, and removes what interrupted processes left.
    /// - Throws: `home-too-new`, `home-too-old`, `home-unusable`.
    package func prepare() async throws {
        guard !isPrepared else { return }
        try await home.layOut()
        try await inspect()
        isPrepared = true
    }

    /// Prepares for reading: refuses a home folder of another layout, and finishes interrupted work if possible.
    package func inspect() async throws {
        guard !isInspected else { return }
        try await home.inspect()
        isInspected = true
    }

    // MARK: Installed releases

    /// All installed releases, with the damaged ones.
    package func inventory() async throws -> Inventory {
        try await inspect()
        return try home.inventory()
    }

    /// Every usable release, sorted by family, version and variant. Damaged ones are logged and left out:
    /// ``inventory()`` lists them.
    package func installed() async throws -> [InstalledRelease] {
        let inventory = try await inventory()
        for damaged in inventory.damaged { Log.write(.warning, "\(damaged.problem)") }
        return inventory.releases
    }

    /// An installed release, `nil` if it is not on this device.
    /// - Throws: `receipt-damaged`, `release-damaged`.
    package func installed(_ identity: ReleaseIdentity) async throws -> InstalledRelease? {
        try await inspect()
        return try home.find(identity)
    }

    /// The installed releases of one version and variant, with and without a content tag; the live one first.
    package func installed(sameNameAs identity: ReleaseIdentity) async throws -> [ReleaseIdentity] {
        let active = try await state(of: identity.family).active
        let all = try home.directory.releases(publishedAs: identity)
        return all.filter { $0 == active } + all.filter { $0 != active }
    }

    /// The identity for a release with these bytes: that of an installed one, else a new one.
    package func identity(
        for content: SHA256Digest, publishedAs identity: ReleaseIdentity
    ) async throws -> ReleaseIdentity {
        try await inspect()
        return try home.directory.identity(for: content, publishedAs: identity)
    }

    /// The identity under which an offered release is, or would be, installed. It has a content tag if other bytes have
    /// the plain name, and none if the catalog's entry does not give the digests of all files.
    package func identity(of release: Release) async throws -> ReleaseIdentity {
        guard let content = release.content else { return release.identity }
        return try await identity(for: content, publishedAs: release.identity)
    }

    /// The receipt of a release, also of a damaged one.
    /// - Throws: `not-installed`, `receipt-damaged`.
    package func receipt(of identity: ReleaseIdentity) throws -> Receipt { try home.receipt(of: identity) }

    /// Re-hashes a release against its receipt, and its artifacts against their records. It may be damaged or
    /// unverified.
    ///
    /// Runs outside the actor at about 1.8 GB a second, and stops soon after cancellation.
    /// - Parameter readsArtifacts: whether to re-hash its artifacts too.
    /// - Throws: `not-installed`, `receipt-damaged`. The report lists missing and changed files.
    package func verify(
        _ identity: ReleaseIdentity, readsArtifacts: Bool = true, progress: @escaping StoreProgress = { _, _ in }
    ) async throws -> VerificationReport {
        try await inspect()
        return try await StopFlag.blocking { [home] in
            try home.verify(identity, readsArtifacts: readsArtifacts, progress: progress, flag: $0)
        }
    }

    /// Takes a lease on an installed release: until it is given back, no process deletes the release's files.
    ///
    /// If another process is removing the release and puts it back because it is read, the lease waits for that.
    /// - Throws: `not-installed`, `home-busy`, `home-unusable`.
    package func lease(_ identity: ReleaseIdentity) async throws -> ReleaseLease {
        try await inspect()
        do {
            return try home.leases.acquire(identity)
        } catch let error as StoreError where error.code == .notInstalled {
            let family = layout.folder(of: identity.family)
            guard try home.fileSystem.status(at: family, followLinks: false) != nil else { throw error }
            // While this process holds the commit lock, no removal is under way: the release is installed or it is not.
            return try await home.committing { try home.leases.acquire(identity) }
        }
    }

    // MARK: Installing

    /// Installs a release from files, completely or not at all.
    ///
    /// Files below ``transfersFolder`` are moved from there, others are copied and stay. A file that another release
    /// already holds is re-read and stored once. If a release with the same content is installed, its bytes are
    /// re-read: damaged ones are replaced, and intact ones stay. If other bytes have the plain name, the release gets a
    /// content tag. Blocks no task of the cooperative pool; can be cancelled until the release moves into place.
    /// - Parameters:
    ///   - release: the release from its catalog.
    ///   - files: every file of the release that is not in its archive, with digests computed on this device.
    ///   - archive: the archive of a release that comes in one, compared with its digest; its contents are unpacked.
    ///   - origin: the manifest that lists the release.
    ///   - progress: receives the bytes unpacked.
    /// - Returns: the release with its final identity.
    /// - Throws: `reserved-name`, `staged-file-changed`, `classes-mismatch`, `home-busy`,
    ///   the codes of a refused archive; `FileError`.
    package func install(
        _ release: Release, files: [StagedFile], archive: StagedFile? = nil, origin: Origin?,
        progress: @escaping StoreProgress = { _, _ in }
    ) async throws -> InstalledRelease {
        let work = Installation(release: release, files: files, archive: archive, origin: origin, date: home.time.now)
        try work.check()
        try await prepare()
        return try await Installing(home: home, work: work).install(progress)
    }

    /// Finds files of a new release that installed releases already hold, by digest and length in the receipts. Each is
    /// re-read before it is trusted; then it is stored once and not fetched.
    /// - Throws: `FileError`, `CancellationError`.
    package func shared(_ release: Release) async throws -> [StagedFile] {
        try await inspect()
        return try await home.places().shared(release)
    }

    /// Records another manifest that lists the same bytes as the origin of a release's updates.
    /// - Throws: `not-installed`, also if other bytes have replaced the release meanwhile.
    package func follow(_ origin: Origin, entry: String, _ release: InstalledRelease) async throws -> InstalledRelease {
        try await home.committing {
            guard case .whole(let receipt) = try home.directory.find(release.identity),
                receipt.isSameContent(as: release.receipt)
            else { throw StoreError.notInstalled(release.identity.description) }
            let path = HomeLayout.receipt(in: layout.folder(of: release.identity))
            try home.fileSystem.replaceContents(of: path, with: try receipt.following(origin, entry: entry).data())
            return try home.require(release.identity)
        }
    }

    // MARK: Repair

    /// Finds an installed file with the same contents by reading it; `nil` if no intact one is found.
    package func intactCopy(of file: Receipt.File) async throws -> Path? {
        try await inspect()
        return try await home.places().intactCopy(of: file)
    }

    /// Replaces a damaged file, in this release and in every other that shares it.
    ///
    /// The damaged file is replaced by a rename, never written to: a process that has it open keeps reading the old
    /// one.
    /// - Parameter whole: a file with the right bytes, compared with its digest by the caller.
    /// - Returns: the other releases that shared the file.
    package func replace(
        _ file: Receipt.File, of identity: ReleaseIdentity, with whole: Path
    ) async throws -> Set<ReleaseIdentity> {
        try await home.replace(file, of: identity, with: whole)
    }

    /// Unpacks an archive into a staging folder, and replaces damaged files by the unpacked ones.
    /// - Parameters:
    ///   - damaged: damaged files that were unpacked from the archive.
    ///   - archive: the archive, compared with its digest by the caller.
    ///   - release: the release in the archive, without files beside it.
    /// - Returns: the other releases that shared a damaged file.
    package func replace(
        _ damaged: [Receipt.File], of identity: ReleaseIdentity, from archive: StagedFile, of release: Release,
        progress: @escaping StoreProgress
    ) async throws -> Set<ReleaseIdentity> {
        let work = Installation(release: release, files: [], archive: archive, origin: nil, date: home.time.now)
        return try await home.replace(damaged, of: identity, unpacking: work, progress: progress)
    }
}
