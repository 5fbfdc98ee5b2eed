import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

@Suite(.timeLimit(.minutes(10))) struct StoreLockTests {
    @Test func waitingForAnotherProcessHasAnEnd() async throws {
        let clock = ManualClock()
        let fixture = try StoreFixture(time: clock.time)
        let identity = try StoreFixture.identity()
        try await fixture.install(identity)
        let lock = try #require(try FileLock.tryAcquire(fixture.layout.lock))
        let waiting = Task { await code { try await fixture.store.activate(identity) } }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: ModelStore.lockTimeout)
        #expect(await waiting.value == "home-busy")
        lock.release()
        #expect(try await fixture.store.activate(identity).isActive)
    }

    @Test func aBusyHomeIsWorthAnotherTry() async throws {
        let clock = ManualClock()
        let fixture = try StoreFixture(time: clock.time)
        let identity = try StoreFixture.identity()
        try await fixture.install(identity)
        let lock = try #require(try FileLock.tryAcquire(fixture.layout.lock))
        let waiting = Task { () -> ErrorDisposition? in
            do {
                try await fixture.store.activate(identity)
                return nil
            } catch let error as StoreError {
                return error.disposition
            }
        }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: ModelStore.lockTimeout)
        #expect(try await waiting.value == .tryLater)
        lock.release()
    }

    @Test func theWaitEndsWhenTheOtherProcessIsDone() async throws {
        let clock = ManualClock()
        let fixture = try StoreFixture(time: clock.time)
        let identity = try StoreFixture.identity()
        try await fixture.install(identity)
        let lock = try #require(try FileLock.tryAcquire(fixture.layout.lock))
        let waiting = Task { try await fixture.store.activate(identity) }
        await clock.sleepers(atLeast: 1)
        lock.release()
        clock.advance(by: .seconds(1))
        #expect(try await waiting.value.isActive)
    }

    @Test func theWaitCanBeCancelled() async throws {
        let clock = ManualClock()
        let fixture = try StoreFixture(time: clock.time)
        let identity = try StoreFixture.identity()
        try await fixture.install(identity)
        let lock = try #require(try FileLock.tryAcquire(fixture.layout.lock))
        let waiting = Task { await code { try await fixture.store.activate(identity) } }
        await clock.sleepers(atLeast: 1)
        waiting.cancel()
        #expect(await waiting.value == "CancellationError")
        lock.release()
    }

    @Test func readingNeedsNoLock() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        try await fixture.install(identity, activate: true)
        let lock = try #require(try FileLock.tryAcquire(fixture.layout.lock))
        let other = fixture.anotherStore()
        #expect(try await other.installed().count == 1)
        #expect(try await other.active(identity.family)?.identity == identity)
        lock.release()
    }

    @Test func aCancelledInstallLeavesNothing() async throws {
        let fixture = try StoreFixture()
        let release = try StoreFixture.release(try StoreFixture.identity())
        let files = try fixture.stage(release)
        try await fixture.store.prepare()
        let outcome = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await code { try await fixture.store.install(release, files: files, origin: nil) }
        }.value
        #expect(outcome == "CancellationError")
        #expect(try await fixture.store.installed().isEmpty)
        #expect(try fixture.temporaryNames().isEmpty)
        #expect(try files.allSatisfy { try fixture.exists($0.path) })
    }

    @Test func aReleaseInTheMakingIsNoLeftOver() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        try await fixture.store.prepare()
        let staging = try Staging(identity, in: fixture.store.home)
        try await fixture.anotherStore().prepare()
        #expect(try fixture.exists(staging.folder))
        staging.close()
        #expect(try fixture.temporaryNames().isEmpty)
    }
}
