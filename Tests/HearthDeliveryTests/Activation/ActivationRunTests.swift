import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// The transaction on a disk, with scripted engines.
@Suite(.timeLimit(.minutes(10))) struct ActivationRunTests {
    private let one: ReleaseIdentity
    private let two: ReleaseIdentity
    private let fixture: StoreFixture

    init() async throws {
        one = try StoreFixture.identity("1.0.0")
        two = try StoreFixture.identity("2.0.0")
        fixture = try StoreFixture()
        try await fixture.install(one, activate: true)
        try await fixture.install(two)
    }

    private func state() async throws -> ReleaseState { try await fixture.anotherStore().state(of: one.family) }

    /// Who insisted on a release that is too large has it tried all the same.
    @Test(arguments: [false, true])
    func theProbeHearsThatMemoryIsIgnored(isIgnored: Bool) async throws {
        let fixture = try StoreFixture()
        let heard = Locked<Bool?>(nil)
        let probe = ScriptedProbe { candidate in
            heard.withLock { $0 = candidate.ignoresMemory }
            return ScriptedProbe.report()
        }
        var options = PullOptions()
        options.ignoreMemory = isIgnored
        let file = try fixture.folder.write("toy-v1.0.0-q4.gguf", Data("weights".utf8))
        _ = try await fixture.manager(probe: probe).pull(.file(file), options: options)
        #expect(heard.withLock { $0 } == isIgnored)
    }

    @Test func aReleaseThatAnswersBecomesLiveAndIsOnProbation() async throws {
        let probe = ScriptedProbe()
        let stages = Locked<[ActivationProgress]>([])
        let release = try await fixture.manager(probe: probe).activate(two) { stage in
            stages.withLock { $0.append(stage) }
        }
        #expect(release.isActive)
        #expect(probe.asked.withLock { $0 } == [release.weights])
        #expect(stages.withLock { $0 } == [.verifying, .probing])
        let state = try await state()
        #expect(state.active == two && state.previous == one && state.probation?.release == two)
        #expect(try fixture.marks().isEmpty)
    }

    @Test func withoutAnybodyToTryItItBecomesLiveAtOnce() async throws {
        #expect(try await fixture.manager().activate(two).isActive)
        let silent = ScriptedProbe { _ in nil }
        #expect(try await fixture.manager(probe: silent).activate(one).isActive)
        var options = ActivationOptions()
        options.probes = false
        let refusing = ScriptedProbe { _ in throw StoreError(.releaseDamaged, "no") }
        #expect(try await fixture.manager(probe: refusing).activate(two, options: options).isActive)
        #expect(refusing.asked.withLock { $0.isEmpty })
    }

    @Test func aReleaseThatFailsIsHeldBackAndNothingElseChanges() async throws {
        let before = try await state()
        let probe = ScriptedProbe { _ in throw StoreError(.releaseDamaged, "it has\u{1B} no vocabulary") }
        #expect(await code { try await fixture.manager(probe: probe).activate(two) } == "probe-failed")
        var after = try await state()
        #expect(after.heldBack(two)?.reason == "it has  no vocabulary")
        after.heldBack = []
        #expect(after == before)
        #expect(try fixture.marks().isEmpty)
        #expect(try await fixture.store.installed(two) != nil, "its bytes stay")
        // Asked for by name it gets another chance, and is forgiven.
        #expect(try await fixture.manager(probe: ScriptedProbe()).activate(two).isActive)
        #expect(try await !state().isHeldBack(two))
    }

    /// What is live stays live: held back it would be refused by the next pull, and an older one with it.
    @Test func whatIsLiveAndFailsIsNotHeldBack() async throws {
        try await fixture.manager().activate(two)
        let before = try await state()
        let probe = ScriptedProbe { _ in throw StoreError(.releaseDamaged, "it was too slow") }
        let error = await #expect(throws: StoreError.self) {
            try await fixture.manager(probe: probe).activate(two)
        }
        #expect(error?.code == .probeFailed)
        #expect(error?.message == "tiny@2.0.0:q4 was tried and did not pass: it was too slow")
        #expect(error?.context.remedy?.hasPrefix("It was active before and still is.") == true)
        #expect(try await state() == before)
        #expect(try fixture.marks().isEmpty)
    }

    @Test func theCanaryOfItsPublisherIsAsked() async throws {
        let three = try StoreFixture.identity("3.0.0")
        var release = try StoreFixture.release(three)
        release.canary = Canary(prompt: "Capital of France?", pattern: "Paris")
        _ = try await fixture.store.install(release, files: try fixture.stage(release), origin: nil)
        #expect(try await fixture.store.installed(three)?.receipt.canary == release.canary)
        let prompts = Locked<[String]>([])
        func probe(_ answer: String) -> ScriptedProbe {
            ScriptedProbe { candidate in
                prompts.withLock { $0.append(candidate.canary.prompt) }
                return ScriptedProbe.report(answer)
            }
        }
        #expect(await code { try await fixture.manager(probe: probe("London")).activate(three) } == "probe-failed")
        #expect(try await fixture.manager(probe: probe("It is Paris.")).activate(three).isActive)
        #expect(prompts.withLock { $0 } == ["Capital of France?", "Capital of France?"])
    }

    private func damage(_ release: InstalledRelease) throws {
        let weights = try #require(release.weights)
        var data = try Data(contentsOf: weights.url)
        data[0] ^= 1
        try data.write(to: weights.url)
    }

    /// They were whole when they came, and damage would become part of an artifact that passes for whole.
    @Test func nothingIsMadeOfWeightsThatRottedMeanwhile() async throws {
        let preparer = ScriptedPreparer()
        let manager = fixture.manager(preparer: preparer, probe: ScriptedProbe())
        var options = ActivationOptions()
        options.rehashes = false
        let (live, new) = (
            try #require(try await fixture.store.installed(one)), try #require(try await fixture.store.installed(two))
        )
        for release in [live, new] { try damage(release) }
        let error = await #expect(throws: StoreError.self) { try await manager.weightsToOpen(of: live) }
        #expect(error?.code == .releaseDamaged)
        #expect(error?.message == "tiny@1.0.0:q4 is damaged: weights.gguf is not as it was installed")
        #expect(await code { try await manager.activate(two, options: options) } == "release-damaged")
        let state = try await state()
        #expect(state.active == one && !state.isHeldBack(two) && state.probation == nil)
        #expect(try preparer.builds.withLock { $0 } == 0 && fixture.marks().isEmpty)
        #expect(try LocalFileSystem().files(below: fixture.layout.preparedFolder(of: one.family)).isEmpty)
        // Where nothing is made, nothing is read.
        preparer.use(nil)
        #expect(try await manager.weightsToOpen(of: live) == live.weights)
        #expect(try await manager.activate(two, options: options).isActive)
    }

    /// What was made of them while they were whole is as good as it was.
    @Test func whatWasMadeBeforeIsOpenedWithoutReadingTheWeights() async throws {
        let preparer = ScriptedPreparer()
        let live = try #require(try await fixture.store.installed(one))
        let made = try await fixture.manager(preparer: preparer).weightsToOpen(of: live)
        try damage(live)
        #expect(try await fixture.manager(preparer: preparer).weightsToOpen(of: live) == made && made != live.weights)
    }

    @Test func changedBytesAreNeverTried() async throws {
        let probe = ScriptedProbe()
        try damage(try #require(try await fixture.store.installed(two)))
        #expect(await code { try await fixture.manager(probe: probe).activate(two) } == "release-damaged")
        #expect(probe.asked.withLock { $0.isEmpty })
        #expect(try await state().active == one)
        #expect(try await !state().isHeldBack(two), "another pull mends it")
        #expect(try fixture.marks().isEmpty)
    }

    @Test func aCancelledProbeIsNeitherAcceptedNorRefused() async throws {
        let (started, source) = AsyncStream<Void>.makeStream()
        let probe = ScriptedProbe { _ in
            source.yield()
            let (never, end) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            end.finish()
            throw CancellationError()
        }
        let manager = fixture.manager(probe: probe)
        let task = Task { [two] in try await manager.activate(two) }
        for await _ in started { break }
        #expect(try fixture.marks() == ["probe"])
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await state() == ReleaseState(active: one))
        #expect(try fixture.marks().isEmpty)
    }

    /// From the first byte that is read of it to the switch.
    @Test func aReleaseThatIsTriedIsNotRemoved() async throws {
        let (other, three) = (fixture.anotherStore(), try StoreFixture.identity("3.0.0"))
        try await fixture.store.activate(two)
        try await fixture.install(three, activate: true)
        let outcomes = Locked<[String?]>([])
        @Sendable func removeAll() async throws {
            for version in [one.version, nil] {
                let outcome = await code { try await other.remove(one.family, version: version, variant: nil) }
                outcomes.withLock { $0.append(outcome) }
            }
            // Overtaken by what is live, and wanted by somebody.
            let gone = try await other.collectSuperseded(one.family)
            #expect(!gone.contains(one))
        }
        let probe = ScriptedProbe { _ in
            try await removeAll()
            return ScriptedProbe.report()
        }
        let preparer = ClosurePreparer { target in
            try await removeAll()
            try Data("made".utf8).write(to: target.url)
        }
        try await fixture.manager(preparer: preparer, probe: probe).activate(one)
        #expect(outcomes.withLock { $0 } == Array(repeating: "release-in-use", count: 4))
        #expect(try await state().active == one)
        let leases = ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem())
        #expect(try leases.holders(of: one).isEmpty)
        // Also where it ends otherwise.
        let refusing = ScriptedProbe { _ in throw StoreError(.releaseDamaged, "no") }
        #expect(await code { try await fixture.manager(probe: refusing).activate(three) } == "probe-failed")
        #expect(try leases.holders(of: three).isEmpty)
    }

    @Test func anArtifactThatFailsItsProbeIsRemovedAtOnce() async throws {
        let probe = ScriptedProbe { candidate in
            if candidate.weights.lastComponent == "made.bin" { throw StoreError(.releaseDamaged, "no") }
            return ScriptedProbe.report()
        }
        try await fixture.manager(preparer: ScriptedPreparer(), probe: probe).activate(two)
        let left = try LocalFileSystem().files(below: fixture.layout.preparedFolder(of: two))
        #expect(left.map { $0.hasSuffix("/artifact.json") } == [true], "the refusal is recorded")
    }

    /// The marks of a release go with it, also where others of its family stay.
    @Test func aRemovedReleaseLeavesNoMark() async throws {
        try fixture.leave(.load, two)
        try await fixture.store.remove(two.family, version: two.version, variant: nil)
        #expect(try !fixture.exists(fixture.layout.marksFolder(of: two)))
    }

    // MARK: - The way back

    @Test func rollbackHoldsBackWhatItLeft() async throws {
        let manager = fixture.manager()
        try await manager.activate(two)
        let events = manager.events()
        let rollback = try await manager.rollback(one.family)
        #expect(rollback.from == two && rollback.to?.identity == one && rollback.to?.isActive == true)
        let state = try await state()
        #expect(state.active == one && state.previous == nil && state.probation == nil && state.isHeldBack(two))
        #expect(await code { try await manager.rollback(one.family) } == "nothing-before")
        #expect(await code { try await manager.rollback(Family("other") ?? one.family) } == "not-installed")
        #expect(try fixture.marks().isEmpty)
        for await event in events {
            guard case .rolledBack(let from, let to, _) = event else { continue }
            #expect(from == two && to == one)
            break
        }
    }

    @Test func aDamagedReleaseIsNotGoneBackTo() async throws {
        let manager = fixture.manager()
        try await manager.activate(two)
        try LocalFileSystem().removeFile(fixture.layout.folder(of: one).appending("receipt.json"))
        #expect(await code { try await manager.rollback(one.family) } == "receipt-damaged")
        #expect(try await state().active == two)
    }

    @Test func aPinHoldsUntilItIsTaken() async throws {
        let manager = fixture.manager()
        try await manager.pin(one)
        #expect(try await state().isPinned(against: two))
        try await manager.unpin(one.family)
        #expect(try await state().pinned == nil)
        #expect(await code { try await manager.pin(StoreFixture.identity("9.0.0")) } == "not-installed")
    }
}
