import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore

/// A release takes the place of one that is there already, while somebody reads that.
@Suite(.timeLimit(.minutes(5))) struct ReplacementTests {
    /// Lets somebody in just before a folder is renamed away.
    final class Intrusion: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let source = Locked<Path?>(nil)
        let body = Locked<(@Sendable () throws -> Void)?>(nil)

        func rename(_ source: Path, to target: Path) throws {
            if self.source.withLock({ $0 }) == source {
                self.source.withLock { $0 = nil }
                try body.withLock { $0 }?()
            }
            try base.rename(source, to: target)
        }
    }

    private let names = ["weights.gguf", "vision/mmproj.gguf"]

    private func leases(_ fixture: StoreFixture) -> ReleaseLeases {
        ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem())
    }

    private func contents(_ fixture: StoreFixture, _ identity: ReleaseIdentity) throws -> [String] {
        try names.map { try fixture.text(Path("\(fixture.layout.folder(of: identity))/\($0)")) }
    }

    /// Other bytes of a version are another release: they are installed beside it, also while a process reads it.
    @Test func otherBytesAreInstalledBeside() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        try await fixture.install(identity, names: names, activate: true)
        let before = try contents(fixture, identity)
        let other = try StoreFixture.release(identity, names: names, salt: " again")
        let lease = try leases(fixture).acquire(identity)
        let tagged = identity.tagged(ContentTag(of: try #require(other.content)))
        for _ in 1...2 {
            let installed = try await fixture.store.install(
                other, files: try fixture.stage(other, salt: " again"), origin: StoreFixture.origin)
            #expect(installed.identity == tagged && !installed.isActive)
            #expect(installed.folder.lastComponent == "1.0.0~q4+\(try #require(tagged.content))")
        }
        lease.release()
        #expect(try contents(fixture, identity) == before)
        #expect(try await fixture.anotherStore().active(identity.family)?.identity == identity)
        #expect(try contents(fixture, tagged)[0] == "weights.gguf again of \(identity)")
        #expect(try fixture.temporaryNames().isEmpty)
        #expect(try await fixture.anotherStore().installed().map(\.identity) == [identity, tagged])
        for identity in [identity, tagged] { #expect(try await fixture.store.verify(identity).isIntact) }
        #expect(
            try await fixture.install(identity, names: names).identity == identity, "the same bytes keep their name")
        // A whole release is found by its content, whatever its name.
        _ = try await fixture.store.activate(tagged)
        _ = try await fixture.store.remove(identity.family, version: identity.version, variant: nil)
        #expect(
            try await fixture.store.installed().map(\.identity) == [tagged], "the plain name means the plain release")
        let again = try await fixture.store.install(
            other, files: try fixture.stage(other, salt: " again"), origin: StoreFixture.origin)
        #expect(again.identity == tagged)
    }

    /// Nothing tells what a release without its receipt held: the bytes that come to its place are not live untried.
    @Test(arguments: ["no receipt", "no folder", "no folder and no record"])
    func unknownBytesAreNotReplacedLive(_ damage: String) async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let installed = try await fixture.install(identity, names: names, activate: true)
        try LocalFileSystem().removeTree(
            damage == "no receipt" ? HomeLayout.receipt(in: installed.folder) : installed.folder)
        if damage == "no folder and no record" {
            try LocalFileSystem().removeFile(fixture.layout.stateFile(of: identity.family))
        }
        let other = try StoreFixture.release(identity, names: names, salt: " again")
        let again = try await fixture.store.install(
            other, files: try fixture.stage(other, salt: " again"), origin: StoreFixture.origin)
        #expect(again.identity == identity && !again.isActive)
        #expect(try await fixture.store.verify(identity).isIntact)
        #expect(try await fixture.anotherStore().active(identity.family) == nil)
    }

    /// A removal that fails at any call leaves what was live as it was, or is done.
    @Test(arguments: [EIO, EACCES]) func aFailedRemovalChangesNothing(_ number: Int32) async throws {
        var call = 1
        while true {
            let disk = FaultyFileSystem()
            let fixture = try StoreFixture(fileSystem: disk)
            let (one, two) = (try StoreFixture.identity("1.0.0"), try StoreFixture.identity("2.0.0"))
            try await fixture.install(one, activate: true)
            try await fixture.install(two, activate: true)
            let before = try await fixture.anotherStore().state(of: two.family)
            let done = disk.mutations.count
            disk.fail(call: call, errno: number)
            let failure = await code { try await fixture.store.remove(two.family, version: two.version, variant: nil) }
            let calls = disk.mutations.count - done
            disk.heal()
            let after = try await fixture.anotherStore().state(of: two.family)
            if failure == nil {
                #expect(after.active == one, "call \(call)")
            } else {
                #expect(after == before, "call \(call)")
                #expect(try await fixture.anotherStore().active(two.family)?.identity == two, "call \(call)")
            }
            if calls < call { break }
            call += 1
        }
        #expect(call > 5)
    }

    @Test func aDamagedOneIsMendedUnderItsReader() async throws {
        for damage in ["changed", "longer", "missing", "a folder"] {
            let fixture = try StoreFixture()
            let identity = try StoreFixture.identity()
            let installed = try await fixture.install(identity, names: names, activate: true)
            let whole = try contents(fixture, identity)
            let weights = try #require(installed.weights)
            let wrong = Data(repeating: 0, count: whole[0].utf8.count + (damage == "longer" ? 9 : 0))
            switch damage {
            case "missing": try LocalFileSystem().removeFile(weights)
            case "a folder":
                try LocalFileSystem().removeFile(weights)
                try fixture.folder.write("home/models/tiny/1.0.0~q4/weights.gguf/x", wrong)
            default: try wrong.write(to: weights.url)
            }
            let folder = try LocalFileSystem().status(at: fixture.layout.folder(of: identity))?.identity
            let reading = damage == "changed" ? try LocalFileSystem().open(weights, .read) : nil
            let lease = try leases(fixture).acquire(identity)
            try await fixture.install(identity, names: names)
            #expect(
                try LocalFileSystem().status(at: fixture.layout.folder(of: identity))?.identity == folder, "\(damage)")
            #expect(try contents(fixture, identity) == whole, "\(damage)")
            #expect(try fixture.temporaryNames().isEmpty, "\(damage)")
            if let reading {
                var byte: UInt8 = 1
                _ = try withUnsafeMutableBytes(of: &byte) { try LocalFileSystem().read(reading, into: $0, at: 0) }
                #expect(byte == 0, "who has it open keeps what it has")
            }
            lease.release()
            #expect(try await fixture.store.verify(identity).isIntact, "\(damage)")
        }
    }

    /// Somebody begins to read the live release while it is being removed: it is back, and as live as it was.
    @Test func aReleaseThatIsPutBackIsLiveAgain() async throws {
        let disk = Intrusion()
        let fixture = try StoreFixture(fileSystem: disk)
        let (one, two) = (try StoreFixture.identity("1.0.0"), try StoreFixture.identity("2.0.0"))
        try await fixture.install(one, activate: true)
        try await fixture.install(two)
        try await fixture.manager().activate(two)
        try await fixture.store.pin(two.family, to: two)
        let before = try await fixture.anotherStore().state(of: two.family)
        let lease = Locked<ReleaseLease?>(nil)
        let leases = leases(fixture)
        disk.body.withLock { body in body = { try lease.withLock { $0 = try leases.acquire(two) } } }
        disk.source.withLock { $0 = fixture.layout.folder(of: two) }
        let outcome = await code {
            try await fixture.store.remove(two.family, version: two.version, variant: two.variant)
        }
        #expect(outcome == "release-in-use" && lease.withLock { $0 } != nil)
        #expect(try await fixture.anotherStore().state(of: two.family) == before)
        #expect(try await fixture.anotherStore().active(two.family)?.identity == two)
    }

    /// With the release's own files in another's place, a failing call leaves names that stand for files.
    @Test func everyFailingCallUnderAReaderLeavesFilesInTheirPlaces() async throws {
        var call = 1
        while true {
            let disk = FaultyFileSystem()
            let fixture = try StoreFixture(fileSystem: disk)
            let identity = try StoreFixture.identity()
            let installed = try await fixture.install(identity, names: names, activate: true)
            let whole = try contents(fixture, identity)
            try Data("x".utf8).write(to: try #require(installed.weights).url)
            let lease = try leases(fixture).acquire(identity)
            let release = try StoreFixture.release(identity, names: names)
            let staged = try fixture.stage(release)
            let before = disk.mutations.count
            disk.fail(call: call, errno: EIO)
            _ = await code { try await fixture.store.install(release, files: staged, origin: StoreFixture.origin) }
            let calls = disk.mutations.count - before
            disk.heal()
            for (name, text) in zip(names, try contents(fixture, identity)) {
                #expect(name == names[0] ? [whole[0], "x"].contains(text) : text == whole[1], "call \(call)")
            }
            try await fixture.install(identity, names: names)
            #expect(try contents(fixture, identity) == whole, "call \(call)")
            lease.release()
            if calls < call { break }
            call += 1
        }
        #expect(call > 10)
    }
}
