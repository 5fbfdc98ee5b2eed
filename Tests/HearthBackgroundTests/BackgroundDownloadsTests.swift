import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthBackground

/// Downloads that the system has while the app is suspended, dead or in front, over a real home.
@Suite(.timeLimit(.minutes(5))) struct BackgroundDownloadsTests {
    private let fixture: BackgroundFixture
    private let manager: ModelManager

    init() async throws {
        fixture = try BackgroundFixture()
        manager = try fixture.manager()
        try await fixture.interrupt(manager)
    }

    private var service: PlayedService { fixture.service }

    /// The app is killed, and launched again.
    private func relaunch() throws -> (ModelManager, BackgroundDownloads) {
        service.disconnect()
        let manager = try fixture.manager()
        return (manager, fixture.downloads(manager))
    }

    @Test func whatTheSystemBringsIsCheckedAndInstalledByAPull() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        #expect(service.tasks.map(\.range) == BackgroundFixture.pieces)
        #expect(service.tasks.allSatisfy { $0.digest == fixture.digest && $0.size == 50_000 })
        // Out of order.
        for order in service.tasks.reversed() { fixture.land(order) }
        await downloads.landed()
        let outcomes = try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        guard case .success(.installed(_, let fetched))? = outcomes.values.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(fetched == 0 && fixture.modelRequests == 0)
        #expect(try await manager.transfers.list().isEmpty)
    }

    /// The app leaves while a pull runs: it ends, and what it has is not ordered.
    @Test func aRunningPullIsHandedOver() async throws {
        let fixture = try BackgroundFixture(stalls: true)
        let manager = try fixture.manager()
        let downloads = fixture.downloads(manager)
        let pull = Task { try await manager.pull(ModelReference(parsing: "toy")) }
        await fixture.gate.reached()
        try await downloads.handOver()
        await #expect(throws: CancellationError.self) { try await pull.value }
        let held = try #require(try fixture.place(manager)?.held(of: fixture.digest))
        let ordered = RangeSet(fixture.service.tasks.map(\.range))
        #expect(held.intersection(ordered).isEmpty && held.union(ordered) == RangeSet(0..<50_000))
        for order in fixture.service.tasks { fixture.land(order) }
        await downloads.landed()
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        #expect(fixture.modelRequests == 1)
    }

    /// The bytes that an earlier launch has left are not ordered.
    @Test func piecesOfAnEarlierLaunchAreNotOrdered() async throws {
        let place = try #require(fixture.place(manager))
        try LocalFileSystem().replaceContents(of: place.landingPlace(0..<30_000), with: fixture.bytes(0..<30_000))
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        #expect(service.tasks.map(\.range) == [30_000..<50_000])
        fixture.land(try #require(service.tasks.first))
        await downloads.landed()
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        #expect(fixture.modelRequests == 0)
    }

    @Test func theServiceEndsItsTasksWhileTheAppIsDead() async throws {
        try await fixture.downloads(manager).handOver()
        service.disconnect()
        for order in service.tasks { fixture.land(order) }
        let (manager, downloads) = try relaunch()
        #expect(await downloads.handleEvents(forSession: BackgroundFixture.identifier))
        #expect(try fixture.place(manager)?.held(of: fixture.digest)?.byteCount == 50_000)
        #expect(service.begun.count == 3)
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        #expect(fixture.modelRequests == 0)
    }

    @Test func theDelegateOfAnotherSessionIsNotKept() async throws {
        #expect(await fixture.downloads(manager).handleEvents(forSession: "other") == false)
    }

    @Test func theServiceCallsTwice() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        let orders = service.tasks
        for order in orders {
            fixture.land(order)
            fixture.land(order)
            service.fail(order, code: -1005)
        }
        await downloads.landed()
        #expect(service.begun.count == 3)
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
    }

    @Test func aLostTaskIsOrderedAgain() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        service.lose(service.tasks[1])
        #expect(service.begun.count == 3)
        await downloads.start()
        #expect(service.tasks.map(\.range) == BackgroundFixture.pieces)
        #expect(service.begun.count == 4)
    }

    /// A force-quit ends every task; the next launch continues each with its own resume data.
    @Test func aForceQuitKeepsTheBytesOfTheSystem() async throws {
        try await fixture.downloads(manager).handOver()
        service.disconnect()
        for order in service.tasks { service.fail(order, code: -999, resumeData: Data(order.id.utf8)) }
        let (_, downloads) = try relaunch()
        await downloads.start()
        #expect(service.tasks.map(\.range) == BackgroundFixture.pieces)
        let continued = service.begun.suffix(3)
        #expect(continued.allSatisfy { $0.order.attempt == 1 })
        let first = service.begun.prefix(3)
        for (order, data) in continued {
            let earlier = try #require(first.first { $0.order.range == order.range })
            #expect(data == Data(earlier.order.id.utf8))
        }
    }

    @Test func resumeDataThatDoNotServeAreCleared() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        service.fail(service.tasks[0], code: -1005, resumeData: Data("of another file".utf8))
        await downloads.start()
        #expect(service.begun.last?.resumeData == Data("of another file".utf8))
        service.fail(service.tasks[0], code: -3006)
        await downloads.start()
        #expect(service.begun.last?.order.range == BackgroundFixture.pieces[0])
        #expect(service.begun.last?.order.attempt == 2)
        #expect(service.begun.last?.resumeData == nil)
    }

    /// Resume data of another file that the system takes: its bytes have another length, or another digest.
    @Test func theBytesOfAnotherFileAreNotInstalled() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        service.land(service.tasks[0], Data(count: 19_999))
        await downloads.start()
        #expect(service.begun.count == 4 && service.begun.last?.order.range == BackgroundFixture.pieces[0])
        for order in service.tasks {
            service.land(
                order, order.range == BackgroundFixture.pieces[0] ? Data(count: 20_000) : fixture.bytes(order.range))
        }
        await downloads.landed()
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        #expect(fixture.modelRequests > 0)
    }

    @Test func aFileThatVanishesBeforeItIsMovedComesAgain() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        service.land(service.tasks[2], nil)
        await downloads.start()
        #expect(service.tasks.map(\.range) == BackgroundFixture.pieces)
        #expect(service.begun.last?.order.attempt == 1)
    }

    /// A page in place of the file.
    @Test func aRefusalIsLeftToTheApp() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        for order in service.tasks { service.land(order, Data("<html>".utf8), status: 404) }
        await downloads.landed()
        #expect(service.begun.count == 3)
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        #expect(fixture.modelRequests > 0)
    }

    /// A server without ranges sends the whole file for one of them.
    @Test func theWholeFileEndsTheOtherTasks() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        service.land(service.tasks[1], BackgroundFixture.content.bytes, status: 200)
        await downloads.landed()
        #expect(service.cancelled.map(\.range) == [0..<20_000, 40_000..<50_000])
        try await downloads.finish()
        #expect(try await fixture.isInstalled(manager))
        #expect(fixture.modelRequests == 0)
    }

    @Test func aPersonsCancellationRemovesWhatTheSystemHas() async throws {
        let downloads = fixture.downloads(manager)
        try await downloads.handOver()
        let late = service.tasks[0]
        try await downloads.cancel(try #require(Family("toy")))
        #expect(service.cancelled.map(\.range) == BackgroundFixture.pieces && service.tasks.isEmpty)
        fixture.land(late)
        service.fail(late, code: -999, resumeData: Data("kept".utf8))
        await downloads.start()
        #expect(service.tasks.isEmpty && service.begun.count == 3)
        #expect(try LocalFileSystem().contents(of: manager.transfers.folder).isEmpty)
    }

    @Test func theProgressCountsWhatTheSystemHas() async throws {
        let downloads = fixture.downloads(manager)
        #expect(try await downloads.progress().isEmpty)
        try await downloads.handOver()
        fixture.land(service.tasks[0])
        await downloads.start()
        let reading = try #require(try await downloads.progress().values.first)
        #expect(reading.completedBytes == 20_000 && reading.totalBytes == 50_000)
    }
}
