import Foundation
import HearthBase
import HearthCatalog

/// The models on this device: installs, activates, verifies and removes them.
///
/// Every change is one step under a lock between processes. Its order leaves a whole home folder if it is interrupted
/// anywhere. ``HomeLayout`` shows the layout.
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
    package static let lockTimeout: Duration = .seconds(10)

    /// The places of all files.
    package nonisolated let layout: HomeLayout

    package let fileSystem: any FileSystem
    package let time: TimeSource
    /// The clocks for renewing marks during long work.
    nonisolated let renewalTime: TimeSource
    private let executor = ThreadExecutor(name: "hearth.store")
    private var isPrepared = false
    private var isInspected = false

    /// Disk calls block: the actor has a thread of its own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The store in a home folder, which is created at the first change.
    package init(
        home: Path, fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource = .system,
        renewalTime: TimeSource = .system
    ) {
        layout = HomeLayout(home: home)
        self.fileSystem = fileSystem
        self.time = time
        self.renewalTime = renewalTime
    }

    /// The folder of unfinished transfers; ``install(_:files:archive:origin:progress:)`` moves files from there.
    package nonisolated var transfersFolder: Path { layout.transfers }

    package var directory: ReleaseDirectory { ReleaseDirectory(layout: layout, fileSystem: fileSystem) }

    // MARK: The home folder

    /// Creates missing folders, checks the layout's version, and removes what interrupted processes left.
    /// - Throws: `home-too-new`, `home-too-old`, `home-unusable`.
    package func prepare() async throws {
        guard !isPrepared else { return }
        if try !isLaidOut() {
            try fileSystem.makeFolders(layout.home)
            try await committing {
                guard try !isLaidOut() else { return }
                try fileSystem.makeFolders(layout.models)
                try fileSystem.makeFolders(layout.transfers)
                try fileSystem.replaceContents(of: layout.versionFile, with: Data("\(HomeLayout.version)\n".utf8))
            }
        }
        try await inspect()
        isPrepared = true
    }

    /// Prepares for reading: refuses a home folder of another layout, and finishes interrupted work if possible.
    package func inspect() async throws {
        guard !isInspected else { return }
        _ = try isLaidOut()
        let interrupted = InterruptedWork(layout: layout, fileSystem: fileSystem)
        do {
            if try interrupted.exists() { try await committing { try interrupted.clear() } }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // A home folder that is read-only, or locked by another process, can still be read.
            Log.write(.info, "unfinished files stay until the next start: \(error)")
        }
        isInspected = true
    }

    /// Whether the home folder is complete and its layout has the supported version.
    private func isLaidOut() throws -> Bool {
        let path = layout.versionFile
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return false }
        guard status.kind == .file, status.size <= 32 else { throw unusable(path, found: "no version") }
        let text = String(decoding: try fileSystem.contents(ofFile: path, limit: 32), as: UTF8.self)
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let version = UInt(trimmed), version > 0 else { throw unusable(path, found: "no version") }
        guard version <= HomeLayout.version else {
            throw StoreError(
                .homeTooNew, "the home folder \(layout.home) was laid out by a newer version of Hearth",
                context: ErrorContext(
                    file: path.string, expected: "layout \(HomeLayout.version)", found: "layout \(version)",
                    remedy: "Use that version, or another home folder."))
        }
        guard version == HomeLayout.version else {
            throw StoreError(
                .homeTooOld, "the home folder \(layout.home) was laid out by an older version of Hearth",
                context: ErrorContext(
                    file: path.string, expected: "layout \(HomeLayout.version)", found: "layout \(version)",
                    remedy: "Move it away, or use another home folder."))
        }
        return try [layout.models, layout.transfers].allSatisfy { folder in
            guard let status = try fileSystem.status(at: folder) else { return false }
            guard status.kind == .folder else { throw FileError(errno: ENOTDIR, doing: "use", path: folder) }
            return true
        }
    }

    private func unusable(_ path: Path, found: String) -> StoreError {
        StoreError(
            .homeUnusable, "\(path) does not say which layout the home folder has",
            context: ErrorContext(
                file: path.string, expected: "\(HomeLayout.version)", found: found,
                remedy: "If this is a home folder of Hearth, write \(HomeLayout.version) into that file."))
    }

    /// Runs a commit step while no other process or store can. The body never suspends.
    package func committing<Result: Sendable>(_ body: () throws -> Result) async throws -> Result {
        let waited = time.stopwatch()
        while true {
            try Task.checkCancellation()
            if let lock = try FileLock.tryAcquire(layout.lock) {
                defer { lock.release() }
                return try body()
            }
            guard waited.elapsed < Self.lockTimeout else {
                throw StoreError(
                    .homeBusy, "another process is changing the home folder \(layout.home)",
                    context: ErrorContext(file: layout.lock.string, remedy: "Try again in a moment."),
                    disposition: .tryLater)
            }
            try await time.sleep(for: .milliseconds(20))
        }
    }

    // MARK: Installed releases

    /// All installed releases, with the damaged ones.
    package func inventory() async throws -> Inventory {
        try await inspect()
        var releases: [InstalledRelease] = []
        var damaged: [DamagedRelease] = []
        for family in try directory.families().sorted() {
            let identities = try directory.releases(of: family)
            if identities.isEmpty { continue }
            let active = try activation.state(of: family).active
            for identity in identities {
                let folder = layout.folder(of: identity)
                let isActive = identity == active
                switch try directory.find(identity) {
                case .absent: break
                case .whole(let receipt):
                    releases.append(
                        InstalledRelease(identity: identity, folder: folder, receipt: receipt, isActive: isActive))
                case .damaged(let receipt, let problem):
                    damaged.append(
                        DamagedRelease(
                            identity: identity, folder: folder, isActive: isActive, receipt: receipt, problem: problem))
                }
            }
        }
        return Inventory(releases: releases, damaged: damaged)
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
        return try read(identity)
    }

    /// An installed release.
    /// - Throws: `not-installed`, `receipt-damaged`, `release-damaged`.
    @discardableResult
    func require(_ identity: ReleaseIdentity) throws -> InstalledRelease {
        guard let release = try read(identity) else { throw notInstalled(identity.description) }
        return release
    }

    package func read(_ identity: ReleaseIdentity) throws -> InstalledRelease? {
        switch try directory.find(identity) {
        case .absent: return nil
        case .damaged(_, let problem): throw problem
        case .whole(let receipt):
            return InstalledRelease(
                identity: identity, folder: layout.folder(of: identity), receipt: receipt,
                isActive: try activation.state(of: identity.family).active == identity)
        }
    }

    package func notInstalled(_ what: String) -> StoreError {
        StoreError(
            .notInstalled, "\(what) is not installed",
            context: ErrorContext(model: what, remedy: "Pull it first."))
    }
}
