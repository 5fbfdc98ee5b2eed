import Foundation
import HearthBase
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthBackground

/// Every missing byte is ordered exactly once, whatever the order of reports: launches, kills, lost tasks, failures with
/// and without resume data, calls that come twice, vanished pieces and cancelled files.
@Suite struct BackgroundTransferPropertyTests {
    /// The steps of one run.
    private static let steps = 160

    @Test(arguments: 0..<12) func everyByteIsOrderedOnce(block: Int) {
        for seed in UInt64(block * 100)..<UInt64(block * 100 + 100) {
            var system = PlayedSystem(seed: seed)
            for _ in 0..<Self.steps { system.step() }
            system.settle()
            #expect(system.faults.isEmpty, "seed \(seed)")
            for (digest, held) in system.disk {
                #expect(held.byteCount == system.sizes[digest], "seed \(seed)")
            }
            #expect(system.app?.files.isEmpty == true, "seed \(seed)")
        }
    }

    /// A service that answers the question for its tasks before it reports those that have ended: bytes may come twice,
    /// and never stay away.
    @Test(arguments: 0..<3) func earlyRepliesLoseNothing(block: Int) {
        for seed in UInt64(block * 100)..<UInt64(block * 100 + 100) {
            var system = PlayedSystem(seed: seed, repliesEarly: true)
            for _ in 0..<Self.steps { system.step() }
            system.settle()
            #expect(system.faults.isEmpty, "seed \(seed)")
            for (digest, held) in system.disk {
                #expect(held.byteCount == system.sizes[digest], "seed \(seed)")
            }
        }
    }

    /// The runs above contain what they are for.
    @Test func theRunsAreVaried() {
        var (orders, continued, files) = (0, 0, 0)
        for seed in UInt64(0)..<50 {
            var system = PlayedSystem(seed: seed)
            for _ in 0..<Self.steps { system.step() }
            orders += system.begun.count
            continued += system.begun.count { $0.attempt > 0 }
            files += system.disk.count
        }
        #expect(orders > 1000 && continued > 100 && files > 50)
    }
}
