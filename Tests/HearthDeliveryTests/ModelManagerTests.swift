import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// The whole river of bytes: a manifest and files behind a loopback server, a home on the disk.
@Suite(.timeLimit(.minutes(10))) struct ModelManagerTests {
    private static let http = DefaultHTTPClient()
    static let old = Content.pattern(count: 40_000)
    static let new = Content.pattern(count: 50_000)

    let folder: TemporaryFolder
    private let clock = HurriedClock()
    private let offers = Locked<[Offer]>([])
    let server: FaultServer

    /// One entry of the scripted origin.
    struct Offer: Sendable {
        var version: String
        var variant = "q4_1"
        var content: Content
        var hasDigest = true
        var memory: UInt64?
        var extra = ""

        var filename: String { "toy-v\(version)-\(variant).gguf" }

        var json: String {
            let digest = hasDigest ? #""sha256": "\#(SHA256Digest(hashing: content.bytes).hex)","# : ""
            let needs = memory.map { #""requirements": {"memoryBytes": \#($0)},"# } ?? ""
            return #"""
                {"id": "\#(filename)", "version": "\#(version)", "filename": "\#(filename)", "sizeBytes": \#(content.count),
                 \#(digest) \#(needs) \#(extra) "minAppVersion": "1.0.0", "downloadUrl": "models/\#(filename)"}
                """#
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        let offers = offers
        server = try FaultServer { request in
            let all = offers.withLock { $0 }
            guard request.path != "/models.json" else {
                let entries = all.map(\.json).joined(separator: ",")
                let current = all.last?.version ?? "1.0.0"
                return .text(#"{"schemaVersion": 1, "currentVersion": "\#(current)", "models": [\#(entries)]}"#)
            }
            guard let offer = all.first(where: { "/models/\($0.filename)" == request.path }) else { return Reply(404) }
            return FaultServer.answer(request, with: offer.content)
        }
    }

    func offer(_ list: Offer...) { offers.withLock { $0 = list } }

    func manager(
        memory: UInt64 = 8 << 30, appVersion: SemanticVersion? = nil,
        network: any NetworkMonitor = UnmonitoredNetwork(), preparer: (any ReleasePreparer)? = nil,
        probe: (any ReleaseProbe)? = nil, ignoresMemory: Bool = false
    ) throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            http: Self.http, time: clock.time, network: network, deviceMemory: memory,
            ignoresMemory: ignoresMemory, appVersion: appVersion, preparer: preparer, probe: probe)
    }

    func modelRequests() -> [String] { server.requests.map(\.path).filter { $0 != "/models.json" } }

    @Test func pullsInstallsAndActivates() async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let manager = try manager()
        let outcome = try await manager.pull(ModelReference(parsing: "toy"))
        guard case .installed(let release, let fetched) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(release.identity.description == "toy@1.0.0:q4_1")
        #expect(release.isActive)
        #expect(release.receipt.isVerified)
        #expect(fetched == Self.old.count)
        let weights = try #require(release.weights)
        #expect(try LocalFileSystem().digest(ofFile: weights) == SHA256Digest(hashing: Self.old.bytes))
        let leftovers = try LocalFileSystem().contents(of: manager.store.transfersFolder)
        #expect(leftovers == [], "a finished transfer leaves nothing behind")
    }

    @Test func aSecondPullFetchesNoModelByte() async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        _ = try await manager().pull(ModelReference(parsing: "toy"))
        let outcome = try await manager().pull(ModelReference(parsing: "toy"))
        guard case .alreadyInstalled(let release) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(release.isActive)
        #expect(modelRequests().count == 1)
    }

    @Test func aNewVersionBecomesActiveAndTheOldStays() async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let manager = try manager()
        _ = try await manager.pull(ModelReference(parsing: "toy"))
        offer(Offer(version: "1.0.0", content: Self.old), Offer(version: "1.1.0", content: Self.new))
        let findings = try await manager.updates()
        guard case .newVersion(let found)? = findings.first?.reason else {
            Issue.record("\(findings)")
            return
        }
        #expect(found.release.identity.version.name == "1.1.0")
        let outcome = try await manager.pull(ModelReference(parsing: "toy"))
        #expect(outcome.release.identity.version.name == "1.1.0")
        #expect(try await manager.installed().map(\.identity.version.name).sorted() == ["1.0.0", "1.1.0"])
        #expect(try await manager.updates().map(\.reason) == [.upToDate])
        let back = try await manager.use(
            outcome.release.identity.family, version: ReleaseVersion("1.0.0"), variant: nil)
        #expect(back.isActive)
    }

    @Test func anOlderVersionIsRefusedUnlessAsked() async throws {
        offer(Offer(version: "2.0.0", content: Self.new))
        let manager = try manager()
        _ = try await manager.pull(ModelReference(parsing: "toy"))
        offer(Offer(version: "1.0.0", content: Self.old))
        let error = await #expect(throws: DeliveryError.self) { try await manager.pull(ModelReference(parsing: "toy")) }
        #expect(error?.code == .downgrade)
        var options = PullOptions()
        options.allowDowngrade = true
        let outcome = try await manager.pull(ModelReference(parsing: "toy"), options: options)
        #expect(outcome.release.identity.version.name == "1.0.0")
    }

    @Test func aNamedOlderVersionIsMeant() async throws {
        offer(Offer(version: "1.0.0", content: Self.old), Offer(version: "2.0.0", content: Self.new))
        let manager = try manager()
        _ = try await manager.pull(ModelReference(parsing: "toy"))
        let outcome = try await manager.pull(ModelReference(parsing: "toy@1.0.0"))
        #expect(outcome.release.identity.version.name == "1.0.0")
    }

    @Test func withoutADigestOnlyWhoInsistsGetsIt() async throws {
        offer(Offer(version: "1.0.0", content: Self.old, hasDigest: false))
        let manager = try manager()
        let error = await #expect(throws: DeliveryError.self) { try await manager.pull(ModelReference(parsing: "toy")) }
        #expect(error?.code == .digestMissing)
        #expect(modelRequests().isEmpty, "refused before the first byte")
        var options = PullOptions()
        options.allowUnverified = true
        let outcome = try await manager.pull(ModelReference(parsing: "toy"), options: options)
        #expect(!outcome.release.receipt.isVerified)
    }

    /// Nobody vouches for its bytes: the version says whether it is the same, and the length as far as that is known.
    @Test func whatHasNoDigestIsNotFetchedTwice() async throws {
        var options = PullOptions()
        options.allowUnverified = true
        offer(Offer(version: "1.0.0", content: Self.old, hasDigest: false))
        let manager = try manager()
        _ = try await manager.pull(ModelReference(parsing: "toy"), options: options)
        for options in [options, PullOptions()] {
            guard
                case .alreadyInstalled(let release) = try await manager.pull(
                    ModelReference(parsing: "toy"), options: options)
            else {
                Issue.record("it came again")
                return
            }
            #expect(!release.receipt.isVerified)
        }
        #expect(modelRequests().count == 1)
        offer(Offer(version: "1.0.1", content: Self.old, hasDigest: false))
        #expect(
            try await manager.pull(ModelReference(parsing: "toy"), options: options).release.identity.version.name
                == "1.0.1")
        #expect(modelRequests().count == 2)
        offer(Offer(version: "1.0.1", content: Self.new, hasDigest: false))
        let other = try await manager.pull(ModelReference(parsing: "toy"), options: options)
        #expect(other.release.receipt.totalSize == Self.new.count, "another length is another file")
    }

    /// A publisher replaces the bytes of the version that is live: they are another release, with a trial and a way back.
    @Test(arguments: [true, false])
    func otherBytesOfTheLiveVersionAreTriedFirst(_ hasDigest: Bool) async throws {
        let fails = Locked(false)
        let probe = ScriptedProbe { _ in
            if fails.withLock({ $0 }) { throw StoreError(.releaseDamaged, "it says nothing") }
            return ScriptedProbe.report()
        }
        let manager = try manager(preparer: ScriptedPreparer(), probe: probe)
        let ready = Locked(0)
        await manager.onReady { _ in ready.withLock { $0 += 1 } }
        var options = PullOptions()
        options.allowUnverified = true
        options.refresh = true
        offer(Offer(version: "1.0.0", content: Self.old, hasDigest: hasDigest))
        let first = try await manager.pull(ModelReference(parsing: "toy"), options: options).release
        for _ in 0..<3 { try await manager.recordAnswer(first.identity) }
        let before = try await manager.store.state(of: first.identity.family)
        #expect(before.active == first.identity && before.probation == nil)

        offer(Offer(version: "1.0.0", content: Self.new, hasDigest: hasDigest))
        fails.withLock { $0 = true }
        let refusal = await code { try await manager.pull(ModelReference(parsing: "toy"), options: options) }
        #expect(refusal == "probe-failed")
        #expect(try await manager.store.active(first.identity.family) == first)
        #expect(try Data(contentsOf: try #require(first.weights).url) == Data(Self.old.bytes))
        let installed = try await manager.store.installed().map(\.identity)
        let tagged = try #require(installed.last)
        #expect(installed == [first.identity, tagged] && tagged.published == first.identity && tagged.content != nil)
        var refused = try await manager.store.state(of: first.identity.family)
        #expect(refused.heldBack.map(\.release) == [tagged])
        refused.heldBack = []
        #expect(refused == before)
        #expect(ready.withLock { $0 } == 1)

        let (tries, requests) = (probe.asked.withLock { $0.count }, modelRequests().count)
        let again = await code { try await manager.pull(ModelReference(parsing: "toy"), options: options) }
        #expect(again == "held-back" && probe.asked.withLock { $0.count } == tries, "no person asked for it")
        #expect(modelRequests().count == requests, "it is on this device")
        #expect(try await manager.updates(of: nil, .now).map(\.reason) == [.upToDate])
        #expect(try await manager.offers(.now).stays == [first.identity.family: .upToDate])
        #expect(try await manager.available().map(\.objection) == [nil])

        fails.withLock { $0 = false }
        options.retryHeldBack = true
        let resolved = try await manager.resolve(ModelReference(parsing: "toy"), options: options)
        if hasDigest { #expect(resolved.heldBackNote?.hasPrefix("\(tagged) is held back") == true) }
        let second = try await manager.pull(resolved, options: options).release
        #expect(second.isActive && second.identity == tagged && modelRequests().count == requests)
        #expect(try Data(contentsOf: try #require(second.weights).url) == Data(Self.new.bytes))
        #expect(probe.asked.withLock { $0.last }?.lastComponent == "made.bin", "as it is going to be used")
        let state = try await manager.store.state(of: tagged.family)
        #expect(state.probation?.release == tagged && state.previous == first.identity && state.heldBack.isEmpty)
        #expect(ready.withLock { $0 } == 2)
        #expect(try await manager.updates(of: nil, .now).map(\.reason) == [.upToDate])

        let rollback = try await manager.rollback(tagged.family)
        #expect(rollback.from == tagged && rollback.to?.identity == first.identity)
        #expect(
            try await manager.pull(ModelReference(parsing: "toy@1.0.0"), options: options).release.identity == tagged)
    }

    /// The origin goes on to a third content: the second is the way back, and the first goes.
    @Test func anOvertakenContentIsCollected() async throws {
        let manager = try manager()
        var options = PullOptions()
        options.refresh = true
        var identities: [ReleaseIdentity] = []
        for content in [Self.old, Self.new, Content.pattern(count: 60_000)] {
            offer(Offer(version: "1.0.0", content: content))
            identities.append(try await manager.pull(ModelReference(parsing: "toy"), options: options).release.identity)
        }
        #expect(Set(identities).count == 3)
        #expect(try await Set(manager.installed().map(\.identity)) == Set(identities.dropFirst()))
    }

    /// A release that is all there is, and is held back, is refused unless a person asks for it.
    @Test(arguments: [true, false]) func aHeldBackReleaseIsTriedAgainForAPerson(_ isPerson: Bool) async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let failing = ScriptedProbe { _ in throw StoreError(.releaseDamaged, "it says nothing") }
        #expect(await code { try await manager(probe: failing).pull(ModelReference(parsing: "toy")) } == "probe-failed")
        var options = PullOptions()
        options.retryHeldBack = isPerson
        let passing = try manager(probe: ScriptedProbe())
        let outcome = await code { [options] in
            try await passing.pull(ModelReference(parsing: "toy"), options: options)
        }
        #expect(outcome == (isPerson ? nil : "held-back"))
        let state = try await passing.store.state(of: try #require(Family("toy")))
        #expect(state.heldBack.isEmpty == isPerson && (state.active != nil) == isPerson)
        #expect(modelRequests().count == 1)
    }

    /// A start that goes on with interrupted transfers leaves a release alone that ended the program in its trials.
    @Test(arguments: ["toy", "toy@1.0.0"]) func aRestartTriesNothingAgainThatIsHeldBack(name: String) async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let first = try await manager().pull(ModelReference(parsing: "toy")).release
        let other = try manager().store
        let probe = ScriptedProbe.endingTwoProcesses(in: other)
        offer(Offer(version: "1.0.0", content: Self.new))
        var options = PullOptions()
        options.refresh = true
        let (ended, reference) = (try manager(probe: probe), try ModelReference(parsing: name))
        let wanted = options
        await #expect(throws: CancellationError.self) {
            _ = try await ended.pull(reference, options: wanted)
        }
        #expect(try await other.state(of: first.identity.family).heldBack.count == 1)
        #expect(probe.asked.withLock { $0.count } == 1)

        let outcomes = try await manager(probe: probe).restoreTransfers(options: options)
        #expect(outcomes.isEmpty, "the release is installed: \(outcomes)")
        #expect(probe.asked.withLock { $0.count } == 1)
        #expect(try await other.active(first.identity.family) == first)
    }
}
