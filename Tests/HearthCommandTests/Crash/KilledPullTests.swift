import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// The built program is killed with `SIGKILL` while it pulls.
@Suite(.serialized, .timeLimit(.minutes(60))) struct KilledPullTests {
    /// At any moment of the pull, seeded: `list` and `verify` work, the active release is whole, and the next pull ends with the
    /// right bytes and fetches what was not recorded, and no more.
    ///
    /// What a kill costs is what the program took from the network and did not record: at most 16 MiB in the median, and never
    /// more than the network may be ahead of the journal. To see it the program is stopped before it is killed: what the system has
    /// received for it and it has not read is then no part of what the server gave away.
    @Test func aPullKilledAtAnyMomentGoesOn() async throws {
        let size: UInt64 = TestExtent.isFull ? 256 << 20 : 16 << 20
        let lab = try await CrashLab(size: size)
        // The first pull of all pays for a cold cache.
        let whole = min(try await durationOfAPull(lab), try await durationOfAPull(lab))
        let seed: UInt64 = 20_261_121
        var generator = SeededGenerator(seed: seed)
        var costs: [UInt64] = []
        var lost: [UInt64] = []
        var late = 0
        for number in 0..<(TestExtent.isFull ? 200 : 4) {
            let share = Double.random(in: 0...1, using: &generator)
            let home = try lab.home("home-\(number)")
            let server = try lab.serve(bytesPerSecond: Self.pace)
            let pull = try ChildProcess(["pull", "big", "--quiet"], environment: try lab.environment(home, server))
            let note = "kill \(number) of seed \(seed), at \(share) of \(whole)"
            if number.isMultiple(of: 2) {
                // By the clock: also before the first byte and after the last.
                try await Task.sleep(for: whole * (1.02 * share))
            } else {
                // By the bytes, however busy this machine is.
                await server.wait { CrashLab.served($0) >= UInt64(Double(size) * share) }
            }
            pull.send(SIGSTOP)
            let taken = lab.taken(from: server)
            pull.send(SIGKILL)
            let status = await pull.result().status
            #expect(status == 128 + SIGKILL || status == 0, "\(note)")
            if status == 0 { late += 1 }

            let before = await lab.served(by: server)
            let recorded = try lab.recorded(home)
            try await lab.checkByCommand(home, server, note)
            let isInstalled = try await lab.checkHome(home, note)
            if !isInstalled {
                let cost = taken.subtracting(recorded).byteCount
                lost.append(cost)
                #expect(cost <= Self.ahead, "\(note): \(taken.byteCount) were taken")
            }

            let again = try await lab.hearth(["pull", "big", "--format", "json"], home, server)
            #expect(again.status == 0, "\(note): \(again.errors)")
            #expect(
                try fetched(again) == (isInstalled ? 0 : size - recorded.byteCount), "\(note): \(recorded) are recorded"
            )
            try await lab.checkDone(home, note)
            costs.append(await lab.served(by: server) - size)
            #expect(
                costs[number] <= Self.ahead + Self.underWay, "\(note): \(before) were served before")
            try LocalFileSystem().removeTree(home)
        }
        func summary(_ bytes: [UInt64]) -> String {
            let sorted = bytes.isEmpty ? [0] : bytes.sorted()
            return "median \(sorted[sorted.count / 2] >> 10) KiB, most \(sorted[sorted.count - 1] >> 10) KiB"
        }
        print(
            "crash suite: seed \(seed), \(costs.count) kills of a pull of \(size >> 20) MiB in \(whole), \(late) too late"
        )
        print("crash suite: taken from the network and not recorded at the kill: \(summary(lost))")
        print("crash suite: served in both runs beyond the file's size: \(summary(costs))")
        #expect(!lost.isEmpty)
        #expect(lost.sorted()[lost.count / 2] <= 16 << 20)
        #expect(late < (TestExtent.isFull ? costs.count / 5 : costs.count))
    }

    /// The most bytes a second on one connection.
    private static let pace = 16_000_000
    /// The most bytes that are not recorded: four records' worth come while a record of as many is on its way, and 11 MiB are in
    /// buffers.
    private static let ahead = 8 * TransferTuning().recordBytes + (11 << 20)
    /// What the server has given away and the program has not read: 4 MiB on each of 16 connections.
    private static let underWay: UInt64 = 16 * (4 << 20)

    /// What a pull says it fetched, in its last event.
    private func fetched(_ pull: ChildProcess.Result) throws -> UInt64? {
        let last = try #require(pull.output.split(separator: "\n").last)
        let event = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any]
        return event?["fetchedBytes"] as? UInt64
    }

    private func durationOfAPull(_ lab: CrashLab) async throws -> Duration {
        let home = try lab.home("home")
        let server = try lab.serve(bytesPerSecond: Self.pace)
        let start = ContinuousClock.now
        let pulled = try await lab.hearth(["pull", "big", "--quiet"], home, server)
        let whole = start.duration(to: .now)
        try #require(pulled.status == 0, "\(pulled.errors)")
        try await lab.checkDone(home, "without a kill")
        #expect(await lab.served(by: server) <= lab.content.count + Self.underWay)
        try LocalFileSystem().removeTree(home)
        return whole
    }
}
