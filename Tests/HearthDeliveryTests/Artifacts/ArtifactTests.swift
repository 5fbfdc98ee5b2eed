import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Refuses to rename one folder.
private struct StubbornDisk: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    let kept: Path

    init(keeping kept: Path) { self.kept = kept }

    func rename(_ path: Path, to target: Path) throws {
        if path == kept { throw FileError(errno: EIO, doing: "rename", path: path) }
        try base.rename(path, to: target)
    }
}

/// Artifacts are made once, opened, made again where they are damaged or outdated, and removed with their release.
@Suite(.timeLimit(.minutes(10))) struct ArtifactTests {
    private let identity: ReleaseIdentity
    private let fixture: StoreFixture
    private let preparer = ScriptedPreparer()

    init() async throws {
        identity = try StoreFixture.identity()
        fixture = try StoreFixture()
        try await fixture.install(identity)
    }

    private var manager: ModelManager { fixture.manager(preparer: preparer, probe: ScriptedProbe()) }
    private var builds: Int { preparer.builds.withLock { $0 } }

    private func artifact() async throws -> Artifact? {
        let release = try #require(try await fixture.store.installed(identity))
        return try await fixture.anotherStore().artifact(of: release)
    }

    private func weightsToOpen() async throws -> Path {
        let release = try #require(try await fixture.store.installed(identity))
        return try await manager.weightsToOpen(of: release)
    }

    @Test func itIsBuiltOnceAndOpenedFromThenOn() async throws {
        let probe = ScriptedProbe()
        try await fixture.manager(preparer: preparer, probe: probe).activate(identity)
        let made = try #require(try await artifact())
        #expect(try fixture.text(made.path) == "small of \(identity)")
        #expect(probe.asked.withLock { $0 } == [made.path])
        #expect(try await weightsToOpen() == made.path)
        try await manager.activate(identity)
        #expect(builds == 1)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func aReleaseThatNeedsNothingIsOpenedAsItIs() async throws {
        preparer.use(nil)
        try await manager.activate(identity)
        #expect(try await artifact() == nil)
        #expect(try await weightsToOpen().lastComponent == "weights.gguf")
    }

    @Test func aFailureIsNoObstacle() async throws {
        preparer.fails.withLock { $0 = true }
        #expect(try await manager.activate(identity).isActive)
        #expect(try await artifact() == nil)
        #expect(try await weightsToOpen().lastComponent == "weights.gguf")
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test(arguments: [EIO, ENOSPC]) func aDiskThatKeepsNothingIsNoObstacle(_ number: Int32) async throws {
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .makeFolder, errno: number, stays: false)
        let manager = fixture.manager(preparer: preparer, probe: ScriptedProbe(), fileSystem: disk)
        let release = try #require(try await fixture.store.installed(identity))
        #expect(try await manager.weightsToOpen(of: release).lastComponent == "weights.gguf")
        disk.heal()
        #expect(try await manager.weightsToOpen(of: release).lastComponent == "made.bin")
    }

    @Test(arguments: ["bytes", "size", "file", "record", "link", "half a record"])
    func whatIsCorruptHeals(_ damage: String) async throws {
        try await manager.activate(identity)
        let made = try #require(try await artifact())
        let record = made.path.parent.appending("artifact.json")
        switch damage {
        case "bytes":
            var data = try Data(contentsOf: made.path.url)
            data[0] ^= 1
            try data.write(to: made.path.url)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 5)], ofItemAtPath: made.path.string)
        case "size": try Data("x".utf8).write(to: made.path.url)
        case "file": try LocalFileSystem().removeFile(made.path)
        case "record": try LocalFileSystem().removeFile(record)
        case "link":
            try LocalFileSystem().removeFile(made.path)
            try LocalFileSystem().makeLink(at: made.path, to: "/etc/passwd")
        default: try Data("{\"format\":1".utf8).write(to: record.url)
        }
        #expect(try await weightsToOpen() == made.path)
        #expect(builds == 2)
        #expect(try fixture.text(made.path) == "small of \(identity)")
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func whatIsOutdatedIsMadeAgainAndTheOldGoes() async throws {
        try await manager.activate(identity)
        let old = try #require(try await artifact())
        preparer.use("smaller")
        let path = try await weightsToOpen()
        #expect(try fixture.text(path) == "smaller of \(identity)")
        #expect(try !fixture.exists(old.path))
    }

    /// What is finished is used, although the one before cannot be tidied away.
    @Test func whatCannotGoKeepsNothingFromBeingUsed() async throws {
        try await manager.activate(identity)
        let old = try #require(try await artifact())
        preparer.use("smaller")
        let disk = StubbornDisk(keeping: old.path.parent)
        let manager = fixture.manager(preparer: preparer, fileSystem: disk)
        let release = try #require(try await fixture.store.installed(identity))
        let path = try await manager.weightsToOpen(of: release)
        #expect(try fixture.text(path) == "smaller of \(identity)")
        #expect(try fixture.exists(old.path))
        #expect(try await weightsToOpen() == path)
        #expect(builds == 2)
        #expect(try !fixture.exists(old.path), "it goes with the next opening")
    }

    @Test func anOutdatedArtifactStaysWhileItsReleaseIsRead() async throws {
        try await manager.activate(identity)
        let old = try #require(try await artifact())
        let lease = try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(identity)
        preparer.use("smaller")
        _ = try await weightsToOpen()
        #expect(try fixture.exists(old.path))
        lease.release()
    }

    @Test func anArtifactThatFailsItsProbeIsNotUsed() async throws {
        let probe = ScriptedProbe { candidate in
            ScriptedProbe.report(candidate.weights.lastComponent == "made.bin" ? "" : "fine")
        }
        var release = try StoreFixture.release(try StoreFixture.identity("2.0.0"))
        release.canary = Canary(prompt: "?", pattern: "fine")
        _ = try await fixture.store.install(release, files: try fixture.stage(release), origin: nil)
        let live = try await fixture.manager(preparer: preparer, probe: probe).activate(release.identity)
        #expect(live.isActive)
        #expect(probe.asked.withLock { $0.map(\.lastComponent) } == ["made.bin", "weights.gguf"])
        #expect(try await fixture.store.artifact(of: live) == nil)
    }

    /// An activation reads it again, whatever its date says.
    @Test func bytesThatChangedUnnoticedHealAtTheNextActivation() async throws {
        try await manager.activate(identity)
        let made = try #require(try await artifact())
        let copy = fixture.folder.path("copy")
        try FileManager.default.copyItem(atPath: made.path.string, toPath: copy.string)
        var data = try Data(contentsOf: made.path.url)
        data[0] ^= 1
        let date = try #require(try LocalFileSystem().status(at: made.path)?.modified)
        try data.write(to: made.path.url)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: made.path.string)
        #expect(try await weightsToOpen() == made.path)
        try #require(builds == 1, "the change is not noticed")
        try await manager.activate(identity)
        #expect(builds == 2)
        #expect(try Data(contentsOf: made.path.url) == Data(contentsOf: copy.url))
    }

    /// Several exist while a process reads the release; callers without an engine get the one made last.
    @Test func theOneMadeLastIsTheOneThatIsShown() async throws {
        let clock = ManualClock()
        let fixture = try StoreFixture(time: clock.time)
        let release = try await fixture.install(identity)
        let lease = try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(identity)
        for settings in ["one", "two", "three"] {
            clock.advance(by: .seconds(60))
            preparer.use(settings)
            _ = try await fixture.manager(preparer: preparer).weightsToOpen(of: release)
            #expect(try await fixture.store.artifact(of: release)?.recipe.settings == settings)
        }
        lease.release()
    }

    /// A release without a receipt is replaced by other bytes under the same name: the artifact of the old ones is not used.
    @Test func whatWasMadeOfOtherBytesIsNotShown() async throws {
        try await manager.activate(identity)
        #expect(try await artifact() != nil)
        try LocalFileSystem().removeFile(HomeLayout.receipt(in: fixture.layout.folder(of: identity)))
        let other = try StoreFixture.release(identity, salt: "!")
        _ = try await fixture.store.install(other, files: try fixture.stage(other, salt: "!"), origin: nil)
        #expect(try await artifact() == nil)
        #expect(try await weightsToOpen().lastComponent == "made.bin")
        #expect(builds == 2)
    }

    @Test func anArtifactOfARemovedReleaseIsDropped() async throws {
        let release = try #require(try await fixture.store.installed(identity))
        let (store, family) = (fixture.anotherStore(), identity.family)
        let meanwhile = ClosurePreparer { target in
            try await store.remove(family, version: nil, variant: nil)
            try LocalFileSystem().makeFolders(target.parent)
            try Data("made".utf8).write(to: target.url)
        }
        #expect(try await fixture.manager(preparer: meanwhile).weightsToOpen(of: release) == release.weights)
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func nothingIsMadeWithoutRoomAndNothingEmptyIsKept() async throws {
        let release = try #require(try await fixture.store.installed(identity))
        preparer.recipe.withLock { $0?.expectedSize = .max }
        #expect(try await weightsToOpen() == release.weights)
        #expect(builds == 0)
        let empty = ClosurePreparer { try Data().write(to: $0.url) }
        #expect(try await fixture.manager(preparer: empty).weightsToOpen(of: release) == release.weights)
        #expect(try await artifact() == nil)
    }

    @Test func itGoesWithItsRelease() async throws {
        try await manager.activate(identity)
        let made = try #require(try await artifact())
        try await fixture.store.remove(identity.family, version: nil, variant: nil)
        #expect(try !fixture.exists(made.path))
        #expect(try !fixture.exists(fixture.layout.marksFolder(of: identity.family)))
    }

    @Test func anUnfinishedBuildIsRemovedByTheNext() async throws {
        try fixture.folder.write("home/prepared/tiny/1.0.0~q4/.0123456789abcdef.tmp-abc/made.bin", Data("half".utf8))
        try fixture.folder.write("home/prepared/tiny/1.0.0~q4/.0123456789abcdef.tmp-def.lock", Data())
        try await manager.activate(identity)
        #expect(try fixture.temporaryNames().isEmpty)
        #expect(try LocalFileSystem().contents(of: fixture.layout.preparedFolder(of: identity)).count == 1)
    }

    /// A collection finds unfinished builds whose release nothing is made from any more; a build in progress stays.
    @Test func unfinishedBuildsAreCollected() async throws {
        let release = try #require(try await fixture.store.installed(identity))
        let (fixture, identity) = (fixture, identity)
        let sweeping = ClosurePreparer { target in
            try Data("made".utf8).write(to: target.url)
            try fixture.folder.write(
                "home/prepared/tiny/1.0.0~q4/.0123456789abcdef.tmp-abc/made.bin", Data("half".utf8))
            let other = fixture.manager()
            _ = try await other.collect(try await other.collectionPlan())
            #expect(try !fixture.temporaryNames().contains { $0.contains("tmp-abc") })
            try fixture.store.artifacts.sweep(identity.family)
        }
        let opened = try await fixture.manager(preparer: sweeping).weightsToOpen(of: release)
        #expect(try fixture.text(opened) == "made")
    }
}
