import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A verification reads artifacts again, and a repair makes damaged ones again.
@Suite(.timeLimit(.minutes(10))) struct ArtifactVerificationTests {
    private let fixture: StoreFixture
    private let release: InstalledRelease
    private let preparer = ScriptedPreparer()

    init() async throws {
        // Two artifacts of one recipe differ in the time of their build.
        fixture = try StoreFixture(time: .system)
        release = try await fixture.install(try StoreFixture.identity())
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
        #expect(try await verify().artifacts.isEmpty)
        let first = try await open()
        let second = try await reader { try await open(ScriptedPreparer(settings: "smaller")) }
        let progress = Locked<[(completed: UInt64, total: UInt64?)]>([])
        let report = try await fixture.store.verify(identity) { completed, total in
            progress.withLock { $0.append((completed, total)) }
        }
        #expect(report.isIntact)
        #expect(Set(report.artifacts.map(\.artifact.path)) == [first, second])
        #expect(report.artifacts.allSatisfy { $0.outcome == .intact && $0.artifact.release == identity })
        let total = ([release.receipt.totalSize] + report.artifacts.map(\.artifact.size)).saturatedSum
        #expect(progress.withLock { $0.last }?.total == total)
        #expect(progress.withLock { $0.last }?.completed == total)
    }

    /// Performs a body while another process reads the release, so that no artifact is removed.
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
        let found = try #require(report.artifacts.first)
        #expect(report.artifacts.count == 1 && found.artifact.path == path && found.artifact.size == size)
        switch damage {
        case "bytes": #expect(found.outcome == .changed(try LocalFileSystem().digest(ofFile: path)))
        case "missing": #expect(found.outcome == .missing)
        default: #expect(found.outcome == (damage == "shorter" ? .wrongSize(1) : .notAFile))
        }
    }

    /// An artifact without a record is never opened: it is no damage, and a collection removes it.
    @Test func anArtifactWithoutRecordIsNotVerified() async throws {
        let path = try await open()
        try corrupt(path)
        try LocalFileSystem().removeFile(path.parent.appending("artifact.json"))
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
        #expect(report.repaired.isEmpty && report.fetchedBytes == 0)
        #expect(builds == 2)
        #expect(try fixture.text(path) == "small of \(identity)")
        #expect(try await verify().isIntact)
        let again = try await fixture.manager(preparer: preparer).repair(identity)
        #expect(again.dropped.isEmpty && again.remade == nil && builds == 2)
        #expect(try await open() == path && fixture.temporaryNames().isEmpty)
    }

    /// If it cannot be made again, the release is used as it came.
    @Test(arguments: ["failing", "no recipe", "no preparer"]) func whatIsNotMadeAgainIsGone(_ why: String) async throws
    {
        let path = try await open()
        try corrupt(path)
        preparer.fails.withLock { $0 = why == "failing" }
        if why == "no recipe" { preparer.use(nil) }
        let manager = fixture.manager(preparer: why == "no preparer" ? nil : preparer)
        let report = try await manager.repair(identity)
        #expect(report.dropped.map(\.path) == [path] && report.remade == nil)
        #expect(try await verify().isIntact && folders().isEmpty)
        #expect(try await manager.weightsToOpen(of: release) == release.weights)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// If the outdated one of two is damaged, the other stays and is not made again.
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

    /// Between the look and the repair another process made it again: that one stays.
    @Test func whatWasMadeAgainMeanwhileStays() async throws {
        let path = try await open()
        try corrupt(path)
        let damaged = try await verify().artifacts
        _ = try await fixture.manager(preparer: preparer).repair(identity)
        try await fixture.store.remove(damaged.map(\.artifact))
        #expect(try await verify().artifacts.map(\.artifact.path) == [path])
        #expect(try await open() == path && builds == 2)
    }
}
