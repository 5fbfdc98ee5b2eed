import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

/// Who reads a release is known to everybody, and the dead read nothing.
@Suite(.timeLimit(.minutes(10))) struct ReleaseLeasesTests {
    private let fixture: StoreFixture
    private let disk = LocalFileSystem()

    init() throws { fixture = try StoreFixture() }

    private var leases: ReleaseLeases { ReleaseLeases(layout: fixture.layout, fileSystem: disk) }

    private func installed() async throws -> ReleaseIdentity {
        try await fixture.install(try StoreFixture.identity()).identity
    }

    /// Leaves a lease as another process would have.
    @discardableResult
    private func leave(
        _ identity: ReleaseIdentity, pid: Int32? = nil, started: String? = nil, boot: String? = nil,
        space: String? = nil, text: String? = nil, name: String = Claim.newToken()
    ) throws -> Path {
        let here = ProcessIdentity.current
        var claim = Claim(at: Date())
        claim.token = name
        claim.holder = ProcessIdentity(
            number: pid ?? here.number, started: started ?? here.started, boot: boot ?? here.boot,
            space: space ?? here.space)
        let folder = fixture.layout.leaseFolder(of: identity)
        try disk.makeFolders(folder)
        let path = folder.joined(name)
        let data = try text.map { Data($0.utf8) } ?? claim.padded()
        try disk.replaceContents(of: path, with: data)
        return path
    }

    /// A process that lives until the test lets go of it.
    private func livingProcess() throws -> (process: Process, input: Pipe) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cat")
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return (process, input)
    }

    @Test func aLeaseIsSeenUntilItIsGivenBack() async throws {
        let identity = try await installed()
        #expect(try leases.holders(of: identity) == [])
        #expect(try leases.lastUse(of: identity) == nil)
        let first = try leases.acquire(identity)
        let second = try leases.acquire(identity)
        #expect(first.isOnDisk)
        #expect(try leases.holders(of: identity) == [.current, .current])
        first.release()
        first.release()
        #expect(try leases.holders(of: identity) == [.current], "who gives back twice has not given back another's")
        second.release()
        #expect(try leases.holders(of: identity) == [])
        let used = try #require(try leases.lastUse(of: identity))
        #expect(abs(used.timeIntervalSinceNow) < 600, "the folder tells when somebody last read the release")
    }

    @Test func aLeaseEndsWithItsLastReference() async throws {
        let identity = try await installed()
        do {
            let lease = try leases.acquire(identity)
            let holders = try leases.holders(of: identity)
            withExtendedLifetime(lease) { #expect(holders.count == 1) }
        }
        #expect(try leases.holders(of: identity) == [])
    }

    @Test func whatIsNotThereCannotBeHeld() async throws {
        let identity = try StoreFixture.identity("9.9.9")
        #expect(await code { try leases.acquire(identity) } == "not-installed")
        #expect(try leases.holders(of: identity) == [], "a refused lease leaves nobody behind")
        // A link in the place of a release leads anywhere.
        let real = try await installed()
        try disk.makeLink(at: fixture.layout.folder(of: identity), to: real.folderName)
        #expect(await code { try leases.acquire(identity) } == "not-installed")
    }

    @Test func theDeadHoldNothing() async throws {
        let identity = try await installed()
        let here = ProcessIdentity.current
        let ended = try livingProcess()
        try ended.input.fileHandleForWriting.close()
        ended.process.waitUntilExit()
        let dead = [
            try leave(identity, pid: ended.process.processIdentifier, started: "1"),
            // The number was given to this process since; it started at another moment.
            try leave(identity, started: here.started + "1"),
            // The same number and start, before the machine was booted again.
            try leave(identity, boot: "another boot"),
            try leave(identity, pid: 1, boot: "another boot"),
            // This process, by a token that it does not hold: it could not be removed when it was given back.
            try leave(identity),
        ]
        let living = try livingProcess()
        try leave(identity, pid: living.process.processIdentifier, started: "")
        #expect(try leases.holders(of: identity).map(\.number) == [living.process.processIdentifier])
        for path in dead { #expect(try !fixture.exists(path), "the dead are swept") }
        try living.input.fileHandleForWriting.close()
        living.process.waitUntilExit()
        #expect(try leases.holders(of: identity) == [])
    }

    @Test func theLockTellsOfAnotherContainer() async throws {
        let identity = try await installed()
        let path = try leave(identity, space: "pid:[another]")
        let lock = try #require(try FileLock.tryAcquire(path))
        #expect(try leases.holders(of: identity).map(\.space) == ["pid:[another]"])
        lock.release()
        #expect(try leases.holders(of: identity) == [])
        #expect(try !fixture.exists(path))
    }

    @Test func aDiskWithoutLocksIsBelievedForADay() {
        let now = Date()
        var claim = Claim(at: now)
        claim.holder = ProcessIdentity(number: 7, started: "", boot: "elsewhere", space: "")
        let damaged = FoundClaim.unreadable(FileIdentity(device: 1, inode: 1), modified: now)
        for found in [FoundClaim.claim(claim), damaged] {
            func isHeld(locked: Bool?, hours: Double) -> Bool {
                ReleaseLeases.isHeld(found, isLocked: locked, at: now.addingTimeInterval(hours * 3600))
            }
            #expect(isHeld(locked: nil, hours: 23))
            #expect(!isHeld(locked: nil, hours: 25))
            #expect(!isHeld(locked: nil, hours: -25), "a date in the future is no sign of life")
            #expect(isHeld(locked: true, hours: 1000))
            #expect(!isHeld(locked: false, hours: 0))
        }
    }

    @Test func hostileContentsHoldNothingAndBreakNothing() async throws {
        let identity = try await installed()
        let bad = [
            "", "{}", "null", "[[[[", "{\"format\":1}", String(repeating: "x", count: 5000),
            #"{"format":1,"token":"x","holder":{"number":1,"started":"","boot":"","space":""}}"#,
        ]
        for text in bad { try leave(identity, text: text) }
        // Names that are none of a lease are nobody's, and not ours to remove.
        let notes = try leave(identity, text: "hello", name: "notes.txt")
        let folder = fixture.layout.leaseFolder(of: identity)
        let link = folder.joined(Claim.newToken())
        try disk.makeLink(at: link, to: "/etc/passwd")
        let pipe = folder.joined(Claim.newToken())
        #expect(mkfifo(pipe.string, 0o600) == 0)
        let below = folder.joined(Claim.newToken())
        try disk.makeFolder(below, permissions: 0o755)
        #expect(try leases.holders(of: identity) == [])
        let left = try disk.contents(of: folder)
        #expect(left.count == 4, "\(left)")
        for path in [notes, link, pipe, below] { #expect(try fixture.exists(path)) }
        let lease = try leases.acquire(identity)
        #expect(try leases.holders(of: identity) == [.current])
        lease.release()
    }

    /// A process that was killed after it had taken a release out of the way, and before it looked once more for readers.
    @Test(arguments: [true, false])
    func whatIsReadIsPutBackAtTheNextStart(isReplaced: Bool) async throws {
        let identity = try await installed()
        let place = fixture.layout.folder(of: identity)
        let aside = place.parent.appendingTemporary(besides: HomeLayout.removedName)
        let lease = try leases.acquire(identity)
        let reading = try disk.status(at: place)?.identity
        try disk.rename(place, to: aside)
        if isReplaced { _ = try await fixture.install(identity) }
        _ = try await fixture.anotherStore().recover()
        #expect(try disk.status(at: isReplaced ? aside : place)?.identity == reading, "its reader finds it")
        #expect(try await fixture.store.verify(identity).isIntact)
        lease.release()
        try await fixture.anotherStore().clearInterruptedWork()
        #expect(try fixture.exists(place) && fixture.temporaryNames().isEmpty)
    }

    /// Nobody reads it: it is gone, as whoever removed it was told.
    @Test func whatNobodyReadsStaysRemoved() async throws {
        let identity = try await installed()
        let place = fixture.layout.folder(of: identity)
        try leave(identity, text: "{}")
        try disk.rename(place, to: place.parent.appendingTemporary(besides: HomeLayout.removedName))
        try await fixture.anotherStore().clearInterruptedWork()
        #expect(try !fixture.exists(place) && fixture.temporaryNames().isEmpty)
    }

    @Test(arguments: ["leases", "leases/tiny", "leases/tiny/1.0.0~q4"])
    func whatStandsInTheWayIsNamed(_ place: String) async throws {
        let identity = try await installed()
        let elsewhere = fixture.folder.path("elsewhere")
        try disk.makeFolders(elsewhere)
        for isLink in [true, false] {
            let path = Path(fixture.home.string + "/" + place)
            try disk.makeFolders(path.parent)
            if isLink {
                try disk.makeLink(at: path, to: elsewhere.string)
            } else {
                try disk.replaceContents(of: path, with: Data())
            }
            #expect(await code { try leases.acquire(identity) } == "home-unusable")
            #expect(try leases.holders(of: identity) == [])
            #expect(try leases.lastUse(of: identity) == nil)
            try leases.forget(identity)
            #expect(try disk.contents(of: elsewhere) == [], "nothing is written through a link")
            try disk.removeFile(path)
        }
    }

    @Test func aHomeThatTakesNoWritingIsReadWithoutALease() async throws {
        let identity = try await installed()
        for number in [EROFS, EACCES] {
            let faulty = FaultyFileSystem(disk)
            faulty.fail(call: 1, of: .makeFolder, errno: number, stays: true)
            let lease = try ReleaseLeases(layout: fixture.layout, fileSystem: faulty).acquire(identity)
            #expect(!lease.isOnDisk)
            #expect(try leases.holders(of: identity) == [])
            lease.release()
        }
    }

    @Test func whatIsRemovedLeavesNoLeaseFolder() async throws {
        let identity = try await installed()
        let lease = try leases.acquire(identity)
        try leases.forget(identity)
        #expect(try leases.holders(of: identity) == [.current], "somebody who still reads is not forgotten")
        lease.release()
        try leases.forget(identity)
        try leases.forget(identity)
        #expect(try disk.contents(of: fixture.layout.leases) == [])
    }

    /// Takers and a remover by the rule of the type: nobody ends up holding a release that is gone.
    @Test func takerAndRemoverSeeEachOther() async throws {
        let identity = try await installed()
        let folder = fixture.layout.folder(of: identity)
        let aside = folder.withSuffix("-aside")
        let leases = leases
        let disk = disk
        let holding = Locked(0)
        let removed = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await blocking {
                    for _ in 0..<2000 {
                        guard try leases.holders(of: identity).isEmpty else { continue }
                        try disk.rename(folder, to: aside)
                        if try leases.holders(of: identity).isEmpty {
                            // It may go for good: whoever comes now finds nothing.
                            removed.withLock { $0 += 1 }
                            #expect(holding.withLock { $0 } == 0, "somebody reads what is gone")
                        }
                        try disk.rename(aside, to: folder)
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    try await blocking {
                        for _ in 0..<500 {
                            do {
                                let lease = try leases.acquire(identity)
                                holding.withLock { $0 += 1 }
                                holding.withLock { $0 -= 1 }
                                lease.release()
                            } catch let error as StoreError where error.code == .notInstalled {}
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(removed.withLock { $0 } > 0)
        #expect(try leases.holders(of: identity) == [])
        #expect(try fixture.temporaryNames().isEmpty)
    }
}
