import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthDelivery

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
        #expect(found.identity.version.name == "1.1.0")
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

    /// A publisher replaces the bytes of the version that is live: they pass what any release does before they are.
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
        options.asksAgain = true
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
        var refused = try await manager.store.state(of: first.identity.family)
        #expect(refused.heldBackContents.map(\.release) == [first.identity])
        refused.heldBackContents = []
        #expect(refused == before)
        #expect(ready.withLock { $0 } == 1)

        let tries = probe.asked.withLock { $0.count }
        let readings = Locked(0)
        let again = await code {
            try await manager.pull(ModelReference(parsing: "toy"), options: options) { _ in
                readings.withLock { $0 += 1 }
            }
        }
        #expect(again == "held-back" && probe.asked.withLock { $0.count } == tries, "not by itself")
        #expect((readings.withLock { $0 } == 0) == hasDigest, "no byte is looked at where the catalog tells them all")
        let reason = hasDigest ? NoUpdate.notEligible(first.identity, .bytesHeldBack) : .upToDate
        #expect(try await manager.updates(of: nil, .now).map(\.reason) == [.noUpdate(reason)])
        #expect(try await manager.offers(.now).stays == [first.identity.family: reason])
        #expect(try await manager.available().map(\.objection) == [hasDigest ? .bytesHeldBack : nil])

        fails.withLock { $0 = false }
        let second = try await manager.pull(ModelReference(parsing: "toy@1.0.0"), options: options).release
        #expect(try await manager.store.state(of: first.identity.family).heldBackContents.isEmpty)
        #expect(second.isActive && second.identity == first.identity)
        #expect(try Data(contentsOf: try #require(second.weights).url) == Data(Self.new.bytes))
        #expect(probe.asked.withLock { $0.last }?.lastComponent == "made.bin", "as it is going to be used")
        #expect(try await manager.store.state(of: first.identity.family).probation?.release == first.identity)
        #expect(ready.withLock { $0 } == 2, "under the same name, and news all the same")
    }

    /// Bytes that end the program in their trial stay beside it: a start that goes on with what was under way leaves them alone,
    /// also where somebody had named the version.
    @Test(arguments: ["toy", "toy@1.0.0"]) func aRestartTriesNothingAgainThatIsHeldBack(name: String) async throws {
        offer(Offer(version: "1.0.0", content: Self.old))
        let first = try await manager().pull(ModelReference(parsing: "toy")).release
        let other = try manager().store
        let probe = ScriptedProbe.endingTwoProcesses(in: other)
        offer(Offer(version: "1.0.0", content: Self.new))
        var options = PullOptions()
        options.asksAgain = true
        let (ended, reference) = (try manager(probe: probe), try ModelReference(parsing: name))
        let wanted = options
        await #expect(throws: CancellationError.self) {
            _ = try await ended.pull(reference, options: wanted)
        }
        #expect(try await other.state(of: first.identity.family).heldBackContents.count == 1)
        #expect(probe.asked.withLock { $0.count } == 1)

        let outcomes = try await manager(probe: probe).restoreTransfers(options: options)
        #expect(outcomes.count == 1 && (outcomes.first?.error as? DeliveryError)?.code == .heldBack, "\(outcomes)")
        #expect(probe.asked.withLock { $0.count } == 1)
        #expect(try await other.active(first.identity.family) == first)
    }
}
