import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A process that activates, goes back, starts or answers is killed at every step of what it does to the disk, and at seeded
/// moments.
@Suite(.serialized, .timeLimit(.minutes(30))) struct KilledActivationTests {
    /// The steps that have to be among those killed at.
    private static let expected: [ActivationLab.Deed: [String]] = {
        let record = ["rename state.json", "synchronizeFolder tiny"]
        let switched = ["makeLink active.tmp", "rename active"] + record
        let tried = switched + ["rename artifact.json", "rename artifact", "rename mark", "removeFile mark"]
        let goneBack = switched + ["rename mark", "removeFile mark"]
        let retreated = record + ["removeFile active", "rename mark", "removeFile mark"]
        return [
            .activate: tried, .use: tried, .rollback: goneBack, .fail: goneBack, .failBeforeBundled: goneBack,
            .retreat: retreated, .failFirst: retreated,
        ]
    }()

    @Test(arguments: ActivationLab.Deed.allCases) func everyStepCanBeItsLast(_ deed: ActivationLab.Deed) async throws {
        let lab = try await ActivationLab(deed)
        let whole = try await lab.perform(try lab.copy("whole"))
        try #require(whole.status == 0, "\(whole.errors)")
        let seen = Set(whole.steps.map(\.description))
        let missing = (Self.expected[deed] ?? []).filter { !seen.contains($0) }
        #expect(missing.isEmpty, "of \(seen.sorted())")

        var occurrences: [KillingFileSystem.Step: Int] = [:]
        var kills: [KillingFileSystem.Kill] = []
        for step in whole.steps {
            occurrences[step, default: 0] += 1
            kills.append(.init(step, occurrence: occurrences[step] ?? 1, .before))
            kills.append(.init(step, occurrence: occurrences[step] ?? 1, .after))
        }
        var generator = SeededGenerator(seed: 11)
        var hits = 0
        for (number, kill) in kills.enumerated() {
            let isSwitch = ["active", "state.json"].contains { kill.step.name.hasPrefix($0) }
            let isFirst = isSwitch && hits == 0
            guard isFirst || TestExtent.includes(oneIn: isSwitch ? 12 : 64, using: &generator) else { continue }
            let note = "\(deed), \(kill.moment) \(kill.occurrence) \(kill.step)"
            let home = try lab.copy("home-\(number)")
            let killed = try await lab.perform(home, kill: kill)
            // Marks have a name of their own in every run, so that some steps come no second time.
            guard killed.status == 128 + SIGKILL else { continue }
            hits += 1
            if deed == .retreat {
                let other = lab.folder.path("other-\(number)")
                try FileManager.default.copyItem(atPath: home.string, toPath: other.string)
                try await lab.recoverWithoutTheApp(other, note)
            }
            try await lab.recover(home, note)
            try LocalFileSystem().removeTree(home)
        }
        print("crash suite: \(deed) killed at \(hits) of \(kills.count) moments")
        #expect(hits > 0 || kills.isEmpty)
    }

    @Test func aKillAtAnyMomentIsRecoveredFrom() async throws {
        let seed: UInt64 = 20_261_122
        var generator = SeededGenerator(seed: seed)
        var hits: [String] = []
        for deed in TestExtent.isFull ? ActivationLab.Deed.allCases : [.activate, .retreat, .fail] {
            let lab = try await ActivationLab(deed)
            let whole = try await lab.perform(try lab.copy("whole"))
            try #require(whole.status == 0, "\(whole.errors)")
            var kills = 0
            let rounds = TestExtent.isFull ? 40 : 2
            for number in 0..<rounds {
                let home = try lab.copy("home-\(number)")
                let child = try lab.begin(home)
                // Killed by another process, some time after so many of its steps; once before the first.
                let last = number == 0 ? 0 : Int.random(in: 0...whole.steps.count, using: &generator)
                await child.steps(last)
                child.send(SIGKILL)
                let status = await child.result().status
                if status == 128 + SIGKILL { kills += 1 }
                try await lab.recover(home, "kill \(number) of seed \(seed), \(deed) after \(last) steps")
                try LocalFileSystem().removeTree(home)
            }
            hits.append("\(deed) \(kills) of \(rounds)")
            #expect(kills > 0, "\(deed)")
        }
        print("crash suite: seed \(seed), kills of \(hits.joined(separator: ", "))")
    }

    /// Two processes that die in an answer bring the release before back; one does not.
    @Test(arguments: [ActivationLab.Deed.activate, .retreat]) func dyingInAnAnswerTwiceGoesBack(
        _ deed: ActivationLab.Deed
    ) async throws {
        let lab = try await ActivationLab(deed)
        let home = try lab.copy("home")
        let two = try lab.identity("2.0.0")
        try await lab.putOnProbation(home)
        for round in 1...2 {
            try await lab.endInAnAnswer(home)
            try await lab.start(home)
            let state = try await lab.check(home, "round \(round)")
            let before = deed == .retreat ? nil : try lab.identity("1.0.0")
            #expect(state.active == (round == 1 ? two : before), "round \(round)")
            #expect(state.isHeldBack(two) == (round == 2))
        }
    }
}
