import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What a trial has refused of what was made of a release, and passed without, is not made and opened again.
@Suite(.timeLimit(.minutes(5))) struct RefusedArtefactTests {
    private let fixture: StoreFixture
    private let release: InstalledRelease
    private let preparer = ScriptedPreparer()
    /// The names of what fails in a trial.
    private let failing = Locked<Set<String>>(["made.bin"])

    init() async throws {
        fixture = try StoreFixture()
        release = try await fixture.install(try StoreFixture.identity())
    }

    private var builds: Int { preparer.builds.withLock { $0 } }

    private var manager: ModelManager {
        let failing = failing
        return fixture.manager(
            preparer: preparer,
            probe: ScriptedProbe { candidate in
                if failing.withLock({ $0.contains(candidate.weights.lastComponent) }) {
                    throw StoreError(.releaseDamaged, "it says nothing")
                }
                return ScriptedProbe.report()
            })
    }

    /// The name of what an engine opens in a process that has just started.
    private func opened() async throws -> String {
        let installed = try #require(try await fixture.anotherStore().installed(release.identity))
        return try await manager.weightsToOpen(of: installed).lastComponent
    }

    @Test func itIsUsedAsItCameFromThenOn() async throws {
        #expect(try await manager.activate(release.identity).isActive)
        #expect(builds == 1)
        for _ in 1...2 { #expect(try await opened() == "weights.gguf") }
        #expect(builds == 1, "what has failed is not made again")

        #expect(try await fixture.store.verify(release.identity).isIntact)
        let manager = manager
        let plan = try await manager.collectionPlan()
        #expect(plan.removals.isEmpty, "what is known of it stays as long as it holds")
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func whoMakesItLiveOnceMoreHasItTriedAgain() async throws {
        try await manager.activate(release.identity)
        try await manager.activate(release.identity)
        #expect(builds == 2)
        #expect(try await opened() == "weights.gguf" && builds == 2)
        failing.withLock { $0 = [] }
        try await manager.activate(release.identity)
        #expect(try await opened() == "made.bin" && builds == 3)
        let folders = try LocalFileSystem().contents(of: fixture.layout.preparedFolder(of: release.identity))
        #expect(folders.count == 1)
    }

    /// Why it is not opened is known to whoever asks, as long as that holds.
    @Test func whyItIsNotUsedIsTold() async throws {
        let store = fixture.store
        #expect(try await store.refusedArtefact(of: release) == nil)
        try await manager.activate(release.identity)
        let refused = try #require(try await store.refusedArtefact(of: release))
        #expect(refused.release == release.identity && refused.summary == "a small one" && refused.wasTried)
        #expect(refused.reason.contains("it says nothing"))

        let other = try StoreFixture.release(release.identity, names: ["weights.gguf", "mmproj.gguf"])
        let replaced = try await store.install(other, files: try fixture.stage(other), origin: nil)
        #expect(try await store.refusedArtefact(of: replaced) == nil, "it holds other bytes")
    }

    @Test func whatHasPassedSinceIsNotRefused() async throws {
        try await manager.activate(release.identity)
        failing.withLock { $0 = [] }
        try await manager.activate(release.identity)
        #expect(try await fixture.store.refusedArtefact(of: release) == nil)
    }

    /// A record of another hand: without a reason it counts as it did, and a reason for a terminal is no more than words.
    @Test(arguments: [
        (nil, "the reason is unknown"), ("", "the reason is unknown"), ("\u{1B}\n\u{202E}", "the reason is unknown"),
        ("\u{1B}[2J\u{9B}gone\r\n\u{202E}txet", " [2J gone   txet"),
        (String(repeating: "日", count: 1000), String(repeating: "日", count: 170)),
    ])
    func aRecordsReasonIsReadWithCare(written: String?, told: String) async throws {
        try await manager.activate(release.identity)
        try rewrite { record in
            var refused = record["refused"] as? [String: Any]
            refused?["reason"] = written
            record["refused"] = refused
            var recipe = record["recipe"] as? [String: Any]
            recipe?["summary"] = written ?? "a small one"
            record["recipe"] = recipe
            record["made"] = 1e300
        }
        let refused = try #require(try await fixture.store.refusedArtefact(of: release))
        #expect(refused.reason == told && refused.summary.utf8.count <= 512)
        #expect(!refused.summary.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(try await opened() == "weights.gguf" && builds == 1)
    }

    /// What is no record of a refusal is none: the artefact is made and tried once more.
    @Test(arguments: ["[]", #"{"reason": "x"}"#, #"{"contentSha256": "00", "reason": "x"}"#, "7"])
    func aGarbledRefusalIsNone(refused: String) async throws {
        try await manager.activate(release.identity)
        let garbled = try JSONSerialization.jsonObject(with: Data(refused.utf8), options: .fragmentsAllowed)
        try rewrite { $0["refused"] = garbled }
        #expect(try await fixture.store.refusedArtefact(of: release) == nil)
        #expect(try await opened() == "made.bin" && builds == 2)
    }

    /// Changes the record of what was refused.
    private func rewrite(_ change: (inout [String: Any]) -> Void) throws {
        let parent = fixture.layout.preparedFolder(of: release.identity)
        let folder = try #require(try LocalFileSystem().contents(of: parent).first)
        let path = HomeLayout.join(HomeLayout.join(parent, folder), "prepared.json")
        var record = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: path.url)) as? [String: Any])
        change(&record)
        try JSONSerialization.data(withJSONObject: record).write(to: path.url)
    }

    /// Nobody tries it who makes the release live once more: then it is what it was.
    @Test func withoutATrialItStaysRefused() async throws {
        try await manager.activate(release.identity)
        var untried = ActivationOptions()
        untried.probes = false
        #expect(try await manager.activate(release.identity, options: untried).isActive)
        #expect(try await fixture.manager(preparer: preparer).activate(release.identity).isActive)
        #expect(try await opened() == "weights.gguf" && builds == 1)
    }

    /// There is no room for a trial beside the engine that is loaded, or no engine of this build runs it.
    @Test func aTrialThatDoesNotTakePlaceLeavesItRefused() async throws {
        try await manager.activate(release.identity)
        let silent = ScriptedProbe { _ in nil }
        #expect(try await fixture.manager(preparer: preparer, probe: silent).activate(release.identity).isActive)
        #expect(silent.asked.withLock { $0.map(\.lastComponent) } == ["made.bin", "weights.gguf"])
        for _ in 1...2 { #expect(try await opened() == "weights.gguf" && builds == 2) }
        let installed = try #require(try await fixture.store.installed(release.identity))
        let recipe = try #require(preparer.recipe.withLock { $0 })
        let refusal = try fixture.store.preparedFiles.refusal(of: recipe, for: installed)
        #expect(refusal?.reason.contains("it says nothing") == true, "for the reason it had")
    }

    /// Neither passes: that may be the memory of the moment, and says nothing of what was made.
    @Test func aReleaseThatFailsAsWellSaysNothingOfIt() async throws {
        failing.withLock { $0 = ["made.bin", "weights.gguf"] }
        #expect(await code { try await manager.activate(release.identity) } == "probe-failed")
        #expect(try await opened() == "made.bin")
    }

    @Test func anotherRecipeAndOtherBytesAreAnotherMatter() async throws {
        try await manager.activate(release.identity)
        let usual = try #require(preparer.recipe.withLock { $0 })
        preparer.use("smaller")
        #expect(try await opened() == "made.bin")
        preparer.recipe.withLock { $0 = usual }
        let names = ["weights.gguf", "mmproj.gguf"]
        let other = try StoreFixture.release(release.identity, names: names)
        _ = try await fixture.store.install(other, files: try fixture.stage(other), origin: nil)
        #expect(try await opened() == "made.bin")
    }

    /// An earlier version of the program knows no refusals: it finds nothing that is whole, and makes it.
    @Test func theRecordIsOneOfSomethingThatIsNotThere() async throws {
        try await manager.activate(release.identity)
        let installed = try #require(try await fixture.store.installed(release.identity))
        #expect(try await fixture.store.prepared(of: installed) == nil)
        let parent = fixture.layout.preparedFolder(of: release.identity)
        let folder = try #require(try LocalFileSystem().contents(of: parent).first)
        #expect(try LocalFileSystem().contents(of: HomeLayout.join(parent, folder)) == ["prepared.json"])
    }

    /// Ends the process that makes something, as far as the next one can tell.
    private func dying(_ builds: Locked<Int>, lives: Locked<Bool>) -> ClosurePreparer {
        let (layout, identity) = (fixture.layout, release.identity)
        return ClosurePreparer { path in
            let number = builds.withLock { builds in
                builds += 1
                return Int32(builds)
            }
            if lives.withLock({ $0 }) { return try Data("made".utf8).write(to: path.url) }
            let files = MarkFiles(layout: layout, fileSystem: LocalFileSystem())
            for found in try files.all(of: identity.family) where found.mark?.stage == .prepare {
                guard var mark = found.mark else { continue }
                mark.process = ProcessIdentity(number: number, started: "0", boot: "another boot", space: "")
                try files.put(mark, found.release, token: ActivityMark.token())
            }
            throw CancellationError()
        }
    }

    /// The engine's own code may end the program on a file: twice, and then the release is used as it came.
    @Test(arguments: ["made live", "opened"])
    func whatEndsTheProgramTwiceWhileItIsMadeIsNotMadeAgain(moment: String) async throws {
        let (builds, lives) = (Locked(0), Locked(false))
        let preparer = dying(builds, lives: lives)
        @Sendable func once() async throws -> String? {
            let manager = fixture.manager(preparer: preparer, probe: ScriptedProbe())
            try await manager.recover()
            if moment == "made live" { try await manager.activate(release.identity) }
            let installed = try #require(try await fixture.anotherStore().installed(release.identity))
            return try await manager.weightsToOpen(of: installed).lastComponent
        }
        for count in 1...2 {
            await #expect(throws: CancellationError.self) { try await once() }
            #expect(builds.withLock { $0 } == count)
        }
        let installed = try #require(try await fixture.anotherStore().installed(release.identity))
        for _ in 1...2 {
            let manager = fixture.manager(preparer: preparer)
            try await manager.recover()
            #expect(try await manager.weightsToOpen(of: installed).lastComponent == "weights.gguf")
        }
        #expect(builds.withLock { $0 } == 2)
        #expect(try fixture.marks().isEmpty && fixture.temporaryNames().isEmpty)

        // Whoever makes it live by hand has it made once more, and no oftener.
        await #expect(throws: CancellationError.self) {
            try await fixture.manager(preparer: preparer, probe: ScriptedProbe()).activate(release.identity)
        }
        let live = fixture.manager(preparer: preparer, probe: ScriptedProbe())
        #expect(try await live.activate(release.identity).isActive && builds.withLock { $0 } == 3)
        #expect(try await live.weightsToOpen(of: installed).lastComponent == "weights.gguf")
    }

    @Test func whatIsMadeAllTheSameHasNoEndsBehindIt() async throws {
        let (builds, lives) = (Locked(0), Locked(false))
        let manager = fixture.manager(preparer: dying(builds, lives: lives))
        let installed = try #require(try await fixture.anotherStore().installed(release.identity))
        await #expect(throws: CancellationError.self) { try await manager.weightsToOpen(of: installed) }
        #expect(try fixture.marks() == ["prepare"], "one counts until it is made")
        lives.withLock { $0 = true }
        try await fixture.manager().recover()
        #expect(try fixture.marks() == ["prepare"])
        #expect(try await manager.weightsToOpen(of: installed).lastComponent == "made.bin")
        #expect(try fixture.marks().isEmpty)
    }
}
