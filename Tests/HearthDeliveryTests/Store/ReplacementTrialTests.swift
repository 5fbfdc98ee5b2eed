import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// Other bytes of the live version are tried where they were staged, and what is live stays as it was until they have passed.
@Suite(.timeLimit(.minutes(5))) struct ReplacementTrialTests {
    /// Notes the stages of the marks that are taken away.
    private final class MarkedStages: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let stages = Locked<[ActivityMark.Stage]>([])

        func removeFile(_ path: Path) throws {
            if path.parent.parent.parent.lastComponent == "marks", ActivityMark.isToken(path.lastComponent) {
                let mark = try ActivityMark(data: try base.contents(ofFile: path, limit: Int(ActivityMark.sizeLimit)))
                stages.withLock { $0.append(mark.stage) }
            }
            try base.removeFile(path)
        }
    }

    private let fixture: StoreFixture
    private let identity: ReleaseIdentity
    private let preparer = ScriptedPreparer()

    init() throws {
        fixture = try StoreFixture()
        identity = try StoreFixture.identity()
    }

    private func replace(
        _ fixture: StoreFixture, _ probe: ScriptedProbe = ScriptedProbe(), names: [String] = ["weights.gguf"],
        salt: String = " again"
    ) async throws -> InstalledRelease {
        let release = try StoreFixture.release(identity, names: names, salt: salt)
        let (identity, preparer) = (identity, preparer)
        return try await fixture.store.install(
            release, files: try fixture.stage(release, salt: salt), origin: StoreFixture.origin,
            trial: { staged in
                _ = try await ActivationRun(
                    store: fixture.store, preparer: preparer, probe: probe, time: fixture.time, identity: identity,
                    staged: staged, rehashes: false, ignoresMemory: false, progress: { _ in }
                ).run()
            })
    }

    private func replace(_ probe: ScriptedProbe = ScriptedProbe()) async throws -> InstalledRelease {
        try await replace(fixture, probe)
    }

    private func reader(_ fixture: StoreFixture) throws -> ReleaseLease {
        try ReleaseLeases(layout: fixture.layout, fileSystem: LocalFileSystem()).acquire(identity)
    }

    /// Opens a release as an engine does: under a lease of its own.
    private func open(_ release: InstalledRelease) async throws -> Path {
        let lease = try reader(fixture)
        defer { lease.release() }
        return try await fixture.manager(preparer: preparer).weightsToOpen(of: release, under: lease)
    }

    private func state(_ fixture: StoreFixture) async throws -> ReleaseState {
        try await fixture.anotherStore().state(of: identity.family)
    }

    // MARK: - What is made of it

    @Test func whatIsLiveOpensTheSameUntilTheTrialHasPassed() async throws {
        let live = try await fixture.install(identity, activate: true)
        let old = try await open(live)
        // The first is stopped after its artefact was made, the second finds that.
        for _ in 1...2 {
            let stopped = ScriptedProbe { _ in throw CancellationError() }
            await #expect(throws: CancellationError.self) { try await replace(stopped) }
            #expect(try await fixture.store.prepared(of: live)?.path == old)
            #expect(preparer.builds.withLock { $0 } == 2)
        }
        let failing = ScriptedProbe { _ in throw StoreError(.releaseDamaged, "it says nothing") }
        #expect(await code { try await replace(failing) } == "probe-failed")
        #expect(try await open(live) == old && preparer.builds.withLock { $0 } == 2)

        let new = try await open(try await replace())
        #expect(try new != old && !fixture.exists(old), "the next opening takes it away")
        #expect(try LocalFileSystem().contents(of: fixture.layout.preparedFolder(of: identity)).count == 1)
    }

    @Test func whoOpensWhatIsLiveMeanwhileLeavesWhatIsTried() async throws {
        let live = try await fixture.install(identity, activate: true)
        let old = try await open(live)
        let (test, found) = (self, Locked<[Bool]>([]))
        let probe = ScriptedProbe { candidate in
            #expect(try await test.open(live) == old)
            let isThere = try test.fixture.exists(candidate.weights)
            found.withLock { $0.append(isThere) }
            return ScriptedProbe.report()
        }
        #expect(try await replace(probe).isActive)
        #expect(found.withLock { $0 } == [true])
    }

    /// The weights are the same, and so is what is made of them; another file is new.
    @Test func whatIsLiveKeepsWhatFailedWithTheOtherBytes() async throws {
        let live = try await fixture.install(identity, activate: true)
        let old = try await open(live)
        let accepts = Locked(false)
        let probe = ScriptedProbe { candidate in
            guard candidate.weights.lastComponent != "made.bin", accepts.withLock({ $0 }) else {
                throw StoreError(.releaseDamaged, "it says nothing")
            }
            return ScriptedProbe.report()
        }
        let names = ["weights.gguf", "mmproj.gguf"]
        #expect(await code { try await replace(fixture, probe, names: names, salt: "") } == "probe-failed")
        #expect(probe.asked.withLock { $0.map(\.lastComponent) } == ["made.bin", "weights.gguf"])
        #expect(try await open(live) == old && preparer.builds.withLock { $0 } == 1)

        accepts.withLock { $0 = true }
        let replaced = try await replace(fixture, probe, names: names, salt: "")
        #expect(try await fixture.store.prepared(of: replaced) == nil, "it is used as it is")
        #expect(try await open(replaced).lastComponent == "weights.gguf" && preparer.builds.withLock { $0 } == 1)
    }

    /// Nothing is in the place of what is tried then: what is made of it is nothing that was left behind.
    @Test func whoClearsUpMeanwhileLeavesWhatIsTried() async throws {
        let live = try await fixture.install(identity, activate: true)
        try LocalFileSystem().removeTree(live.folder)
        let (fixture, identity) = (fixture, identity)
        let probe = ScriptedProbe { candidate in
            #expect(candidate.weights.lastComponent == "made.bin")
            let other = fixture.manager()
            let plan = try await other.collectionPlan()
            #expect(!plan.removals.map(\.item).contains(.prepared(identity)))
            #expect(try await !fixture.anotherStore().removeStrayPrepared(identity))
            #expect(try fixture.exists(candidate.weights))
            return ScriptedProbe.report()
        }
        #expect(try await replace(probe).isActive)
        #expect(probe.asked.withLock { $0.count } == 1)
    }

    // MARK: - Readers

    @Test(arguments: ["in the trial", "in the last moment"])
    func whatIsReadMeanwhileStaysProven(_ moment: String) async throws {
        let disk = ReplacementTests.Intrusion()
        let fixture = try StoreFixture(fileSystem: disk)
        let live = try await fixture.install(identity, activate: true)
        try fixture.leave(.load, identity)
        let before = try await state(fixture)
        #expect(before.active == identity && before.probation == nil)
        let (test, lease) = (self, Locked<ReleaseLease?>(nil))
        let intrude = { @Sendable in
            let taken = try test.reader(fixture)
            lease.withLock { $0 = taken }
        }
        if moment == "in the last moment" {
            disk.body.withLock { $0 = intrude }
            disk.source.withLock { $0 = live.folder }
        }
        let probe = ScriptedProbe { _ in
            if moment == "in the trial" { try intrude() }
            return ScriptedProbe.report()
        }
        #expect(await code { try await test.replace(fixture, probe) } == "release-in-use")
        #expect(lease.withLock { $0 } != nil && probe.asked.withLock { $0.count } == 1)
        #expect(try await state(fixture) == before)
        #expect(try fixture.marks() == ["load"], "how often it ended is not forgotten")
        #expect(try await fixture.anotherStore().active(identity.family)?.receipt == live.receipt)
        lease.withLock { $0?.release() }
        #expect(try await replace(fixture).isActive)
        #expect(try await state(fixture).probation?.release == identity)
    }

    // MARK: - Others who decide

    /// Lets somebody do something as soon as files are put together below a family's folder.
    private final class Filling: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let body = Locked<(@Sendable () throws -> Void)?>(nil)

        func makeHardLink(at path: Path, to target: Path) throws {
            let body = body.withLock { body in
                defer { body = nil }
                return body
            }
            try body?()
            try base.makeHardLink(at: path, to: target)
        }
    }

    /// Installs other bytes, and lets `decide` come first when they are about to take their place.
    private func replace(
        _ probe: ScriptedProbe, on clock: ManualClock, of fixture: StoreFixture, _ disk: Filling,
        after decide: () async throws -> Void
    ) async throws -> String? {
        let held = Locked<FileLock?>(nil)
        disk.body.withLock { body in
            body = {
                let lock = try #require(try FileLock.tryAcquire(fixture.layout.lock))
                held.withLock { $0 = lock }
            }
        }
        let installing = Task { await code { try await replace(fixture, probe) } }
        await clock.sleepers(atLeast: 1)
        held.withLock { $0?.release() }
        try await decide()
        clock.advance(by: .seconds(1))
        return await installing.value
    }

    @Test func whatBecomesLiveInTheLastMomentIsReplacedAfterATrialOnly() async throws {
        let (disk, clock) = (Filling(), ManualClock())
        let fixture = try StoreFixture(fileSystem: disk, time: clock.time)
        let installed = try await fixture.install(identity)
        let probe = ScriptedProbe { _ in throw StoreError(.releaseDamaged, "it says nothing") }
        let outcome = try await replace(probe, on: clock, of: fixture, disk) {
            _ = try await fixture.anotherStore().activate(identity)
        }
        #expect(outcome == "probe-failed")
        #expect(probe.asked.withLock { $0.map(\.lastComponent) } == ["made.bin", "weights.gguf"])
        #expect(try await fixture.anotherStore().active(identity.family)?.receipt == installed.receipt)
    }

    @Test func whatIsNoLongerLiveTakesNobodysProbation() async throws {
        let (disk, clock) = (Filling(), ManualClock())
        let fixture = try StoreFixture(fileSystem: disk, time: clock.time)
        let other = try StoreFixture.identity("2.0.0")
        let live = try await fixture.install(identity, activate: true)
        try await fixture.install(other)
        try LocalFileSystem().removeTree(live.folder)
        let outcome = try await replace(ScriptedProbe(), on: clock, of: fixture, disk) {
            try await fixture.manager().activate(other)
        }
        #expect(outcome == nil)
        let after = try await state(fixture)
        #expect(after.active == other && after.probation?.release == other)
    }

    // MARK: - Ends

    /// The folder of what is live is gone, and the process ends in the trial: the next start finds what was staged, whole.
    @Test func whatComesToAnEmptyPlaceUntriedIsOnProbation() async throws {
        let live = try await fixture.install(identity, activate: true)
        try LocalFileSystem().removeTree(live.folder)
        let left = live.folder.parent.appendingTemporary(besides: identity.folderName)
        let probe = ScriptedProbe { candidate in
            try FileManager.default.copyItem(at: candidate.release.folder.url, to: left.url)
            throw CancellationError()
        }
        await #expect(throws: CancellationError.self) { try await replace(probe) }
        try fixture.leave(.probe, identity)
        let store = fixture.anotherStore()
        try await store.prepare()
        try await store.recover()
        let active = try #require(try await store.active(identity.family))
        #expect(try fixture.text(try #require(active.weights)) == "weights.gguf again of \(identity)")
        #expect(try await state(fixture).probation?.release == identity)
    }

    @Test func noEndOfTheBytesBeforeCountsAgainstTheNewOnes() async throws {
        try await fixture.install(try StoreFixture.identity("0.9.0"), activate: true)
        try await fixture.install(identity)
        try await fixture.manager().activate(identity)
        #expect(try await state(fixture).probation?.release == identity)
        try fixture.leave(.load, identity)
        _ = try await replace()
        try fixture.leave(.generate, identity, process: 2)
        let store = fixture.anotherStore()
        #expect(try await store.recover().isEmpty)
        #expect(try await store.active(identity.family)?.identity == identity)
        try fixture.leave(.generate, identity, process: 3)
        #expect(try await store.recover().map(\.from) == [identity], "its own two do")
    }

    /// Of a process that runs nobody knows yet how it ends.
    @Test func whatAProcessIsAtKeepsItsMark() async throws {
        try await fixture.install(identity, activate: true)
        let (fixture, identity) = (fixture, identity)
        let probe = ScriptedProbe { _ in
            try MarkFiles(layout: fixture.layout, fileSystem: LocalFileSystem())
                .put(ActivityMark(.load, at: fixture.time.now), identity, token: ActivityMark.token())
            return ScriptedProbe.report()
        }
        try fixture.leave(.generate, identity)
        #expect(try await replace(probe).isActive)
        #expect(try fixture.marks() == ["load"], "what ended with the bytes before is forgotten")
    }

    /// What is installed has not failed, also where another is live in the end: nobody is to be told that it has.
    @Test func whatFailsHoldsNothingBackThatHasItsName() async throws {
        let other = try StoreFixture.identity("2.0.0")
        try await fixture.install(identity, activate: true)
        try await fixture.install(other)
        let fixture = fixture
        let probe = ScriptedProbe { _ in
            #expect(try fixture.marks() == ["probe"])
            try await fixture.anotherStore().activate(other)
            throw StoreError(.releaseDamaged, "it says nothing")
        }
        #expect(await code { try await replace(probe) } == "probe-failed")
        let state = try await state(fixture)
        #expect(state.active == other && state.heldBack.isEmpty && state.heldBackContents.isEmpty)
        #expect(probe.asked.withLock { $0.count } == 2)
    }

    /// Processes that end in the trial count against what is tried, and not against what is live under its name.
    @Test func whatEndsTheProgramTwiceInItsTrialIsHeldBack() async throws {
        let live = try await fixture.install(identity, activate: true)
        let (fixture, identity) = (fixture, identity)
        let content = Locked<SHA256Digest?>(nil)
        let ended = ScriptedProbe { candidate in
            content.withLock { $0 = candidate.release.receipt.content }
            let files = MarkFiles(layout: fixture.layout, fileSystem: LocalFileSystem())
            let found = try #require(try files.all(of: identity.family).first)
            // Another process, which is not there any more, was at the same.
            var mark = try #require(found.mark)
            for number in Int32(1)...2 {
                mark.process = ProcessIdentity(number: number, started: "0", boot: "another boot", space: "")
                try files.put(mark, identity, token: ActivityMark.token())
                try await fixture.anotherStore().recover()
                let state = try await fixture.anotherStore().state(of: identity.family)
                #expect(state.heldBackContents.count == number - 1 && state.heldBack.isEmpty)
            }
            throw CancellationError()
        }
        await #expect(throws: CancellationError.self) { try await replace(ended) }
        let bytes = try #require(content.withLock { $0 })
        let held = try #require(try await state(fixture).heldBack(identity, content: bytes))
        #expect(held.reason.contains("2 times"))
        #expect(try await state(fixture).active == identity && live.isActive)
        #expect(try fixture.marks().isEmpty)
        // Who insists has them tried, and they pass.
        #expect(try await replace().isActive)
        #expect(try await state(fixture).heldBackContents.isEmpty)
    }

    /// A process that ended in between would have the next start make live what is not any more.
    @Test func aTrialDecidesNothingOnWhatIsLive() async throws {
        let disk = MarkedStages()
        let fixture = try StoreFixture(fileSystem: disk)
        let other = try StoreFixture.identity("2.0.0")
        try await fixture.install(identity, activate: true)
        try await fixture.install(other)
        let probe = ScriptedProbe { _ in
            try await fixture.anotherStore().activate(other)
            return ScriptedProbe.report()
        }
        _ = try await replace(fixture, probe)
        #expect(disk.stages.withLock { $0 } == [.prepare, .probe])
        #expect(try await state(fixture).active == other)
    }
}
