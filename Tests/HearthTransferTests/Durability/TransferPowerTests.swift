import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// The power goes during a transfer.
@Suite(.timeLimit(.minutes(30))) struct TransferPowerTests {
    /// After every change and synchronisation the disk is rebuilt as the cut may leave it, and the file fetched to its end:
    /// the digest is right, and nothing that a journal on the disk named is fetched again.
    @Test(arguments: DurabilityScenario.allCases)
    func everyPowerCutCostsOnlyWhatWasNotRecorded(_ scenario: DurabilityScenario) async throws {
        let folder = try TemporaryFolder()
        try scenario.prepare(folder.path("transfers"))
        let disk = try PowerCutDisk(root: folder.path)
        try await scenario.fetch(disk.root.appending("transfers"), from: scenario.origin(), on: disk)
        #expect(disk.operationCount > 30)

        var generator = SeededGenerator(seed: 3)
        var most = 0
        for operation in 0...disk.operationCount {
            guard TestExtent.includes(oneIn: 36, using: &generator) else { continue }
            var safe = RangeSet<UInt64>()
            // First what every disk keeps, then what may be there besides.
            for policy in PowerCutDisk.Policy.allCases {
                let after = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: after.path)
                let last = disk.operations.prefix(operation).last ?? "nothing"
                let note = "\(scenario), cut after \(operation): \(last), \(policy)"
                let transfers = after.path("transfers")
                let found = try DurabilityScenario.recorded(transfers, note)
                if policy == .onlySynced { safe = found }
                // A restart takes back what it recorded, and says so on the disk before it overwrites it.
                #expect(found.isSuperset(of: safe) || scenario.mayFetchAgain, "\(note)")
                try DurabilityScenario.ageLease(transfers)
                most = max(most, found.ranges.count)
                try await scenario.recover(transfers, keeping: found.union(safe), note)
            }
        }
        if TestExtent.isFull, scenario == .plain || scenario == .indexed { #expect(most > 1, "no journal with a hole") }
    }

    /// A system forgets bytes that it could not write: a synchronisation that failed makes the next one worthless.
    @Test(arguments: [DurabilityScenario.plain, .indexed])
    func whatASynchronisationLostIsFetchedAgain(_ scenario: DurabilityScenario) async throws {
        var failures = 0
        for call in 1...(TestExtent.isFull ? 40 : 8) {
            let folder = try TemporaryFolder()
            try scenario.prepare(folder.path("transfers"))
            let disk = try PowerCutDisk(root: folder.path)
            let transfers = disk.root.appending("transfers")
            disk.failToSynchronize(call: call)
            do {
                try await scenario.fetch(transfers, from: scenario.origin(), on: disk)
            } catch let error as FileError {
                failures += 1
                #expect(error.code == .ioFailure)
            }
            try await scenario.fetch(transfers, from: MemoryOrigin(DurabilityScenario.content), on: disk)
            for policy in PowerCutDisk.Policy.allCases {
                let after = try TemporaryFolder()
                try disk.rebuild(after: disk.operationCount, policy: policy, into: after.path)
                let note = "\(scenario), synchronisation \(call) lost, \(policy)"
                let kept = try DurabilityScenario.recorded(after.path("transfers"), note)
                #expect(kept.byteCount == DurabilityScenario.content.count, "\(note)")
                let part = DurabilityScenario.place(in: after.path("transfers")).appending("data.part")
                #expect(try LocalFileSystem().digest(ofFile: part) == DurabilityScenario.digest, "\(note)")
            }
        }
        #expect(failures > 0)
    }
}
