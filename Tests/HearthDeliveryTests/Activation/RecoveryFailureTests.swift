import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore

/// Refuses what happens below one folder, or has whoever changes something below another cancelled.
private final class PartlyDeadDisk: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    private let dead = Locked<String?>(nil)
    private let last = Locked<String?>(nil)

    func fail(below part: String?) { dead.withLock { $0 = part } }

    func cancel(below part: String?) { last.withLock { $0 = part } }

    func rename(_ source: Path, to target: Path) throws {
        if last.withLock({ $0.map { target.string.contains($0) } ?? false }) { withUnsafeCurrentTask { $0?.cancel() } }
        if dead.withLock({ $0.map { target.string.contains($0) } ?? false }) {
            throw FileError(errno: EIO, doing: "rename", path: target)
        }
        try base.rename(source, to: target)
    }
}

/// What a start has decided is told, whatever fails beside it.
@Suite(.timeLimit(.minutes(10))) struct RecoveryFailureTests {
    private let one: ReleaseIdentity
    private let two: ReleaseIdentity
    private let fixture: StoreFixture

    /// A release that two processes ended in.
    init() async throws {
        one = try StoreFixture.identity("1.0.0")
        two = try StoreFixture.identity("2.0.0")
        fixture = try StoreFixture()
        try await fixture.install(one, activate: true)
        try await fixture.install(two)
        try await fixture.manager().activate(two)
        for process: Int32 in [1, 2] { try fixture.leave(.load, two, process: process) }
    }

    @Test func aRollbackIsToldWhereNothingCanBeClearedUp() async throws {
        try fixture.folder.write("home/prepared/tiny/2.0.0~q4/.0123456789abcdef.tmp-abc/made.bin", Data("half".utf8))
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .removeFolder, errno: EIO, stays: true)
        let manager = fixture.manager(fileSystem: disk)
        var events = manager.events().makeAsyncIterator()
        let made = try await manager.recover()
        #expect(made.map(\.from) == [two] && made.map(\.to?.identity) == [one])
        #expect(made.first?.to?.isActive == true)
        var told: ReleaseIdentity?
        while told == nil, let event = await events.next() {
            if case .rolledBack(let from, _, _) = event { told = from }
        }
        #expect(told == two)
        #expect(try await fixture.anotherStore().state(of: one.family).isHeldBack(two))
        #expect(try await fixture.manager().recover().isEmpty, "it is told once")
        #expect(try fixture.marks().isEmpty)
    }

    /// The process that began it ended before it could tell anybody.
    @Test(arguments: [false, true]) func aRollbackThatIsFinishedIsToldAsOne(_ isSwitched: Bool) async throws {
        let three = try StoreFixture.identity("3.0.0", family: "other")
        let four = try StoreFixture.identity("4.0.0", family: "other")
        try await fixture.install(three, activate: true)
        try await fixture.install(four, activate: true)
        try fixture.leave(.rollback, four, target: three.folderName)
        if isSwitched {
            try fixture.fileSystem.replaceLink(
                at: fixture.layout.activeLink(of: three.family), with: three.folderName)
        }
        let manager = fixture.manager()
        var events = manager.events().makeAsyncIterator()
        let made = try await manager.recover().filter { $0.from.family == three.family }
        #expect(made.map(\.from) == [four] && made.map(\.to?.identity) == [three])
        #expect(made.first?.reason == "it was left" && made.first?.to?.isActive == true)
        var told: [String] = []
        while told.isEmpty, let event = await events.next() {
            if case .rolledBack(let from, let to, let reason) = event, from == four {
                told = [to?.version.name ?? "none", reason]
            }
        }
        #expect(told == ["3.0.0", "it was left"])
        #expect(try await fixture.anotherStore().state(of: three.family).heldBack(four)?.reason == "it was left")
        #expect(try await fixture.manager().recover().isEmpty, "it is told once")
    }

    /// Whichever of the two comes first.
    @Test(arguments: ["aaa", "zzz"]) func aFamilyThatFailsHidesNoRollbackOfAnother(_ name: String) async throws {
        let other = try StoreFixture.identity("1.0.0", family: name)
        try await fixture.install(other)
        try fixture.leave(.commit, other)
        let disk = PartlyDeadDisk()
        disk.fail(below: "/models/\(name)/")
        let manager = fixture.manager(fileSystem: disk)
        #expect(try await manager.recover().map(\.from) == [two])
        await #expect(throws: FileError.self) { try await manager.recover() }
        disk.fail(below: nil)
        #expect(try await manager.recover().isEmpty)
        #expect(try await fixture.anotherStore().state(of: other.family).active == other)
        #expect(try fixture.marks().isEmpty)
    }

    /// What was not reached is looked at by the next who asks, and not by the next process only.
    @Test(arguments: [("aaa", "fails"), ("zzz", "fails"), ("zzz", "is cancelled")])
    func aRecoveryThatWasCutShortIsNotOver(_ name: String, _ end: String) async throws {
        let other = try StoreFixture.identity("1.0.0", family: name)
        try await fixture.install(other)
        try fixture.leave(.commit, other)
        let disk = PartlyDeadDisk()
        if end == "fails" { disk.fail(below: "/models/\(name)/") } else { disk.cancel(below: "/models/tiny/") }
        let manager = fixture.manager(fileSystem: disk)
        let first = Task { try await manager.availability(of: two.family).identity }
        #expect(try await first.value == one)
        #expect(first.isCancelled == (end == "is cancelled"))
        disk.fail(below: nil)
        disk.cancel(below: nil)
        #expect(try await manager.availability(of: other.family).identity == other)
        #expect(try fixture.marks().isEmpty)
    }

    /// Somebody else owns the folder of its marks, and for good.
    @Test(arguments: ["aaa", "zzz"]) func aFamilyThatFailsKeepsNobodyFromTheOthers(_ name: String) async throws {
        let other = try StoreFixture.identity("1.0.0", family: name)
        try await fixture.install(other)
        try fixture.leave(.commit, other)
        let three = try StoreFixture.identity("3.0.0")
        try await fixture.install(three)
        let disk = PartlyDeadDisk()
        disk.fail(below: "/models/\(name)/")
        let manager = fixture.manager(fileSystem: disk)
        #expect(try await manager.recover().map(\.from) == [two])
        #expect(try await manager.activate(three).isActive)
        #expect(try await manager.rollback(one.family).to?.identity == one)
        let file = try fixture.folder.write("tiny-v4.0.0-q4.gguf", Data("4.0.0".utf8))
        #expect(try await manager.pull(.file(file)).release.isActive)
        await #expect(throws: FileError.self) { try await manager.activate(other) }
        await #expect(throws: FileError.self, "all are asked for") { try await manager.recover() }
    }
}
