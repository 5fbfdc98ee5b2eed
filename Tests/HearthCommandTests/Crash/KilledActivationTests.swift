import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// A process that activates, goes back or answers is killed at every step of what it does to the disk, and at seeded moments.
@Suite(.serialized, .timeLimit(.minutes(30))) struct KilledActivationTests {
    private enum Deed: String, CaseIterable {
        case activate, rollback, use

        var words: [String] {
            switch self {
            case .activate, .use: ["activate", "tiny@2.0.0"]
            case .rollback: ["rollback", "tiny"]
            }
        }
    }

    private static let versions = ["1.0.0", "2.0.0"]

    private static func identity(_ version: String) throws -> ReleaseIdentity {
        ReleaseIdentity(
            family: try #require(Family("tiny")), version: try #require(ReleaseVersion(version)), variant: nil)
    }

    /// A home in which 1.0.0 is live and 2.0.0 beside it, or the other way round, or 2.0.0 was gone back from.
    private func home(_ folder: TemporaryFolder, for deed: Deed) async throws -> Path {
        let home = folder.path("template")
        let store = ModelStore(home: home)
        try await store.prepare()
        for version in Self.versions {
            let data = Data("weights of \(version)".utf8)
            let identity = try Self.identity(version)
            let name = try #require(RelativePath("weights.onnx"))
            let path = try folder.write("template/transfers/\(version)/data.part", data)
            let digest = SHA256Digest(hashing: data)
            let file = RemoteFile(name: name, size: .exact(UInt64(data.count)), digest: digest, locations: [])
            _ = try await store.install(
                Release(identity: identity, id: version, file: file, format: .onnx),
                files: [StagedFile(name: name, path: path, size: UInt64(data.count), digest: digest, isVerified: true)],
                origin: nil)
        }
        _ = try await store.activate(try Self.identity("1.0.0"))
        if deed != .activate { _ = try await store.activate(try Self.identity("2.0.0")) }
        if deed == .use { _ = try await store.rollBack(try Self.identity("1.0.0").family, because: "a test") }
        return home
    }

    private func copy(_ template: Path, _ folder: TemporaryFolder, _ name: String) throws -> Path {
        let home = folder.path(name)
        try FileManager.default.copyItem(atPath: template.string, toPath: home.string)
        return home
    }

    /// What holds at any moment: `active` leads to a release that is whole to its last byte.
    private func check(_ home: Path, _ note: String) async throws -> ReleaseState {
        let store = ModelStore(home: home)
        let family = try Self.identity("1.0.0").family
        let active = try #require(try await store.active(family), "\(note): nothing is live")
        #expect(try await store.verify(active).isIntact, "\(note)")
        let inventory = try await store.inventory()
        #expect(inventory.damaged.isEmpty && inventory.releases.count == 2, "\(note)")
        return try await store.state(of: family)
    }

    /// The next start finishes or undoes it without help; then the same deed succeeds.
    private func recover(_ home: Path, _ deed: Deed, _ note: String) async throws {
        _ = try await check(home, note)
        let start = try await CrashProbe.run(["live", home.string, "recover"])
        #expect(start.status == 0, "\(note): \(start.errors)")
        let state = try await check(home, note)
        let goal = try Self.identity(deed == .rollback ? "1.0.0" : "2.0.0")
        let isReached = state.active == goal
        if deed == .rollback {
            #expect(try state.isHeldBack(Self.identity("2.0.0")) == isReached, "\(note)")
        } else if isReached {
            #expect(state.probation?.release == goal, "\(note)")
        }
        if !isReached {
            let again = try await CrashProbe.run(["live", home.string] + deed.words)
            #expect(again.status == 0, "\(note): \(again.errors)")
        }
        #expect(try await check(home, note).active == goal, "\(note)")
        let layout = HomeLayout(home: home)
        let marks = MarkFiles(layout: layout, fileSystem: LocalFileSystem())
        // A kill in a probe is remembered until the release is live.
        #expect(try marks.families().flatMap { try marks.all(of: $0) }.isEmpty, "\(note)")
    }

    @Test(arguments: ["activate", "rollback", "use"]) func everyStepCanBeItsLast(_ name: String) async throws {
        let deed = try #require(Deed(rawValue: name))
        let folder = try TemporaryFolder()
        let template = try await home(folder, for: deed)
        let whole = try await CrashProbe.run(["live", try copy(template, folder, "whole").string] + deed.words)
        try #require(whole.status == 0, "\(whole.errors)")
        let expected =
            ["rename active", "rename state.json", "synchronizeFolder tiny"]
            + (deed == .rollback ? [] : ["rename prepared.json", "makeFolder 2.0.0.tmp"])
        let seen = Set(whole.steps.map(\.description))
        #expect(expected.allSatisfy(seen.contains), "of \(seen.sorted())")

        var occurrences: [KillingFileSystem.Step: Int] = [:]
        var kills: [KillingFileSystem.Kill] = []
        for step in whole.steps {
            occurrences[step, default: 0] += 1
            kills.append(.init(step, occurrence: occurrences[step] ?? 1, .before))
            kills.append(.init(step, occurrence: occurrences[step] ?? 1, .after))
        }
        var generator = SeededGenerator(seed: 11)
        for (number, kill) in kills.enumerated() {
            let isSwitch = ["active", "state.json"].contains { kill.step.name.hasPrefix($0) }
            guard CrashSuite.isFull || isSwitch || Int.random(in: 0..<4, using: &generator) == 0 else { continue }
            let note = "\(deed), \(kill.moment) \(kill.occurrence) \(kill.step)"
            let home = try copy(template, folder, "home-\(number)")
            let killed = try await CrashProbe.run(["live", home.string] + deed.words, kill: kill)
            // Marks have a name of their own in every run, so that some steps come no second time.
            guard killed.status == 128 + SIGKILL else { continue }
            try await recover(home, deed, note)
            try LocalFileSystem().removeTree(home)
        }
    }

    @Test func aKillAtAnyMomentIsRecoveredFrom() async throws {
        let seed: UInt64 = 20_261_122
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        var templates: [Deed: Path] = [:]
        var steps: [Deed: Int] = [:]
        for deed in Deed.allCases {
            let place = try TemporaryFolder()
            let template = try await home(place, for: deed)
            templates[deed] = try copy(template, folder, "template-\(deed)")
            let whole = try await CrashProbe.run(
                ["live", try copy(template, folder, "whole-\(deed)").string] + deed.words)
            try #require(whole.status == 0, "\(whole.errors)")
            steps[deed] = whole.steps.count
        }
        var hits = 0
        for number in 0..<(CrashSuite.isFull ? 200 : 9) {
            let deed = Deed.allCases[number % Deed.allCases.count]
            let home = try copy(try #require(templates[deed]), folder, "home-\(number)")
            let child = try CrashProbe.start(["live", home.string] + deed.words)
            // Killed by another process, some time after so many of its steps.
            let last = Int.random(in: 0...(steps[deed] ?? 0), using: &generator)
            await child.steps(last)
            child.send(SIGKILL)
            let status = await child.result().status
            if status == 128 + SIGKILL { hits += 1 }
            try await recover(home, deed, "kill \(number) of seed \(seed), \(deed) after \(last) steps")
            try LocalFileSystem().removeTree(home)
        }
        print("crash suite: seed \(seed), \(hits) kills of activations, rollbacks and returns")
        #expect(hits > 0)
    }

    /// Two processes that die in an answer bring the release before back; one does not.
    @Test func dyingInAnAnswerTwiceRollsBack() async throws {
        let folder = try TemporaryFolder()
        let home = try await home(folder, for: .activate)
        _ = try await CrashProbe.run(["live", home.string, "activate", "tiny@2.0.0"])
        for round in 1...2 {
            // The first mark is that of the load: its removal never happens.
            let words = ["live", home.string, "answer", "tiny@2.0.0"]
            let whole = try await CrashProbe.run(
                words, kill: .init(.init(.synchronizeFolder, "2.0.0"), occurrence: 1, .after))
            #expect(whole.status == 128 + SIGKILL, "round \(round)")
            let start = try await CrashProbe.run(["live", home.string, "recover"])
            #expect(start.status == 0)
            let state = try await check(home, "round \(round)")
            #expect(try state.active == Self.identity(round == 1 ? "2.0.0" : "1.0.0"), "round \(round)")
            #expect(try state.isHeldBack(Self.identity("2.0.0")) == (round == 2))
        }
    }
}
