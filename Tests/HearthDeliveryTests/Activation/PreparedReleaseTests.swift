import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// Does not let one file go.
private struct StubbornDisk: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    let kept: Path

    init(keeping kept: Path) { self.kept = kept }

    func removeFile(_ path: Path) throws {
        if path == kept { throw FileError(errno: EIO, doing: "remove", path: path) }
        try base.removeFile(path)
    }
}

/// What engines make of releases.
@Suite(.timeLimit(.minutes(10))) struct PreparedReleaseTests {
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

    private func prepared() async throws -> PreparedRelease? {
        let release = try #require(try await fixture.store.installed(identity))
        return try await fixture.anotherStore().prepared(of: release)
    }

    private func weightsToOpen() async throws -> Path {
        let release = try #require(try await fixture.store.installed(identity))
        return try await manager.weightsToOpen(of: release)
    }

    @Test func itIsBuiltOnceAndOpenedFromThenOn() async throws {
        let probe = ScriptedProbe()
        try await fixture.manager(preparer: preparer, probe: probe).activate(identity)
        let made = try #require(try await prepared())
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
        #expect(try await prepared() == nil)
        #expect(try await weightsToOpen().lastComponent == "weights.gguf")
    }

    @Test func aFailureIsNoObstacle() async throws {
        preparer.fails.withLock { $0 = true }
        #expect(try await manager.activate(identity).isActive)
        #expect(try await prepared() == nil)
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
        let made = try #require(try await prepared())
        let record = made.path.parent.appending("prepared.json")
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
        let old = try #require(try await prepared())
        preparer.use("smaller")
        let path = try await weightsToOpen()
        #expect(try fixture.text(path) == "smaller of \(identity)")
        #expect(try !fixture.exists(old.path))
    }

    /// What is finished is used, although the one before cannot be tidied away.
    @Test func whatCannotGoKeepsNothingFromBeingUsed() async throws {
        try await manager.activate(identity)
        let old = try #require(try await prepared())
        preparer.use("smaller")
        let disk = StubbornDisk(keeping: old.path.parent.appending("prepared.json"))
        let manager = fixture.manager(preparer: preparer, fileSystem: disk)
        let release = try #require(try await fixture.store.installed(identity))
        let path = try await manager.weightsToOpen(of: release)
        #expect(try fixture.text(path) == "smaller of \(identity)")
        #expect(try fixture.exists(old.path))
        #expect(try await weightsToOpen() == path)
        #expect(builds == 2)
        #expect(try !fixture.exists(old.path), "it goes with the next opening")
    }

    @Test func whatSomebodyReadsStays() async throws {
        try await manager.activate(identity)
        let old = try #require(try await prepared())
        let lease = try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(identity)
        preparer.use("smaller")
        _ = try await weightsToOpen()
        #expect(try fixture.exists(old.path))
        lease.release()
    }

    @Test func anArtefactThatDoesNotAnswerGivesWayToTheReleaseItself() async throws {
        let probe = ScriptedProbe { candidate in
            ScriptedProbe.report(candidate.weights.lastComponent == "made.bin" ? "" : "fine")
        }
        var release = try StoreFixture.release(try StoreFixture.identity("2.0.0"))
        release.canary = Canary(prompt: "?", pattern: CanaryPattern("fine"))
        _ = try await fixture.store.install(release, files: try fixture.stage(release), origin: nil)
        let live = try await fixture.manager(preparer: preparer, probe: probe).activate(release.identity)
        #expect(live.isActive)
        #expect(probe.asked.withLock { $0.map(\.lastComponent) } == ["made.bin", "weights.gguf"])
        #expect(try await fixture.store.prepared(of: live) == nil)
    }

    /// An activation reads it again, whatever its date says.
    @Test func bytesThatChangedUnnoticedHealAtTheNextActivation() async throws {
        try await manager.activate(identity)
        let made = try #require(try await prepared())
        let copy = fixture.folder.path("copy")
        try FileManager.default.copyItem(atPath: made.path.string, toPath: copy.string)
        var data = try Data(contentsOf: made.path.url)
        data[0] ^= 1
        let date = try #require(try LocalFileSystem().status(at: made.path)?.modified)
        try data.write(to: made.path.url)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: made.path.string)
        #expect(try await weightsToOpen() == made.path)
        try #require(builds == 1, "nobody noticed")
        try await manager.activate(identity)
        #expect(builds == 2)
        #expect(try Data(contentsOf: made.path.url) == Data(contentsOf: copy.url))
    }

    /// Several may be there while somebody reads; the one made last counts for those who cannot ask an engine.
    @Test func theOneMadeLastIsTheOneThatIsShown() async throws {
        let clock = ManualClock()
        let fixture = try StoreFixture(time: clock.time)
        let release = try await fixture.install(identity)
        let lease = try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(identity)
        for settings in ["one", "two", "three"] {
            clock.advance(by: .seconds(60))
            preparer.use(settings)
            _ = try await fixture.manager(preparer: preparer).weightsToOpen(of: release)
            #expect(try await fixture.store.prepared(of: release)?.recipe.settings == settings)
        }
        lease.release()
    }

    @Test func whatWasMadeOfOtherBytesIsNotShown() async throws {
        try await manager.activate(identity)
        #expect(try await prepared() != nil)
        let other = try StoreFixture.release(identity, salt: "!")
        _ = try await fixture.store.install(other, files: try fixture.stage(other, salt: "!"), origin: nil)
        #expect(try await prepared() == nil)
        #expect(try await weightsToOpen().lastComponent == "made.bin")
        #expect(builds == 2)
    }

    /// The release gets other bytes while something is made of the old ones: that is of no use any more.
    @Test func whatIsMadeOfBytesThatAreGoneIsDropped() async throws {
        let release = try #require(try await fixture.store.installed(identity))
        let other = try StoreFixture.release(identity, salt: "!")
        let files = try fixture.stage(other, salt: "!")
        let store = fixture.anotherStore()
        let meanwhile = ClosurePreparer { target in
            try Data("made".utf8).write(to: target.url)
            _ = try await store.install(other, files: files, origin: nil)
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
        #expect(try await prepared() == nil)
    }

    @Test func itGoesWithItsRelease() async throws {
        try await manager.activate(identity)
        let made = try #require(try await prepared())
        try await fixture.store.remove(identity.family, version: nil, variant: nil)
        #expect(try !fixture.exists(made.path))
        #expect(try !fixture.exists(fixture.layout.marksFolder(of: identity.family)))
    }

    @Test func whatWasLeftHalfMadeIsSwept() async throws {
        let parent = fixture.layout.preparedFolder(of: identity.family)
        try fixture.folder.write("home/prepared/tiny/.1.0.0~q4.tmp-abc/made.bin", Data("half".utf8))
        try fixture.folder.write("home/prepared/tiny/.gone.tmp-abc.lock", Data())
        try await manager.activate(identity)
        let names = try LocalFileSystem().contents(of: parent)
        #expect(names == ["1.0.0~q4"])
    }
}
