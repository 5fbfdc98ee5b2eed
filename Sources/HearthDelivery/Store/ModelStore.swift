import Foundation
import HearthBase

/// The models on this device: installs them, says which one is live, checks and removes them.
///
/// Every change is made in one step under a lock that other processes honour, in an order that leaves a whole home
/// behind wherever it is interrupted. The layout is drawn at ``HomeLayout``.
///
/// ```swift
/// let store = ModelStore(home: home)
/// try await store.prepare()
/// let release = try await store.install(release, files: [file], origin: manifestURL)
/// try await store.activate(release.identity)
/// let weights = try await store.locate(release.identity.family)
/// ```
///
/// - Throws: `StoreError` and `FileError` throughout; `home-busy` and `CancellationError` where a commit has to wait.
public actor ModelStore {
    /// How long a commit step waits for another process before `home-busy`.
    public static let patience: Duration = .seconds(10)

    /// Where everything lies.
    public nonisolated let layout: HomeLayout

    let fileSystem: any FileSystem
    let time: TimeSource
    private let executor = ThreadExecutor(name: "hearth.store")
    private var isPrepared = false
    private var isInspected = false

    /// Disk calls block: the actor has a thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The store in a home folder, which is made at the first change.
    public init(home: Path, fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource = .system) {
        layout = HomeLayout(home: home)
        self.fileSystem = fileSystem
        self.time = time
    }

    /// Where files on their way in belong: what lies below is taken by ``install(_:files:origin:)`` without a copy.
    public nonisolated var transfersFolder: Path { layout.transfers }

    var shelf: ReleaseShelf { ReleaseShelf(layout: layout, fileSystem: fileSystem) }
    var activation: ActivationFiles { ActivationFiles(layout: layout, fileSystem: fileSystem) }

    // MARK: The home folder

    /// Makes the folders if they are missing, checks the layout's version, and clears up after interrupted processes.
    /// - Throws: `home-too-new`, `home-unusable`.
    public func prepare() async throws {
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

    /// Before reading: refuses a newer home, and finishes what an interrupted process left, where that is possible.
    func inspect() async throws {
        guard !isInspected else { return }
        _ = try isLaidOut()
        let leftOvers = LeftOvers(layout: layout, fileSystem: fileSystem)
        do {
            if try leftOvers.exist() { try await committing { try leftOvers.collect() } }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // A home that can only be read, or one at work, is still good for reading.
            Log.write(.info, "delivery.store", "left-overs stay until the next start: \(error)")
        }
        isInspected = true
    }

    /// Whether the home is complete and of a layout this version knows.
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
                    file: path.string, expected: "layout \(HomeLayout.version) or older", found: "layout \(version)",
                    remedy: "Use that version, or another folder with HEARTH_HOME."))
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

    /// Performs a commit step while no other process or store can. The body never suspends.
    func committing<Result: Sendable>(_ body: () throws -> Result) async throws -> Result {
        let waited = time.stopwatch()
        while true {
            try Task.checkCancellation()
            if let lock = try FileLock.tryAcquire(layout.lock) {
                defer { lock.release() }
                return try body()
            }
            guard waited.elapsed < Self.patience else {
                throw StoreError(
                    .homeBusy, "another process is changing the home folder \(layout.home)",
                    context: ErrorContext(file: layout.lock.string, remedy: "Try again in a moment."),
                    disposition: .tryLater)
            }
            try await time.sleep(for: .milliseconds(20))
        }
    }

    // MARK: What is there

    /// Everything installed, also what is damaged.
    public func inventory() async throws -> Inventory {
        try await inspect()
        var releases: [InstalledRelease] = []
        var damaged: [DamagedRelease] = []
        for family in try shelf.families().sorted() {
            let identities = try shelf.releases(of: family)
            if identities.isEmpty { continue }
            let active = try activation.state(of: family).active
            for identity in identities {
                let folder = layout.folder(of: identity)
                let isActive = identity == active
                switch try shelf.find(identity) {
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

    /// Every release that can be used, sorted by family, version and variant. Damaged ones are logged and left out:
    /// ``inventory()`` lists them.
    public func installed() async throws -> [InstalledRelease] {
        let inventory = try await inventory()
        for damaged in inventory.damaged { Log.write(.warning, "delivery.store", "\(damaged.problem)") }
        return inventory.releases
    }

    /// One release, `nil` if it is not on this device.
    /// - Throws: `receipt-damaged`, `release-damaged`.
    public func installed(_ identity: ReleaseIdentity) async throws -> InstalledRelease? {
        try await inspect()
        return try read(identity)
    }

    /// The live release of a family, `nil` if there is none.
    /// - Throws: `receipt-damaged`, `release-damaged` if the live one is.
    public func active(_ family: Family) async throws -> InstalledRelease? {
        try await inspect()
        return try activation.state(of: family).active.flatMap { try read($0) }
    }

    /// What is recorded about a family: the live release, the one before it, the pinned one.
    public func state(of family: Family) async throws -> ReleaseState {
        try await inspect()
        return try activation.state(of: family)
    }

    /// The path of the live release's weights.
    /// - Throws: `not-installed`, `no-active-release`, `receipt-damaged`, `release-damaged`.
    public func locate(_ family: Family) async throws -> Path {
        if let release = try await active(family) {
            if let weights = release.weights { return weights }
            throw StoreError(
                .releaseDamaged, "\(release.identity) holds no weights",
                context: ErrorContext(model: release.identity.description, file: release.folder.string))
        }
        let releases = try shelf.releases(of: family)
        guard let newest = releases.last else { throw notInstalled(family.name) }
        throw StoreError(
            .noActiveRelease, "no release of \(family) is active",
            context: ErrorContext(model: family.name, remedy: "Choose one: hearth use \(newest)"))
    }

    func read(_ identity: ReleaseIdentity) throws -> InstalledRelease? {
        switch try shelf.find(identity) {
        case .absent: return nil
        case .damaged(_, let problem): throw problem
        case .whole(let receipt):
            return InstalledRelease(
                identity: identity, folder: layout.folder(of: identity), receipt: receipt,
                isActive: try activation.state(of: identity.family).active == identity)
        }
    }

    func notInstalled(_ what: String) -> StoreError {
        StoreError(
            .notInstalled, "\(what) is not installed",
            context: ErrorContext(model: what, remedy: "See what is with: hearth list"))
    }
}
