import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A refused artifact is not made or opened again: one that failed a probe its release passed, or whose build ended two processes.
@Suite(.timeLimit(.minutes(5))) struct RefusedArtifactTests {
    private let fixture: StoreFixture
    private let release: InstalledRelease
    private let preparer = ScriptedPreparer()
    /// The names of the files that fail their probe.
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
        #expect(builds == 1, "it is not made again")

        #expect(try await fixture.store.verify(release.identity).isIntact)
        let manager = manager
        let plan = try await manager.collectionPlan()
        #expect(plan.removals.isEmpty, "the refusal stays")
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func anotherActivationDoesNotMakeItAgain() async throws {
        try await manager.activate(release.identity)
        failing.withLock { $0 = [] }
        try await manager.activate(release.identity)
        #expect(try await opened() == "weights.gguf" && builds == 1)
    }

    /// The way out: the model is removed and pulled again.
    @Test func itIsForgottenWithItsRelease() async throws {
        try await manager.activate(release.identity)
        try await fixture.store.remove(release.identity.family, version: nil, variant: nil)
        failing.withLock { $0 = [] }
        try await fixture.install(release.identity)
        try await manager.activate(release.identity)
        #expect(try await opened() == "made.bin" && builds == 2)
    }

    @Test func whyItIsNotUsedIsTold() async throws {
        let store = fixture.store
        #expect(try await store.refusedArtifact(of: release) == nil)
        try await manager.activate(release.identity)
        let refused = try #require(try await store.refusedArtifact(of: release))
        #expect(refused.release == release.identity && refused.summary == "a small one")
        #expect(refused.reason == "it did not pass its probe: it says nothing")
        // Another recipe has made one since.
        preparer.use("smaller")
        #expect(try await opened() == "made.bin")
        #expect(try await store.refusedArtifact(of: release) == nil)
    }

    /// Control characters of a changed record do not reach a terminal.
    @Test(arguments: [
        ("", "the reason is unknown"), ("\u{1B}\n\u{202E}", "the reason is unknown"),
        ("\u{1B}[2J\u{9B}gone\r\n\u{202E}txet", " [2J gone   txet"),
        (String(repeating: "日", count: 1000), String(repeating: "日", count: 170)),
    ])
    func aRecordsReasonIsReadWithCare(written: String, told: String) async throws {
        try await manager.activate(release.identity)
        try rewrite { record in
            record["refused"] = written
            var recipe = record["recipe"] as? [String: Any]
            recipe?["summary"] = written
            record["recipe"] = recipe
            record["made"] = 1e300
        }
        let refused = try #require(try await fixture.store.refusedArtifact(of: release))
        #expect(refused.reason == told && refused.summary.utf8.count <= 512)
        #expect(!refused.summary.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(try await opened() == "weights.gguf" && builds == 1)
    }

    /// A damaged record refuses nothing: the artifact is made and probed once more.
    @Test(arguments: ["[]", #"{"reason": "x"}"#, "7"])
    func aGarbledRefusalIsNone(refused: String) async throws {
        try await manager.activate(release.identity)
        let garbled = try JSONSerialization.jsonObject(with: Data(refused.utf8), options: .fragmentsAllowed)
        try rewrite { $0["refused"] = garbled }
        #expect(try await fixture.store.refusedArtifact(of: release) == nil)
        #expect(try await opened() == "made.bin" && builds == 2)
    }

    /// Changes the record of what was refused.
    private func rewrite(_ change: (inout [String: Any]) -> Void) throws {
        let parent = fixture.layout.preparedFolder(of: release.identity)
        let folder = try #require(try LocalFileSystem().contents(of: parent).first)
        let path = parent.joined(folder).joined("artifact.json")
        var record = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: path.url)) as? [String: Any])
        change(&record)
        try JSONSerialization.data(withJSONObject: record).write(to: path.url)
    }

    /// If the release fails its probe as well, the artifact is not refused: too little memory may be the reason.
    @Test func aReleaseThatFailsAsWellSaysNothingOfIt() async throws {
        failing.withLock { $0 = ["made.bin", "weights.gguf"] }
        #expect(await code { try await manager.activate(release.identity) } == "probe-failed")
        #expect(try await opened() == "made.bin")
    }

    @Test func anotherRecipeMakesAnotherArtifact() async throws {
        try await manager.activate(release.identity)
        preparer.use("smaller")
        #expect(try await opened() == "made.bin")
    }

    @Test func onlyTheRecordIsKept() async throws {
        try await manager.activate(release.identity)
        #expect(try await fixture.store.artifact(of: release) == nil)
        let files = try LocalFileSystem().files(below: fixture.layout.preparedFolder(of: release.identity))
        #expect(files.map { $0.hasSuffix("/artifact.json") } == [true])
    }

    // MARK: - Processes that end during a build

    /// Leaves the lock file of the build in progress under another name, as a process does that ends there.
    private func ending(_ builds: Locked<Int>, lives: Locked<Bool>) -> ClosurePreparer {
        ClosurePreparer { path in
            builds.withLock { $0 += 1 }
            if lives.withLock(\.self) { return try Data("made".utf8).write(to: path.url) }
            try Data("half".utf8).write(to: path.url)
            let name = path.parent.lastComponent + "0"
            try LocalFileSystem().makeFolder(path.parent.parent.joined(name), permissions: 0o755)
            try Data().write(to: path.parent.parent.joined(name + ".lock").url)
            throw CancellationError()
        }
    }

    @Test(arguments: [false, true]) func twoUncleanEndsRefuseIt(activates: Bool) async throws {
        let (builds, lives) = (Locked(0), Locked(false))
        let preparer = ending(builds, lives: lives)
        @Sendable func once() async throws -> Path {
            let manager = fixture.manager(preparer: preparer, probe: ScriptedProbe())
            try await manager.recover()
            if activates { try await manager.activate(release.identity) }
            return try await manager.weightsToOpen(of: release)
        }
        for count in 1...2 {
            await #expect(throws: CancellationError.self) { try await once() }
            #expect(builds.withLock(\.self) == count)
        }
        lives.withLock { $0 = true }
        for _ in 1...2 { #expect(try await once() == release.weights) }
        #expect(builds.withLock(\.self) == 2)
        #expect(try fixture.marks().isEmpty && fixture.temporaryNames().isEmpty)
        let told = try await fixture.store.refusedArtifact(of: release)
        #expect(told?.reason == "the program ended 2 times while it was built")
    }

    @Test func aFinishedBuildForgetsAnUncleanEnd() async throws {
        let (builds, lives) = (Locked(0), Locked(false))
        let manager = fixture.manager(preparer: ending(builds, lives: lives))
        await #expect(throws: CancellationError.self) { try await manager.weightsToOpen(of: release) }
        try await fixture.manager().recover()
        let left = try fixture.temporaryNames().filter { $0.hasSuffix(".lock") }
        #expect(left.count == 1, "it counts until the artifact is made")
        lives.withLock { $0 = true }
        #expect(try await manager.weightsToOpen(of: release).lastComponent == "made.bin")
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// A cancelled build counts no more from the moment of the cancellation, before the engine stops.
    @Test func aCancelledBuildIsNoUncleanEnd() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let fixture = fixture
        let preparer = ClosurePreparer { _ in
            begin.yield()
            // An engine that does not notice the cancellation.
            await Task.detached { for await _ in gate { break } }.value
            throw ScriptedPreparer.Failure()
        }
        let release = release
        let opening = Task { try await fixture.manager(preparer: preparer).weightsToOpen(of: release) }
        for await _ in begun { break }
        #expect(try fixture.temporaryNames().filter { $0.hasSuffix(".lock") }.count == 1)
        opening.cancel()
        while try fixture.temporaryNames().contains(where: { $0.hasSuffix(".lock") }) {
            await Task.yield()
        }
        open.yield()
        await #expect(throws: CancellationError.self) { try await opening.value }
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// Two builds in progress are not taken for unclean ends by a third process.
    @Test func aBuildInProgressDoesNotCount() async throws {
        let (fixture, release) = (fixture, release)
        let third = ClosurePreparer { try Data("the third".utf8).write(to: $0.url) }
        let second = ClosurePreparer { target in
            let path = try await fixture.manager(preparer: third).weightsToOpen(of: release)
            #expect(try fixture.text(path) == "the third")
            try Data("the second".utf8).write(to: target.url)
        }
        let first = ClosurePreparer { target in
            _ = try await fixture.manager(preparer: second).weightsToOpen(of: release)
            try Data("the first".utf8).write(to: target.url)
        }
        let path = try await fixture.manager(preparer: first).weightsToOpen(of: release)
        #expect(try fixture.text(path) == "the third" && fixture.temporaryNames().isEmpty)
    }
}
