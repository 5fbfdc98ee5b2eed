import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

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

    @Test func anotherReleaseHasToWait() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        try await fixture.install(identity, names: names, activate: true)
        let before = try contents(fixture, identity)
        let other = try StoreFixture.release(identity, names: names, salt: " again")
        let lease = try leases(fixture).acquire(identity)
        let staged = try fixture.stage(other, salt: " again")
        let error = await #expect(throws: StoreError.self) {
            try await fixture.store.install(other, files: staged, origin: StoreFixture.origin)
        }
        #expect(error?.code == .releaseInUse)
        #expect(error?.disposition == .tryLater)
        #expect(try contents(fixture, identity) == before)
        #expect(try fixture.temporaryNames().isEmpty)
        for file in staged { #expect(try fixture.exists(file.path), "nothing that came is lost") }
        lease.release()
        _ = try await fixture.store.install(other, files: staged, origin: StoreFixture.origin)
        #expect(try contents(fixture, identity) != before)
        #expect(try await fixture.store.verify(identity).isIntact)
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

    @Test func whoComesInBetweenIsSeen() async throws {
        for isSame in [false, true] {
            let disk = Intrusion()
            let fixture = try StoreFixture(fileSystem: disk)
            let identity = try StoreFixture.identity()
            let installed = try await fixture.install(identity, names: names, activate: true)
            let whole = try contents(fixture, identity)
            if isSame { try LocalFileSystem().removeFile(try #require(installed.weights)) }
            let lease = Locked<ReleaseLease?>(nil)
            let leases = leases(fixture)
            disk.body.withLock { body in
                body = { try lease.withLock { $0 = try leases.acquire(identity) } }
            }
            disk.source.withLock { $0 = fixture.layout.folder(of: identity) }
            let salt = isSame ? "" : " again"
            let release = try StoreFixture.release(identity, names: names, salt: salt)
            let staged = try fixture.stage(release, salt: salt)
            let outcome = await code {
                try await fixture.store.install(release, files: staged, origin: StoreFixture.origin)
            }
            #expect(lease.withLock { $0 } != nil)
            #expect(outcome == (isSame ? nil : "release-in-use"))
            #expect(try contents(fixture, identity) == whole)
            #expect(try fixture.temporaryNames().isEmpty)
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
