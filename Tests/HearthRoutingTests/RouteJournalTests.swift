import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// The record of decisions that several processes write.
@Suite struct RouteJournalTests {
    /// Tells when a folder is asked for, which a journal does before it takes the lock.
    private struct NotingFileSystem: ForwardingFileSystem {
        var base: any FileSystem = LocalFileSystem()
        let asked: @Sendable () -> Void

        func synchronizeFolder(_ path: Path) throws {
            asked()
            try base.synchronizeFolder(path)
        }
    }

    private func entry(_ number: Int, _ reason: RouteReason = .cloud) -> RouteRecord.Entry {
        RouteRecord.Entry(RouteDecision(.cloud, reason), at: Date(timeIntervalSince1970: Double(number)))
    }

    private func dates(_ folder: Path) -> [Double] {
        RouteJournal.read(folder).decisions.map(\.date.timeIntervalSince1970)
    }

    @Test func theDecisionsOfTwoProcessesAreBothKept() async throws {
        let folder = try TemporaryFolder()
        let journals = (0..<2).map { _ in RouteJournal(folder: folder.path, lockTimeout: .seconds(60)) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addTask { await journals[number % 2].note([entry(number)], nil) }
            }
        }
        for journal in journals { await journal.flush() }
        #expect(dates(folder.path) == (0..<10).map(Double.init))
        await journals[0].note([entry(10)], nil)
        await journals[0].flush()
        #expect(dates(folder.path) == (1...10).map(Double.init))
    }

    @Test func aDecisionWaitsForAnotherProcess() async throws {
        let folder = try TemporaryFolder()
        let place = folder.path("routing")
        try LocalFileSystem().makeFolders(place)
        let lock = try #require(try FileLock.tryAcquire(place.appending("route.json.lock")))
        let (asked, asking) = AsyncStream<Void>.makeStream()
        let fileSystem = NotingFileSystem { asking.yield() }
        let journal = RouteJournal(folder: place, fileSystem: fileSystem, lockTimeout: .seconds(60))
        await journal.note([entry(1)], nil)
        for await _ in asked { break }
        #expect(dates(place) == [])
        lock.release()
        await journal.flush()
        #expect(dates(place) == [1])
    }

    @Test func anotherHolderIsNotWaitedForWithoutEnd() async throws {
        let folder = try TemporaryFolder()
        let lock = try #require(try FileLock.tryAcquire(folder.path("x.lock")))
        #expect(try FileLock.acquire(folder.path("x.lock"), within: .milliseconds(1)) == nil)
        lock.release()
        #expect(try FileLock.acquire(folder.path("x.lock"), within: .zero) != nil)
    }
}
