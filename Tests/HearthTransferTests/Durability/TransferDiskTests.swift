import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// The disk fails during a transfer.
@Suite(.timeLimit(.minutes(30))) struct TransferDiskTests {
    /// How one call fails.
    struct Failure: Sendable, CustomTestStringConvertible {
        var errno: Int32
        var operation: FaultyFileSystem.Operation?
        /// Every later call fails as well.
        var stays = false
        /// A write that fails has written its first half.
        var tears = false

        var testDescription: String {
            "errno \(errno) of \(operation?.rawValue ?? "any change")\(stays ? ", for good" : "")\(tears ? ", torn" : "")"
        }

        static let all = [
            Failure(errno: ENOSPC), Failure(errno: ENOSPC, stays: true), Failure(errno: EDQUOT), Failure(errno: EIO),
            Failure(errno: EIO, stays: true), Failure(errno: EINTR),
            Failure(errno: ENOSPC, operation: .write, tears: true),
            Failure(errno: EIO, operation: .read), Failure(errno: EIO, operation: .openExisting),
        ]
    }

    /// The Nth call fails, for every N that there is: one error with a stable code or none, a journal that names nothing
    /// but right bytes, and the next attempt fetches what is not recorded, and no more.
    @Test(arguments: Failure.all, [DurabilityScenario.plain, .indexed])
    func everyFailingCallCostsOnlyWhatWasNotRecorded(_ failure: Failure, _ scenario: DurabilityScenario) async throws {
        var generator = SeededGenerator(seed: UInt64(failure.errno))
        var failures = 0
        var call = 0
        var isOver = false
        while !isOver {
            call += TestExtent.isFull || call < 2 ? 1 : Int.random(in: 1...40, using: &generator)
            let folder = try TemporaryFolder()
            let transfers = folder.path("transfers")
            let disk = FaultyFileSystem()
            disk.fail(
                call: call, of: failure.operation, errno: failure.errno, stays: failure.stays, tears: failure.tears)
            let note = "\(scenario), call \(call), \(failure.testDescription)"
            do {
                try await scenario.fetch(transfers, from: scenario.origin(), on: disk)
            } catch let error as FileError {
                failures += 1
                let isFull = failure.errno == ENOSPC || failure.errno == EDQUOT
                #expect(error.code == (isFull ? .diskFull : .ioFailure), "\(note): \(error)")
            }
            isOver = disk.callCount(of: failure.operation) < call
            disk.heal()
            let kept = try DurabilityScenario.recorded(transfers, note)
            try await scenario.recover(transfers, keeping: kept, note)
        }
        // With an index everything is hashed from memory.
        let mayNeverCome = failure.operation == .openExisting || failure.operation == .read && scenario == .indexed
        #expect(call > 2 || mayNeverCome)
        #expect(failures > 0 || mayNeverCome)
    }

    /// What was taken over is read again, and that may fail, too.
    @Test(arguments: 1...4) func whatCannotBeReadAgainIsSaid(_ call: Int) async throws {
        let folder = try TemporaryFolder()
        let transfers = folder.path("transfers")
        let scenario = DurabilityScenario.adoptedIndexed
        try scenario.prepare(transfers)
        let disk = FaultyFileSystem()
        disk.fail(call: call, of: .read, errno: EIO)
        let outcome = await code { try await scenario.fetch(transfers, from: scenario.origin(), on: disk) }
        #expect(outcome == "io-failure")
        disk.heal()
        try await scenario.recover(transfers, keeping: RangeSet(), "read \(call)")
    }

    /// A disk that fills up at any byte: that is said, what fitted is kept, and with room again the rest is fetched.
    @Test(arguments: [DurabilityScenario.plain, .indexed])
    func aFullDiskKeepsWhatFitted(_ scenario: DurabilityScenario) async throws {
        for left in stride(from: 0 as UInt64, through: 170_000, by: TestExtent.isFull ? 2_500 : 17_000) {
            let folder = try TemporaryFolder()
            let transfers = folder.path("transfers")
            let disk = FaultyFileSystem()
            disk.fillDisk(after: left)
            let outcome = await code { try await scenario.fetch(transfers, from: scenario.origin(), on: disk) }
            #expect(outcome == "disk-full" || left >= DurabilityScenario.content.count && outcome == nil, "\(left)")
            disk.heal()
            let kept = try DurabilityScenario.recorded(transfers, "\(left) bytes left")
            try await scenario.recover(transfers, keeping: kept, "\(scenario), \(left) bytes left")
        }
    }
}
