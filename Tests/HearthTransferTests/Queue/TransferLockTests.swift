import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// One holder at a time, whatever died before.
@Suite(.timeLimit(.minutes(10))) struct TransferLockTests {
    private let folder: TemporaryFolder
    private let disk = LocalFileSystem()
    private let clock = ManualClock()

    init() throws { folder = try TemporaryFolder() }

    private var place: Path { folder.path("transfers/key") }
    private var leasePath: Path { TransferLock.place(in: place) }

    private func acquire(_ basis: TransferLock.Basis = .flockAndClaim) throws -> TransferLock? {
        try TransferLock.tryAcquire(place, fileSystem: disk, time: clock.time, basis: basis)
    }

    /// Leaves a lease as another process would have.
    private func leave(
        pid: Int32? = nil, started: String? = nil, boot: String? = nil, age: TimeInterval = 0, at path: Path? = nil
    ) throws {
        let here = ProcessIdentity.current
        var lease = Claim(at: clock.time.now.addingTimeInterval(-age))
        lease.holder = ProcessIdentity(
            number: pid ?? here.number, started: started ?? here.started, boot: boot ?? here.boot, space: here.space)
        try disk.makeFolders(place)
        try disk.replaceContents(of: path ?? leasePath, with: try lease.padded())
    }

    /// The number of a process that has ended.
    private func deadProcess() async throws -> Int32 {
        try await blocking {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/true")
            try process.run()
            process.waitUntilExit()
            return process.processIdentifier
        }
    }

    @Test(arguments: [TransferLock.Basis.flockAndClaim, .claimOnly])
    func thereIsOneHolder(_ basis: TransferLock.Basis) throws {
        let first = try #require(try acquire(basis))
        #expect(try acquire(basis) == nil)
        let holder = try TransferLock.holder(of: place, fileSystem: disk, now: clock.time.now)
        #expect(holder == TransferHolder(process: getpid(), isHere: true))
        first.release()
        first.release()
        #expect(try TransferLock.holder(of: place, fileSystem: disk, now: clock.time.now) == nil)
        let second = try #require(try acquire(basis))
        first.release()
        #expect(try acquire(basis) == nil, "who let go twice has not let go of another's lock")
        second.release()
        #expect(try disk.contents(of: place).filter { $0 != "lock" } == [])
    }

    @Test func whoForgetsItLetsGo() throws {
        var first = try acquire(.claimOnly)
        #expect(first != nil)
        first = nil
        #expect(try acquire(.claimOnly) != nil)
    }

    @Test func aLeaseOfADeadProcessIsVoidAtOnce() async throws {
        try leave(pid: try await deadProcess())
        #expect(try TransferLock.holder(of: place, fileSystem: disk, now: clock.time.now) == nil)
        #expect(try acquire(.claimOnly) != nil)
    }

    @Test func aLeaseOfAProcessWhoseNumberIsUsedAgainIsVoid() throws {
        try leave(pid: 1, started: "1234567890123")
        #expect(try acquire(.claimOnly) != nil)
    }

    @Test func aLivingProcessKeepsItsLeaseHoweverOldItsDate() throws {
        // Process 1 lives as long as the machine; without knowing when it started, its number has to do.
        try leave(pid: 1, started: "", age: 3600)
        #expect(try acquire(.claimOnly) == nil)
        #expect(try TransferLock.holder(of: place, fileSystem: disk, now: clock.time.now)?.process == 1)
    }

    @Test(arguments: [(0.0, false), (59, false), (61, true), (-61, true), (1e6, true)])
    func ofAnotherMachineOnlyTheDateIsKnown(_ age: TimeInterval, _ isVoid: Bool) throws {
        try leave(boot: "another", age: age)
        #expect((try acquire(.claimOnly) != nil) == isVoid)
        if !isVoid {
            let holder = try TransferLock.holder(of: place, fileSystem: disk, now: clock.time.now)
            #expect(holder?.isHere == false)
        }
    }

    @Test func aLeaseOfThisProcessThatNobodyHoldsIsVoid() throws {
        try leave()
        #expect(try acquire(.claimOnly) != nil)
    }

    static let hostile: [String] = [
        "", "{}", "null", "[]", String(repeating: "[", count: 4000), "{\"format\":2}", "\u{0}\u{0}",
        #"{"format":1,"token":"../../../etc/passwd","holder":{"number":1,"started":"","boot":"","space":""},"since":"2026-11-21T10:00:00Z","renewed":"2026-11-21T10:00:00Z","details":{}}"#,
        #"{"format":1,"token":"00112233445566778899aabbccddeeff","holder":{"number":-1,"started":"","boot":"","space":""},"since":"2026-11-21T10:00:00Z","renewed":"2026-11-21T10:00:00Z","details":{}}"#,
        #"{"format":1,"token":"00112233445566778899aabbccddeeff","holder":{"number":99999999999,"started":"","boot":"","space":""},"since":"2026-11-21T10:00:00Z","renewed":"2026-11-21T10:00:00Z","details":{}}"#,
        #"{"format":1,"token":"00112233445566778899aabbccddeeff","holder":{"number":1,"started":"","boot":"","space":""},"since":"2026-11-21T10:00:00Z","renewed":-5,"details":{}}"#,
        #"{"format":1,"token":7,"holder":{"number":"one","started":[],"boot":{},"space":null},"renewed":true}"#,
        String(repeating: " ", count: 1 << 20),
    ]

    @Test(arguments: hostile)
    func damageHoldsForAMinuteAndThenGivesWay(_ text: String) throws {
        try disk.makeFolders(place)
        try disk.replaceContents(of: leasePath, with: Data(text.utf8))
        let now = Date()
        func acquire(after seconds: TimeInterval) throws -> TransferLock? {
            let time = TimeSource(clock: clock, now: { now.addingTimeInterval(seconds) })
            return try TransferLock.tryAcquire(place, fileSystem: disk, time: time, basis: .claimOnly)
        }
        #expect(try acquire(after: 30) == nil, "it may be just being written")
        #expect(try TransferLock.holder(of: place, fileSystem: disk, now: now) == nil)
        #expect(try acquire(after: 90) != nil)
    }

    /// As a power cut leaves it: whoever has the `flock` knows that nobody is writing it.
    @Test(arguments: hostile) func withAFlockDamageHoldsForMoments(_ text: String) throws {
        try disk.makeFolders(place)
        try disk.replaceContents(of: leasePath, with: Data(text.utf8))
        let now = Date()
        func acquire(after seconds: TimeInterval) throws -> TransferLock? {
            let time = TimeSource(clock: clock, now: { now.addingTimeInterval(seconds) })
            return try TransferLock.tryAcquire(place, fileSystem: disk, time: time)
        }
        #expect(try acquire(after: 1) == nil, "somebody without a flock may be just writing it")
        #expect(try acquire(after: 10) != nil)
    }

    /// What a holder waits for stands in its lease, the last word last, and goes with it.
    @Test func aHolderTellsWhatItWaitsFor() throws {
        let lock = try #require(try acquire())
        func told() throws -> DownloadHold? {
            try TransferLock.holder(of: place, fileSystem: disk, now: clock.time.now)?.hold
        }
        #expect(try told() == nil)
        for hold in [DownloadHold.offline, .metered, nil, .metered] {
            #expect(lock.note(hold))
            #expect(!lock.note(hold), "no news")
            #expect(try lock.renew())
            #expect(try told() == hold)
            #expect(try disk.status(at: leasePath)?.size == 512)
        }
        lock.release()
        #expect(try told() == nil)
    }

    @Test func aHoldOfALaterVersionIsNotShown() throws {
        var claim = Claim(at: clock.time.now, purpose: "moonlight")
        claim.holder = ProcessIdentity(number: 1, started: "", boot: "another", space: "")
        try disk.makeFolders(place)
        try disk.replaceContents(of: leasePath, with: try claim.padded())
        let holder = try #require(try TransferLock.holder(of: place, fileSystem: disk, now: clock.time.now))
        #expect(holder == TransferHolder(process: 1, isHere: false))
    }

    @Test func aLinkInThePlaceOfALeaseIsNotFollowed() throws {
        let target = folder.path("precious")
        try disk.replaceContents(of: target, with: Data("precious".utf8))
        try disk.makeFolders(place)
        try disk.makeLink(at: leasePath, to: target.string)
        let later = TimeSource(clock: clock, now: { Date().addingTimeInterval(90) })
        #expect(try TransferLock.tryAcquire(place, fileSystem: disk, time: later, basis: .claimOnly) != nil)
        #expect(try disk.contents(ofFile: target, limit: 100) == Data("precious".utf8))
    }

    @Test func whoDiedWhileTakingOverIsTakenOverToo() async throws {
        let dead = try await deadProcess()
        try leave(pid: dead)
        guard let stale = try FoundClaim.read(leasePath, in: disk)?.claim else {
            Issue.record("no lease")
            return
        }
        let right = Path("\(place)/lease.after-\(stale.token)")
        try leave(pid: dead, at: right)
        let lock = try #require(try acquire(.claimOnly))
        #expect(try disk.contents(of: place) == ["lease"], "the rights of the dead are gone")
        lock.release()

        try leave(pid: dead)
        guard let second = try FoundClaim.read(leasePath, in: disk)?.claim else { return }
        let held = Path("\(place)/lease.after-\(second.token)")
        try leave(pid: 1, started: "", at: held)
        #expect(try acquire(.claimOnly) == nil, "somebody alive is just taking over")
    }

    /// Two takers of one stale lease, without flock, a hundred times; and a third who only waits for a gap.
    @Test func twoTakersNeverBothHold() async throws {
        let dead = try await deadProcess()
        var takers = 0
        for round in 0..<100 {
            if round % 2 == 0 { try leave(pid: dead) }
            let inside = Locked((now: 0, most: 0, total: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask { [place, disk, clock] in
                        try await blocking {
                            for _ in 0..<6 {
                                let lock = try TransferLock.tryAcquire(
                                    place, fileSystem: disk, time: clock.time, basis: .claimOnly)
                                guard let lock else { continue }
                                inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.total + 1) }
                                sched_yield()
                                inside.withLock { $0.now -= 1 }
                                lock.release()
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let counts = inside.withLock { $0 }
            #expect(counts.most <= 1)
            takers += counts.total
            let last = try acquire(.claimOnly)
            #expect(last != nil, "nothing is left in the way")
            last?.release()
        }
        #expect(takers >= 100, "somebody won every round: \(takers)")
    }

    @Test func aHolderGivesSignsOfLifeWhileItWorks() async throws {
        let lock = try #require(try acquire())
        let renewing = Task { try await lock.keepRenewing() }
        for _ in 0..<3 {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: TransferLock.renewalInterval)
        }
        await clock.sleepers(atLeast: 1)
        guard let lease = try FoundClaim.read(leasePath, in: disk)?.claim else {
            Issue.record("no lease")
            return
        }
        #expect(lease.renewed == clock.time.now)
        renewing.cancel()
        await #expect(throws: CancellationError.self) { try await renewing.value }
        await lock.end()
        #expect(try acquire() != nil)
    }

    @Test func whoIsTakenForDeadStops() async throws {
        let lock = try #require(try acquire(.claimOnly))
        let renewing = Task { try await lock.keepRenewing() }
        await clock.sleepers(atLeast: 1)
        // Another machine, for which this one was silent for too long.
        try leave(boot: "another")
        clock.advance(by: TransferLock.renewalInterval)
        let error = await #expect(throws: TransferError.self) { try await renewing.value }
        #expect(error?.code == .busy)
        guard let lease = try FoundClaim.read(leasePath, in: disk)?.claim else {
            Issue.record("the other's lease is gone")
            return
        }
        #expect(lease.holder.boot == "another")
    }

    @Test func withoutHardLinksItExcludesAsWell() async throws {
        let plain = LinklessFileSystem()
        func take() throws -> TransferLock? {
            try TransferLock.tryAcquire(place, fileSystem: plain, time: clock.time, basis: .claimOnly)
        }
        let first = try #require(try take())
        #expect(try take() == nil)
        first.release()
        #expect(try take() != nil)
        try leave(pid: try await deadProcess())
        #expect(try take() != nil)
    }

    @Test(arguments: 1...8)
    func aFailingDiskLeavesNoLockBehind(_ call: Int) throws {
        let faulty = FaultyFileSystem()
        try disk.makeFolders(place)
        faulty.fail(call: call, errno: EIO)
        let lock = try? TransferLock.tryAcquire(place, fileSystem: faulty, time: clock.time, basis: .claimOnly)
        lock?.release()
        #expect(try acquire(.claimOnly) != nil)
    }
}

/// A disk as of a memory card: no hard links.
private struct LinklessFileSystem: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()

    func makeHardLink(at path: Path, to target: Path) throws {
        throw FileError(errno: EPERM, doing: "create", path: path)
    }
}
