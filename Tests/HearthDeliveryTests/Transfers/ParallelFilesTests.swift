import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// The files of one release are fetched together.
@Suite(.timeLimit(.minutes(5))) struct ParallelFilesTests {
    private let lab: HubLab

    init() throws { lab = try HubLab() }

    private func publish(_ count: Int, bytes: UInt64) {
        var files = snapshotFiles()
        for number in 0..<count {
            files["data/\(number).bin"] = .large(.pattern(offset: UInt64(number), count: bytes))
        }
        lab.hub.publish("o/m", files)
    }

    private func reference() throws -> ModelReference { try ModelReference(parsing: "hf:o/m:*") }

    @Test func sixteenFilesAreRequestedAtATime() async throws {
        publish(20, bytes: 5000)
        let gate = Gate()
        lab.hub.disturb { request in
            guard request.path.contains("/resolve/"), request.path.hasSuffix(".bin") else { return nil }
            let number = request.path.split(separator: "/").last.flatMap { UInt64($0.dropLast(4)) } ?? 0
            return FaultServer.answer(request, with: .pattern(offset: number, count: 5000)).stalled(at: gate)
        }
        let manager = try lab.manager()
        let pull = Task { try await manager.pull(try reference()) }
        await gate.reached(16)
        gate.open()
        let release = try await pull.value.release
        #expect(release.receipt.files.filter { $0.name.string.hasSuffix(".bin") }.count == 20)
        #expect(try await manager.store.verify(release.identity).isIntact)
        #expect(try await manager.transfers.list().isEmpty)
    }

    @Test func aFailedFileEndsTheOthersAndTheyKeepTheirBytes() async throws {
        publish(4, bytes: 200_000)
        let (gate, failing) = (Gate(), Gate())
        lab.hub.disturb { request in
            guard request.path.contains("/resolve/"), request.path.hasSuffix(".bin") else { return nil }
            let number = request.path.split(separator: "/").last.flatMap { UInt64($0.dropLast(4)) } ?? 0
            if number == 3 { return Reply(404).stalledBeforeHead(at: failing) }
            return FaultServer.answer(request, with: .pattern(offset: number, count: 200_000))
                .stalled(after: 100_000, at: gate)
        }
        let manager = try lab.manager()
        let pull = Task { try await manager.pull(try reference()) }
        await gate.reached(3)
        failing.open()
        await #expect(throws: TransferError.self) { try await pull.value }
        let left = try await manager.transfers.list().filter { $0.label.hasSuffix(".bin") }
        // On a busy machine a request that stalls is made anew and may bring the rest of its file.
        #expect(left.allSatisfy { [.interrupted, .finished].contains($0.state) || $0.recordedBytes == 0 }, "\(left)")
        #expect(left.count { $0.recordedBytes > 0 } >= 1)
        gate.open()
        lab.hub.disturb(nil)
        #expect(try await manager.pull(try reference()).release.isActive)
    }

    @Test func aCancelledPullCancelsItsFiles() async throws {
        publish(4, bytes: 200_000)
        let gate = Gate()
        lab.hub.disturb { request in
            guard request.path.contains("/resolve/"), request.path.hasSuffix(".bin") else { return nil }
            return FaultServer.answer(request, with: .pattern(count: 200_000)).stalled(after: 100_000, at: gate)
        }
        let manager = try lab.manager()
        let pull = Task { try await manager.pull(try reference()) }
        await gate.reached(4)
        pull.cancel()
        await #expect(throws: CancellationError.self) { try await pull.value }
        #expect(try await manager.transfers.list().allSatisfy { !$0.state.isHeld })
        gate.open()
    }

    /// 40 files of 1 MiB from a server that answers after 50 ms: two seconds of waiting if they came one after the other.
    /// Runs only where it is asked for: beside other tests the time tells nothing.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["HEARTH_MEASURE"] != nil))
    func manySmallFilesDoNotWaitForEachOther() async throws {
        publish(40, bytes: 1 << 20)
        lab.hub.disturb { request in
            if request.path.contains("/resolve/") { usleep(50_000) }
            return nil
        }
        let manager = try lab.manager()
        let resolved = try await manager.resolve(try reference())
        let clock = ContinuousClock()
        let start = clock.now
        let release = try await manager.pull(resolved).release
        let taken = clock.now - start
        #expect(release.receipt.files.count >= 40)
        #expect(taken < .seconds(2), "\(taken)")
        print("40 files: \(taken)")
    }
}
