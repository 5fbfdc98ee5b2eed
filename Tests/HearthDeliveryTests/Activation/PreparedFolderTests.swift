import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What engines make of releases, where it is a folder.
@Suite(.timeLimit(.minutes(10))) struct PreparedFolderTests {
    /// A package of two files, and one beside it.
    static let names = ["Leaf.package/Data/model.bin", "Leaf.package/Manifest.json", "labels.txt"]

    private let identity: ReleaseIdentity
    private let fixture: StoreFixture
    private let release: InstalledRelease
    private let preparer = FolderPreparer()

    init() async throws {
        identity = try StoreFixture.identity()
        fixture = try StoreFixture()
        release = try await fixture.install(identity, names: Self.names)
    }

    private var builds: Int { preparer.builds.withLock { $0 } }

    private func prepared() async throws -> PreparedRelease? {
        let release = try #require(try await fixture.store.installed(identity))
        return try await fixture.anotherStore().prepared(of: release)
    }

    /// Opens the release as an engine does: under a lease of its own.
    private func open(_ preparer: (any ReleasePreparer)? = nil) async throws -> Path {
        let lease = try await fixture.store.lease(identity)
        defer { lease.release() }
        let release = try #require(try await fixture.store.installed(identity))
        return try await fixture.manager(preparer: preparer ?? self.preparer).weightsToOpen(of: release, under: lease)
    }

    /// Every name in an artefact, and that each file holds what was made.
    private func expectWhole(_ path: Path, _ settings: String = "small") throws {
        let names = try #require(FileManager.default.enumerator(atPath: path.string)).compactMap { $0 as? String }
        #expect(names.sorted() == (FolderPreparer.files + FolderPreparer.folders).sorted())
        for name in FolderPreparer.files {
            let data = try Data(contentsOf: HomeLayout.join(path, name).url)
            #expect(data == FolderPreparer.contents(name, of: identity, settings))
        }
    }

    @Test func itIsMadeOnceAndOpenedFromThenOn() async throws {
        let probe = ScriptedProbe()
        try await fixture.manager(preparer: preparer, probe: probe).activate(identity)
        let made = try #require(try await prepared())
        try expectWhole(made.path)
        #expect(made.path.lastComponent == "made.bundle")
        #expect(probe.asked.withLock { $0 } == [made.path])
        #expect(
            made.size
                == FolderPreparer.files.map { UInt64(FolderPreparer.contents($0, of: identity).count) }.reduce(0, +))
        #expect(try await open() == made.path)
        try await fixture.manager(preparer: preparer, probe: probe).activate(identity)
        #expect(builds == 1)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    // MARK: - Damage

    enum Damage: String, CaseIterable, Sendable {
        case bytes, shorter, fileMissing, folderMissing, extraFile, extraFolder, linkAdded, linkInPlaceOfFile
        case fileInPlaceOfFolder, pipeAdded, linkInPlaceOfAll, fileInPlaceOfAll, nothing, record
    }

    private func inflict(_ damage: Damage, on folder: Path) throws {
        let disk = LocalFileSystem()
        let weights = HomeLayout.join(folder, "weights/0/weight.bin")
        switch damage {
        case .bytes:
            try overwrite(weights, date: Date(timeIntervalSince1970: 5))
        case .shorter: try Data("x".utf8).write(to: weights.url)
        case .fileMissing: try disk.removeFile(weights)
        case .folderMissing: try disk.removeFolder(folder.appending("empty"))
        case .extraFile: try Data("x".utf8).write(to: folder.appending("empty/new").url)
        case .extraFolder: try disk.makeFolder(folder.appending("new"), permissions: 0o755)
        case .linkAdded: try disk.makeLink(at: folder.appending("empty/new"), to: "../data.bin")
        case .linkInPlaceOfFile:
            try disk.rename(weights, to: fixture.folder.path("elsewhere"))
            try disk.makeLink(at: weights, to: fixture.folder.path("elsewhere").string)
        case .fileInPlaceOfFolder:
            try disk.removeFolder(folder.appending("empty"))
            try Data().write(to: folder.appending("empty").url)
        case .pipeAdded: #expect(mkfifo(folder.appending("empty/pipe").string, 0o600) == 0)
        case .linkInPlaceOfAll:
            try disk.rename(folder, to: fixture.folder.path("elsewhere"))
            try disk.makeLink(at: folder, to: fixture.folder.path("elsewhere").string)
        case .fileInPlaceOfAll:
            try disk.removeTree(folder)
            try Data("x".utf8).write(to: folder.url)
        case .nothing: try disk.removeTree(folder)
        case .record: try disk.removeFile(folder.parent.appending("prepared.json"))
        }
    }

    /// Other bytes of the same length.
    private func overwrite(_ path: Path, date: Date) throws {
        var data = try Data(contentsOf: path.url)
        data[0] ^= 1
        try data.write(to: path.url)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path.string)
    }

    @Test(arguments: Damage.allCases) func whatIsNotWholeHeals(_ damage: Damage) async throws {
        let made = try await open()
        try inflict(damage, on: made)
        #expect(try await open() == made)
        #expect(builds == 2)
        try expectWhole(made)
        #expect(try await open() == made && builds == 2)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// By names and sizes alone, for those who have no engine to ask: only what has other bytes is not noticed.
    @Test(arguments: Damage.allCases) func whatIsNotWholeIsNotShown(_ damage: Damage) async throws {
        try inflict(damage, on: try await open())
        #expect(try await (prepared() == nil) == (damage != .bytes))
    }

    /// Another date alone costs a look at the bytes, and they are the same.
    @Test func whatWasOnlyTouchedIsKept() async throws {
        let made = try await open()
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 5)], ofItemAtPath: made.appending("data.bin").string)
        #expect(try await open() == made && builds == 1)
    }

    /// An activation reads all of it again, whatever the dates say.
    @Test func bytesThatChangedUnnoticedHealAtTheNextActivation() async throws {
        let made = try await open()
        let path = made.appending("data.bin")
        try overwrite(path, date: try #require(try LocalFileSystem().status(at: path)?.modified))
        #expect(try await open() == made)
        try #require(builds == 1, "nobody noticed")
        try await fixture.manager(preparer: preparer, probe: ScriptedProbe()).activate(identity)
        #expect(builds == 2)
        try expectWhole(made)
    }

    // MARK: - What is no artefact

    enum Stray: String, CaseIterable, Sendable {
        case linkInside, linkBelow, pipe, name, noFile, emptyFile, file, link, nothing

        /// What the reason tells.
        var word: String {
            switch self {
            case .linkInside: "holds link,"
            case .linkBelow: "holds below/link,"
            case .pipe: "holds pipe,"
            case .name: "holds back\\slash,"
            case .noFile, .emptyFile: "it is empty"
            case .file, .link, .nothing: "there is no folder of that name"
            }
        }

        func make(at target: Path) throws {
            let disk = LocalFileSystem()
            switch self {
            case .file: return try Data("x".utf8).write(to: target.url)
            case .link: return try disk.makeLink(at: target, to: "/")
            case .nothing: return
            default: try disk.makeFolders(target.appending("below"))
            }
            if self == .noFile { return }
            if self == .emptyFile { return try Data().write(to: target.appending("data.bin").url) }
            try Data("x".utf8).write(to: target.appending("data.bin").url)
            switch self {
            case .linkInside: try disk.makeLink(at: target.appending("link"), to: "data.bin")
            case .linkBelow: try disk.makeLink(at: target.appending("below/link"), to: "..")
            case .pipe: #expect(mkfifo(target.appending("pipe").string, 0o600) == 0)
            default: try Data("x".utf8).write(to: target.appending("back\\slash").url)
            }
        }
    }

    /// The release is used as it came, and the reason is kept.
    @Test(arguments: Stray.allCases) func whatIsNoArtefactIsRefused(_ stray: Stray) async throws {
        let preparer = ClosurePreparer(.folder) { try stray.make(at: $0) }
        let preparation = ReleasePreparation(store: fixture.store, preparer: preparer) { _ in }
        let outcome = try await preparation.prepare(release, rehashing: false)
        guard case .failed(let reason) = outcome.preparation, outcome.prepared == nil else {
            Issue.record("\(outcome) is kept")
            return
        }
        #expect(reason.contains(stray.word), "\(reason)")
        #expect(try await open(preparer) == release.weights)
        #expect(try await fixture.manager(preparer: preparer).activate(identity).isActive)
        #expect(try await prepared() == nil)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func aFailureOnTheWayIsNoObstacle() async throws {
        struct Failure: Error {}
        let preparer = ClosurePreparer(.folder) { target in
            try LocalFileSystem().makeFolders(target.appending("below"))
            throw Failure()
        }
        #expect(try await open(preparer) == release.weights)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    // MARK: - From which bytes

    /// Other bytes in any file of the package make another artefact, wherever the engine's own file is; those beside it do not.
    @Test(arguments: PreparedFolderTests.names) func anyByteOfThePackageCounts(_ changed: String) async throws {
        let made = try await open()
        let old = try StoreFixture.release(identity, names: Self.names)
        let new = try StoreFixture.release(identity, names: Self.names, salt: "!")
        func pick<Item>(_ new: [Item], _ old: [Item], _ name: (Item) -> String) -> [Item] {
            zip(new, old).map { name($0) == changed ? $0 : $1 }
        }
        let files = pick(try fixture.stage(new, salt: "!"), try fixture.stage(old)) { $0.name.string }
        var other = old
        other.file = changed == Self.names[0] ? new.file : old.file
        other.companions = pick(new.companions, old.companions) { $0.name.string }
        _ = try await fixture.store.install(other, files: files, origin: nil)
        let isBeside = changed == "labels.txt"
        #expect(try await (prepared() == nil) == !isBeside)
        #expect(try await (open() == made) == isBeside)
        #expect(builds == (isBeside ? 1 : 2))
        #expect(try LocalFileSystem().contents(of: fixture.layout.preparedFolder(of: identity)).count == 1)
    }

    @Test func aPackageThatIsNotThereIsNoObstacle() async throws {
        let other = try await fixture.install(try StoreFixture.identity("2.0.0"), names: ["weights.gguf"])
        #expect(try await fixture.manager(preparer: preparer).weightsToOpen(of: other) == other.weights)
        #expect(builds == 0)
    }

    // MARK: - Readers and collection

    @Test func whatIsReadStaysAndIsCollectedLater() async throws {
        let old = try await open()
        let reader = try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(identity)
        preparer.settings.withLock { $0 = "smaller" }
        let new = try await open()
        #expect(new != old)
        try expectWhole(new, "smaller")
        try expectWhole(old)
        let manager = fixture.manager(preparer: preparer)
        #expect(try await manager.collectionPlan().removals.isEmpty, "somebody reads it")
        reader.release()
        let plan = try await manager.collectionPlan()
        #expect(plan.removals.map(\.item) == [.prepared(identity)])
        let bytes = FolderPreparer.files.map { UInt64(FolderPreparer.contents($0, of: identity).count) }.reduce(0, +)
        #expect(plan.freedBytes >= bytes, "all of the folder counts")
        #expect(try await manager.collect(plan) == plan.removals)
        #expect(try !fixture.exists(old.parent))
        try expectWhole(new, "smaller")
        #expect(try await open() == new && builds == 2)
    }

    /// A damaged one that is read is made again beside itself.
    @Test func whatIsDamagedStaysUnderItsReader() async throws {
        let old = try await open()
        let reader = try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(identity)
        try inflict(.fileMissing, on: old)
        let new = try await open()
        #expect(new != old && builds == 2)
        try expectWhole(new)
        #expect(try fixture.exists(old.appending("data.bin")), "it was taken from under its reader")
        reader.release()
        #expect(try await open() == new)
        #expect(try !fixture.exists(old))
    }

    @Test func itGoesWithItsRelease() async throws {
        let made = try await open()
        try await fixture.store.remove(identity.family, version: nil, variant: nil)
        #expect(try !fixture.exists(made))
    }

    @Test func anArtefactThatDoesNotAnswerGivesWayToTheReleaseItself() async throws {
        let probe = ScriptedProbe { candidate in
            ScriptedProbe.report(candidate.weights.lastComponent == "made.bundle" ? "" : "fine")
        }
        var wanted = try StoreFixture.release(try StoreFixture.identity("2.0.0"), names: Self.names)
        wanted.canary = Canary(prompt: "?", pattern: CanaryPattern("fine"))
        _ = try await fixture.store.install(wanted, files: try fixture.stage(wanted), origin: nil)
        let live = try await fixture.manager(preparer: preparer, probe: probe).activate(wanted.identity)
        #expect(probe.asked.withLock { $0.map(\.lastComponent) } == ["made.bundle", "model.bin"])
        #expect(try await fixture.store.prepared(of: live) == nil)
    }
}
