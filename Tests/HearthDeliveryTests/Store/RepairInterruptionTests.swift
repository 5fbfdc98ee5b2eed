import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Mending is interrupted: by a disk that fails, and by the power. Kills are in `KilledStoreTests`.
@Suite(.timeLimit(.minutes(30))) struct RepairInterruptionTests {
    /// How one call fails.
    struct Failure: Sendable, CustomTestStringConvertible {
        var errno: Int32
        var operation: FaultyFileSystem.Operation?
        var stays = false

        var testDescription: String {
            "errno \(errno) of \(operation?.rawValue ?? "any change")\(stays ? ", for good" : "")"
        }

        static let all = [
            Failure(errno: EIO), Failure(errno: ENOSPC), Failure(errno: ENOSPC, stays: true), Failure(errno: EDQUOT),
            Failure(errno: EROFS, stays: true), Failure(errno: EIO, operation: .read),
            Failure(errno: EIO, operation: .openExisting),
        ]
    }

    /// The Nth call fails, for every N that there is: an error with a stable code or none, what is live is as it was, and the
    /// next repair needs no help.
    @Test(arguments: RepairScenario.allCases, Failure.all)
    func everyFailingCallLeavesAWholeHome(_ scenario: RepairScenario, _ failure: Failure) async throws {
        let lab = try await RepairLab(scenario)
        var generator = SeededGenerator(seed: UInt64(failure.errno))
        var call = 0
        var failures = 0
        var isOver = false
        while !isOver {
            call += TestExtent.isFull ? 1 : Int.random(in: 1...160, using: &generator)
            let folder = try TemporaryFolder()
            let home = folder.path("home")
            try lab.copy(to: home)
            let disk = FaultyFileSystem()
            disk.fail(call: call, of: failure.operation, errno: failure.errno, stays: failure.stays)
            let note = "\(scenario), call \(call), \(failure.testDescription)"
            do {
                try await lab.run(home, on: disk)
            } catch {
                failures += 1
                #expect(error is any HearthFailure, "\(note): \(error)")
            }
            isOver = disk.callCount(of: failure.operation) < call
            disk.heal()
            try await lab.checkInterrupted(home, note)
            try await lab.recover(home, note)
        }
        #expect(call > 2)
        if TestExtent.isFull { #expect(failures > 0, "of \(call) calls none mattered") }
    }

    /// The power goes after every change and synchronisation, and the disk keeps what it pleases of the rest.
    @Test(arguments: RepairScenario.allCases)
    func everyPowerCutLeavesAWholeHome(_ scenario: RepairScenario) async throws {
        let lab = try await RepairLab(scenario)
        let folder = try TemporaryFolder()
        try lab.copy(to: folder.path("home"))
        let disk = try PowerCutDisk(root: folder.path)
        try await lab.run(disk.root.appending("home"), on: disk)
        #expect(disk.operationCount > 3)
        var generator = SeededGenerator(seed: 5)
        // Of the large file every change costs time.
        let share = scenario == .indexed ? 160 : 40
        for operation in 0...disk.operationCount {
            for policy in PowerCutDisk.Policy.allCases {
                guard TestExtent.includes(oneIn: share, using: &generator) else { continue }
                let after = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: after.path)
                let last = disk.operations.prefix(operation).last ?? "nothing"
                let note = "\(scenario), cut after \(operation): \(last), \(policy)"
                try await lab.checkInterrupted(after.path("home"), note)
                try await lab.recover(after.path("home"), note)
            }
        }
        // What a repair has told is on the disk.
        for policy in PowerCutDisk.Policy.allCases {
            let after = try TemporaryFolder()
            try disk.rebuild(after: disk.operationCount, policy: policy, into: after.path)
            #expect(try await lab.isWhole(after.path("home")), "\(scenario), \(policy)")
        }
    }
}
