import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What engines made of releases is read again by a verification, and made again by a repair.
@Suite(.timeLimit(.minutes(10))) struct PreparedVerificationTests {
    private let fixture: StoreFixture
    private let release: InstalledRelease
    private let preparer = ScriptedPreparer()

    init() async throws {
        fixture = try StoreFixture()
        release = try await fixture.install(try StoreFixture.identity(), names: PreparedFolderTests.names)
    }

    private var identity: ReleaseIdentity { release.identity }
    private var builds: Int { preparer.builds.withLock { $0 } }

    private func open(_ preparer: (any ReleasePreparer)? = nil) async throws -> Path {
        let lease = try await fixture.store.lease(identity)
        defer { lease.release() }
        return try await fixture.manager(preparer: preparer ?? self.preparer).weightsToOpen(of: release, under: lease)
    }

    private func verify() async throws -> VerificationReport { try await fixture.anotherStore().verify(identity) }

    private func folders() throws -> [String] {
        try LocalFileSystem().contents(of: fixture.layout.preparedFolder(of: identity))
    }

    /// Other bytes of the same length and date, which no look at names and lengths shows.
    private func corrupt(_ file: Path) throws {
        let date = try #require(try LocalFileSystem().status(at: file)?.modified)
        let handle = try FileHandle(forWritingTo: file.url)
        try handle.write(contentsOf: Data("X".utf8))
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.string)
    }

    // MARK: - Told

    @Test func whatWasMadeIsPartOfTheReport() async throws {
        #expect(try await verify().prepared.isEmpty)
        let (file, folder) = (try await open(), try await open(FolderPreparer()))
        // Opening by another recipe has taken the first away.
        let again = try await reader { try await open() }
        #expect(again == file)
        let progress = Locked<[TransferProgress]>([])
        let report = try await fixture.store.verify(identity) { reading in progress.withLock { $0.append(reading) } }
        #expect(report.isIntact)
        #expect(Set(report.prepared.map(\.artefact.path)) == [file, folder])
        #expect(report.prepared.allSatisfy { $0.outcome == .intact && $0.artefact.release == identity })
        let total = ([release.receipt.totalSize] + report.prepared.map(\.artefact.size)).saturatedSum
        #expect(progress.withLock { $0.last }?.totalBytes == total)
        #expect(progress.withLock { $0.last }?.completedBytes == total)
    }

    /// Performs a body while somebody reads the release, so that nothing goes.
    private func reader<Result>(_ body: () async throws -> Result) async throws -> Result {
        let reader = try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(identity)
        defer { reader.release() }
        return try await body()
    }

    @Test(arguments: ["bytes", "shorter", "missing", "folder"]) func aDamagedFileIsTold(_ damage: String) async throws {
        let path = try await open()
        let size = try #require(try LocalFileSystem().status(at: path)?.size)
        switch damage {
        case "bytes": try corrupt(path)
        case "shorter": try Data("X".utf8).write(to: path.url)
        case "missing": try LocalFileSystem().removeFile(path)
        default:
            try LocalFileSystem().removeFile(path)
            try LocalFileSystem().makeFolder(path, permissions: 0o755)
        }
        let report = try await verify()
        #expect(!report.isIntact && report.files.allSatisfy { $0.outcome == .intact })
        let found = try #require(report.prepared.first)
        #expect(report.prepared.count == 1 && found.artefact.path == path && found.artefact.size == size)
        switch damage {
        case "bytes": #expect(found.outcome == .changed(try LocalFileSystem().digest(ofFile: path)))
        case "missing": #expect(found.outcome == .missing)
        default: #expect(found.outcome == .misshapen)
        }
    }

    @Test(arguments: ["bytes", "extra", "missing"]) func aDamagedFolderIsTold(_ damage: String) async throws {
        let path = try await open(FolderPreparer())
        let weights = HomeLayout.join(path, "weights/0/weight.bin")
        switch damage {
        case "bytes": try corrupt(weights)
        case "extra": try Data().write(to: path.appending("more").url)
        default: try LocalFileSystem().removeFile(weights)
        }
        let found = try #require(try await verify().prepared.first)
        if damage == "bytes" {
            guard case .changed = found.outcome else {
                Issue.record("\(found.outcome)")
                return
            }
        } else {
            #expect(found.outcome == .misshapen)
        }
    }

    /// Nobody opens what has no record, or was made from other bytes: it is no damage, and goes with a collection.
    @Test func whatNobodyOpensIsNotTold() async throws {
        let path = try await open()
        try corrupt(path)
        try LocalFileSystem().removeFile(path.parent.appending("prepared.json"))
        #expect(try await verify().isIntact)
    }

    /// An activation reads what was prepared when it asks for that, and not twice.
    @Test func anActivationHealsWhatAVerificationTells() async throws {
        try corrupt(try await open())
        try await fixture.manager(preparer: preparer).activate(identity)
        #expect(builds == 2)
        #expect(try await verify().isIntact)
    }

    // MARK: - Repaired

    @Test func aDamagedOneIsMadeAgain() async throws {
        let path = try await open()
        try corrupt(path)
        let report = try await fixture.manager(preparer: preparer).repair(identity)
        #expect(report.dropped.map(\.path) == [path] && report.remade?.path == path)
        #expect(report.mended.isEmpty && report.fetchedBytes == 0)
        #expect(builds == 2)
        #expect(try fixture.text(path) == "small of \(identity)")
        #expect(try await verify().isIntact)
        let again = try await fixture.manager(preparer: preparer).repair(identity)
        #expect(again.dropped.isEmpty && again.remade == nil && builds == 2)
        #expect(try await open() == path && fixture.temporaryNames().isEmpty)
    }

    /// Where making it fails, or nobody makes anything of the release, the release falls back to its own files.
    @Test(arguments: ["failing", "nothing wanted", "nobody"]) func whatIsNotMadeAgainIsGone(_ why: String) async throws
    {
        let path = try await open()
        try corrupt(path)
        preparer.fails.withLock { $0 = why == "failing" }
        if why == "nothing wanted" { preparer.use(nil) }
        let manager = fixture.manager(preparer: why == "nobody" ? nil : preparer)
        let report = try await manager.repair(identity)
        #expect(report.dropped.map(\.path) == [path] && report.remade == nil)
        #expect(try await verify().isIntact && folders().isEmpty)
        #expect(try await manager.weightsToOpen(of: release) == release.weights)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// Of two, the one nobody wants any more is damaged: the other stays, and is not made once more.
    @Test func whatIsWholeStays() async throws {
        let old = try await open()
        let new = try await reader {
            preparer.use("smaller")
            return try await open()
        }
        try corrupt(old)
        let report = try await fixture.manager(preparer: preparer).repair(identity)
        #expect(report.dropped.map(\.path) == [old] && report.remade == nil && builds == 2)
        #expect(try folders() == [new.parent.lastComponent])
    }

    @Test func noFileIsTakenFromUnderAReader() async throws {
        let old = try await open()
        try corrupt(old)
        let inode = try #require(try LocalFileSystem().status(at: old)?.identity)
        let made = try await reader {
            let report = try await fixture.manager(preparer: preparer).repair(identity)
            #expect(report.dropped.map(\.path) == [old])
            #expect(try LocalFileSystem().status(at: old)?.identity == inode, "it was taken from under its reader")
            return try #require(report.remade).path
        }
        #expect(made != old && builds == 2)
        #expect(try fixture.text(made) == "small of \(identity)")
        #expect(try await verify().isIntact)
        #expect(try await open() == made)
        #expect(try folders() == [made.parent.lastComponent])
    }

    /// Between the look and the repair another process made it again: that one stays.
    @Test func whatWasMadeAgainMeanwhileStays() async throws {
        let path = try await open()
        try corrupt(path)
        let damaged = try await verify().prepared
        _ = try await fixture.manager(preparer: preparer).repair(identity)
        try await fixture.store.drop(damaged)
        #expect(try await verify().prepared.map(\.artefact.path) == [path])
        #expect(try await open() == path && builds == 2)
    }

    // MARK: - Collected

    /// What is made of a release no more goes where he who says so speaks for its engine.
    @Test(arguments: [false, true]) func whatIsMadeNoMoreIsCollected(bySpeaker: Bool) async throws {
        let path = try await open()
        preparer.use(nil)
        preparer.engines.withLock { $0 = [bySpeaker ? "scripted" : "another"] }
        let manager = fixture.manager(preparer: preparer)
        let plan = try await manager.collectionPlan()
        #expect(plan.removals.map(\.item) == (bySpeaker ? [.prepared(identity)] : []))
        #expect(try await reader { try await manager.collect(plan) }.isEmpty)
        #expect(try await manager.collect(plan) == plan.removals)
        #expect(try fixture.exists(path) == !bySpeaker)
        #expect(try await open() == release.weights)
    }
}
