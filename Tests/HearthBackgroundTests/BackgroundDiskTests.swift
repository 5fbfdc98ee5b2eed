import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthBackground

/// Full, locked and shared homes.
@Suite(.timeLimit(.minutes(5))) struct BackgroundDiskTests {
    private let fixture: BackgroundFixture
    private let disk = FaultyFileSystem()

    init() throws { fixture = try BackgroundFixture() }

    private var service: PlayedService { fixture.service }

    /// A piece that cannot be moved is fetched by the app, and is not ordered again and again.
    @Test func aDiskThatIsFullAtTheMove() async throws {
        let manager = try fixture.manager(disk)
        try await fixture.interrupt(manager)
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        let orders = service.tasks
        disk.fail(call: 1, of: .rename, errno: ENOSPC)
        for order in orders { fixture.land(order) }
        await downloads.landed()
        #expect(service.begun.count == 3)
        disk.heal()
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        #expect(fixture.modelRequests > 0)
    }

    /// A piece that has no room in the part file waits beside it.
    @Test func aDiskThatIsFullWhereAPieceIsTakenIn() async throws {
        let manager = try fixture.manager(disk)
        try await fixture.interrupt(manager)
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        let orders = service.tasks
        disk.fillDisk(after: 0)
        for order in orders.dropFirst() { fixture.land(order) }
        await downloads.start()
        let place = try #require(fixture.place(manager))
        #expect(try place.landed().map(\.range) == Array(BackgroundFixture.pieces.dropFirst()))
        #expect(service.begun.count == 3 && service.tasks.count == 1)
        disk.heal()
        fixture.land(orders[0])
        await downloads.landed()
        #expect(try place.landed().isEmpty)
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        #expect(fixture.modelRequests == 0)
    }

    /// An app and its extension share a home: the one that came second orders nothing, and fetches nothing.
    @Test func twoProcessesInOneHome() async throws {
        let (app, extending) = (try fixture.manager(), try fixture.manager())
        try await fixture.interrupt(app)
        let downloads = fixture.downloads(app)
        try await downloads.handOver()
        let other = PlayedService(fixture.folder)
        let second = BackgroundDownloads(
            extending, identifier: "extension", limits: PieceLimits(length: BackgroundFixture.length)
        ) { other.session($0, $1) }
        try await second.handOver()
        #expect(other.begun.isEmpty)
        let refusal = await #expect(throws: TransferError.self) {
            try await extending.pull(ModelReference(parsing: "toy"))
        }
        #expect(refusal?.code == .busy)
        #expect(fixture.modelRequests == 0)
        for order in service.tasks { fixture.land(order) }
        await downloads.landed()
        try await downloads.finish()
        #expect(try await fixture.isInstalled(app))
        #expect(fixture.modelRequests == 0)
    }

    /// After a restart, before its owner has unlocked the device, no file of the home can be read: nothing is ordered,
    /// and nothing is cancelled.
    @Test func aLaunchBeforeTheFirstUnlock() async throws {
        let locked = LockableFileSystem()
        let manager = try fixture.manager(locked)
        try await fixture.interrupt(manager)
        try await fixture.downloads(manager).handOver()
        service.disconnect()
        fixture.land(service.tasks[0])

        locked.isLocked.withLock { $0 = true }
        let downloads = fixture.downloads(manager)
        #expect(await downloads.handleEvents(forSession: BackgroundFixture.identifier))
        #expect(service.begun.count == 3 && service.cancelled.isEmpty)
        #expect(service.tasks.map(\.range) == Array(BackgroundFixture.pieces.dropFirst()))

        locked.isLocked.withLock { $0 = false }
        await downloads.start()
        // The piece that came could not be kept, and is left to the app.
        #expect(service.begun.count == 3)
        for order in service.tasks { fixture.land(order) }
        await downloads.landed()
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
    }

    /// Every call to the disk fails once while pieces are taken in: no byte is lost or counted twice.
    @Test func aDiskThatFailsAtAnyCall() async throws {
        let local = LocalFileSystem()
        var failures = 0
        for call in 1...60 {
            let manager = try fixture.manager()
            try await fixture.interrupt(manager)
            let place = try #require(fixture.place(manager))
            for range in BackgroundFixture.pieces {
                try local.replaceContents(of: place.landingPlace(range), with: fixture.bytes(range))
            }
            disk.fail(call: call, errno: EIO)
            let faulty = try #require(TransferFolder(fixture.digest, in: manager.transfers.folder, fileSystem: disk))
            do {
                try faulty.takeInLanded(of: fixture.digest, size: 50_000)
            } catch {
                failures += 1
            }
            disk.heal()
            #expect(try place.held(of: fixture.digest)?.byteCount == 50_000, "call \(call)")
            try place.takeInLanded(of: fixture.digest, size: 50_000)
            #expect(try local.digest(ofFile: place.path.appending("data.part")) == fixture.digest, "call \(call)")
            try place.remove()
        }
        #expect((5..<60).contains(failures), "\(failures)")
    }
}

/// A disk whose files cannot be opened, listed or moved while it is locked.
private final class LockableFileSystem: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    let isLocked = Locked(false)

    private func check(_ path: Path) throws {
        if isLocked.withLock({ $0 }) { throw FileError(errno: EPERM, doing: "open", path: path) }
    }

    func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        try check(path)
        return try base.open(path, mode, permissions: permissions)
    }

    func rename(_ source: Path, to target: Path) throws {
        try check(source)
        try base.rename(source, to: target)
    }

    func contents(of folder: Path) throws -> [String] {
        try check(folder)
        return try base.contents(of: folder)
    }
}
