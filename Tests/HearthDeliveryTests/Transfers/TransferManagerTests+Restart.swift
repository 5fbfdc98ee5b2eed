import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Transfers after a restart, and the list of transfers.
extension TransferManagerTests {
    /// What a killed process leaves: a plan, a journal, a part, and a lease of a process that is gone.
    func leaveAsKilled(_ server: FaultServer, isPaused: Bool = false) async throws {
        let gate = Gate()
        let first = try FaultServer { FaultServer.answer($0, with: Self.content).stalled(after: 100_000, at: gate) }
        let manager = manager()
        let readings = Readings()
        var request = try request(server)
        request.locations = [try first.url("/toy-v1.0.0-q4_1.gguf")]
        let asker = Task { [request] in
            try await manager.fetch(request, tag: try tag(server)) { readings.take($0) }
        }
        await gate.reached()
        await readings.first { $0.state == .downloading && $0.completedBytes > 0 }
        asker.cancel()
        _ = await asker.result
        var lease = Claim(at: Date())
        lease.holder = ProcessIdentity(
            number: getpid(), started: "1", boot: ProcessIdentity.current.boot, space: ProcessIdentity.current.space)
        try disk.replaceContents(of: TransferLock.place(in: place), with: try lease.padded())
        let folder = TransferFolder(try TransferKey(request), in: transfers, fileSystem: disk)
        #expect(try folder.setPaused(isPaused))
    }

    @Test func whatAKilledProcessLeftIsBroughtBack() async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        try await leaveAsKilled(server)
        let manager = manager()
        #expect(try await manager.list().map(\.state) == [.interrupted])
        let asked = Locked<[TransferPlan]>([])
        let request = try request(server)
        let outcome = try await manager.restore { plan in
            asked.withLock { $0.append(plan) }
            _ = try await manager.fetch(request)
            await manager.release(request, discarding: false)
        }
        #expect(outcome.count == 1 && outcome[0].error == nil)
        let plan = try #require(asked.withLock { $0 }.first)
        #expect(plan.release == release)
        let manifest = try #require(URL(string: try server.url("/models.json").absoluteString))
        #expect(
            plan.reference
                == .manifest(
                    manifest, family: release.family, version: release.version,
                    variant: release.variant))
        #expect(try await manager.list().map(\.state) == [.finished])
        #expect(server.requests.last?.headers["Range"] != nil, "nothing is fetched twice")
    }

    @Test func aPausedOneStaysPausedAndACancelledOneGoes() async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        try await leaveAsKilled(server, isPaused: true)
        let manager = manager()
        #expect(try await manager.list().map(\.state) == [.paused])
        #expect(try await manager.restore { _ in Issue.record("nobody asked for it") }.isEmpty)
        #expect(try await manager.resume(try TransferKey(try request(server))) == .nobody)
        #expect(try await manager.list().map(\.state) == [.interrupted])

        let folder = TransferFolder(try TransferKey(try request(server)), in: transfers, fileSystem: disk)
        try folder.removePlan()
        #expect(try await manager.list().map(\.state.word) == ["orphaned"])
        #expect(try await manager.restore { _ in Issue.record("nobody wants it") }.isEmpty)
        #expect(try await manager.clean(onlyOrphans: true).count == 1)
        #expect(try disk.contents(of: transfers) == [])
    }

    @Test func cleaningLeavesAloneWhatRuns() async throws {
        let gate = Gate()
        let server = try stalling(at: gate)
        let (runner, other) = (manager(), manager())
        let request = try request(server)
        let asker = Task { try await runner.fetch(request) }
        await gate.reached()
        let idle = folder.path("transfers/idle")
        try disk.makeFolders(idle)
        try disk.replaceContents(of: Path("\(idle)/data.part"), with: Data(count: 5000))

        for manager in [runner, other] {
            let wouldGo = try await manager.clean(onlyOrphans: false, isDryRun: true)
            #expect(wouldGo.map(\.key.name) == ["idle"])
            #expect(wouldGo[0].allocatedBytes >= 5000)
        }
        #expect(try await other.clean(onlyOrphans: true).map(\.key.name) == ["idle"])
        #expect(try await other.clean(onlyOrphans: false).isEmpty)
        gate.open()
        #expect(try await asker.value.digest == Self.digest)
        #expect(try await other.clean(onlyOrphans: false).isEmpty, "it is taken, and not installed yet")
        await runner.release(request, discarding: false)
        #expect(try await other.clean(onlyOrphans: true).isEmpty)
        #expect(try await other.clean(onlyOrphans: false).count == 1)
        #expect(try disk.contents(of: transfers) == [])
    }
}
