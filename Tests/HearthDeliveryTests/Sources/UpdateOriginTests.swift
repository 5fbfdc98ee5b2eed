import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Each family is looked for where it came from, and no source hides another.
@Suite(.timeLimit(.minutes(10))) struct UpdateOriginTests {
    private let lab: HubLab
    private let toy: Family

    init() throws {
        lab = try HubLab()
        toy = try #require(Family("toy"))
    }

    private func publish(_ origin: String, _ versions: String...) throws {
        let entries = try versions.map { version in
            let name = "toy-v\(version)-q4_1.gguf"
            let data = ModelFiles.gguf(texts: [("general.name", "\(origin) \(version)")])
            try lab.folder.write("\(origin)/\(name)", data)
            return #"""
                {"id": "\#(name)", "version": "\#(version)", "filename": "\#(name)", "sizeBytes": \#(data.count),
                 "sha256": "\#(SHA256Digest(hashing: data).hex)", "downloadUrl": "\#(name)"}
                """#
        }
        try lab.folder.write(
            "\(origin)/models.json",
            Data(#"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ","))]}"#.utf8))
    }

    private func address(_ origin: String) -> URL { lab.folder.path("\(origin)/models.json").url }

    private func manager(_ origins: String..., dead: URL? = nil) throws -> ModelManager {
        let configured = origins.map { Origin(name: $0, manifestURL: address($0)) }
        return ModelManager(
            home: lab.folder.path("home"),
            origins: configured + (dead.map { [Origin(name: "dead", manifestURL: $0)] } ?? []), http: HubLab.http,
            time: lab.clock.time, network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            hub: .success(try lab.settings()))
    }

    private func pull(_ origin: String, with manager: ModelManager) async throws {
        _ = try await manager.pull(
            .manifest(address(origin), family: toy, version: nil, variant: nil))
    }

    private func reasons(_ manager: ModelManager) async throws -> [String] {
        try await manager.updates().map { finding in
            switch finding.reason {
            case .newVersion(let offer): "\(finding.family): \(offer.release.identity.version)"
            case .noUpdate(let reason): "\(finding.family): \(reason.code)"
            }
        }
    }

    // MARK: One family does not hide another

    @Test func aFileOfOnesOwnHidesNoHub() async throws {
        lab.hub.publish("o/m", ["m.gguf": .large(.pattern(count: 5000))])
        let manager = try manager()
        _ = try await manager.pull(try ModelReference(parsing: "hf:o/m"))
        let file = try lab.folder.write("toy-v1.0.0-q4_1.gguf", Data("own".utf8))
        _ = try await manager.pull(.file(file))
        #expect(try await reasons(manager) == ["hf--o--m: up-to-date", "toy: not-offered"])
        let second = String(lab.hub.publish("o/m", ["m.gguf": .large(.pattern(offset: 5, count: 6000))]).prefix(12))
        #expect(try await reasons(manager) == ["hf--o--m: \(second)", "toy: not-offered"])
        let check = await manager.checkForUpdates()
        #expect(check.failures.isEmpty)
        #expect(check.installed.map(\.identity.version.name) == [second])
        // Asked about that one alone there is nobody who could be asked.
        #expect(await HubLab.code { _ = try await manager.updates(of: toy) } == "no-origin")
    }

    @Test func originsThatAreDownHideNoHub() async throws {
        lab.hub.publish("o/m", ["m.gguf": .large(.pattern(count: 5000))])
        let closed = try ClosedPort()
        let manager = try manager(dead: URL(string: "http://127.0.0.1:\(closed.port)/models.json"))
        _ = try await manager.pull(try ModelReference(parsing: "hf:o/m"))
        _ = try await manager.pull(.file(try lab.folder.write("toy-v1.0.0-q4_1.gguf", Data("own".utf8))))
        let second = String(lab.hub.publish("o/m", ["m.gguf": .large(.pattern(offset: 5, count: 6000))]).prefix(12))
        #expect(try await reasons(manager) == ["hf--o--m: \(second)", "toy: unreachable"])
        let check = await manager.checkForUpdates()
        #expect(check.installed.map(\.identity.version.name) == [second])
        #expect(check.failures.map(\.family) == [toy])
        #expect(await HubLab.code { _ = try await manager.updates(of: toy) } == "origin-unreachable")
    }

    // MARK: What an address keeps to itself

    /// A token in the address is written nowhere, and channels of one place are told apart by the names of their origins.
    @Test func theQueryOfAnOriginIsNotWrittenDown() async throws {
        let data = ModelFiles.gguf(texts: [])
        let digest = SHA256Digest(hashing: data).hex
        let server = try FaultServer { request in
            guard request.path == "/models.json" else { return FaultServer.answer(request, with: .data(data)) }
            let newest = request.query("channel") == "b-hidden" ? "1.1.0" : "2.0.0"
            let entries = ["1.0.0", newest].map { version in
                #"""
                {"id": "\#(version)", "version": "\#(version)", "filename": "toy-v\#(version)-q4_1.gguf",
                 "sizeBytes": \#(data.count), "sha256": "\#(digest)", "downloadUrl": "m.gguf"}
                """#
            }
            return .text(
                #"{"schemaVersion": 1, "currentVersion": "\#(newest)", "models": [\#(entries.joined(separator: ","))]}"#
            )
        }
        let origins = try ["a-hidden", "b-hidden"].map {
            Origin(name: String($0.prefix(1)), manifestURL: try server.url("/models.json?channel=\($0)"))
        }
        let manager = ModelManager(
            home: lab.folder.path("home"), origins: origins, http: HubLab.http, time: lab.clock.time,
            network: UnmonitoredNetwork(), deviceMemory: 8 << 30)
        let release = try await manager.pull(
            .manifest(origins[1].manifestURL, family: toy, version: ReleaseVersion("1.0.0"), variant: nil)
        ).release
        let receipt = HomeLayout.receipt(in: release.folder)
        let text = try String(contentsOf: receipt.url, encoding: .utf8)
        #expect(!text.contains("hidden"))
        let read = try #require(try await manager.store.installed(release.identity)).receipt
        #expect(read == release.receipt)
        #expect(read.origin?.query() == nil)
        #expect(try await reasons(manager) == ["toy: 1.1.0"])
        #expect(try await manager.collectionPlan().removals.isEmpty, "the copy of its list stays")
    }

    // MARK: The same name from another publisher

    @Test func anotherPublisherOfTheNameIsNoUpdate() async throws {
        try publish("mine", "1.0.0")
        try publish("another", "2.0.0")
        let manager = try manager("another", "mine")
        try await pull("mine", with: manager)
        var events = manager.events().makeAsyncIterator()
        #expect(try await reasons(manager) == ["toy: up-to-date"])
        #expect(await manager.checkForUpdates().installed.isEmpty)
        #expect(await events.next()?.summary == "up to date toy")
        #expect(try await manager.model(toy, policy: .latest).identity?.version.name == "1.0.0")
        var offers = try await manager.offers()
        #expect(offers.offers.map(\.release.identity.version.name) == ["1.0.0"])
        #expect(offers.offers.map(\.isUpdate) == [false])
        #expect(offers.stays == [toy: .upToDate])

        try publish("mine", "1.0.0", "1.1.0")
        offers = try await manager.offers()
        #expect(offers.offers.map(\.release.identity.version.name) == ["1.1.0"])
        #expect(offers.offers.map(\.isUpdate) == [true] && offers.stays.isEmpty)
        let check = await manager.checkForUpdates()
        #expect(check.installed.map(\.identity.version.name) == ["1.1.0"])
        #expect(check.installed.first?.receipt.origin?.path == address("mine").path)
    }

    @Test func whoWantsAnotherPublisherPullsFromThere() async throws {
        try publish("mine", "1.0.0")
        try publish("another", "2.0.0")
        let manager = try manager("another", "mine")
        try await pull("mine", with: manager)
        try publish("mine")
        #expect(try await reasons(manager) == ["toy: other-origin"])
        #expect(await manager.checkForUpdates().installed.isEmpty)
        #expect(try await manager.offers().offers.isEmpty)
        guard case .otherOrigin(let address, ["another"])? = try await manager.offers().stays[toy] else {
            Issue.record("\(try await manager.offers())")
            return
        }
        #expect(address == self.address("mine").path)
        try await pull("another", with: manager)
        try publish("another", "2.0.0", "2.1.0")
        #expect(try await reasons(manager) == ["toy: 2.1.0"])
    }

    /// An origin that moved has the same release under another address: nothing comes, and its updates do from then on.
    @Test(arguments: [true, false]) func whatMovedIsFollowedOnceItWasPulledFromThere(_ isNamed: Bool) async throws {
        try publish("mine", "1.0.0")
        let manager = try manager("moved", "mine")
        try await pull("mine", with: manager)
        try move("mine", to: "moved")
        try publish("mine")
        #expect(try await reasons(manager) == ["toy: other-origin"])
        #expect(await manager.checkForUpdates().installed.isEmpty)
        let reference: ModelReference =
            isNamed
            ? .manifest(address("moved"), family: toy, version: nil, variant: nil)
            : .family(toy, version: nil, variant: nil)
        guard case .alreadyInstalled(let release) = try await manager.pull(reference) else {
            Issue.record("it came again")
            return
        }
        #expect(release.isActive && release.receipt.origin?.path == address("moved").path)
        #expect(try await reasons(manager) == ["toy: up-to-date"])
        #expect(try await manager.store.verify(release).isIntact)
        try publish("moved", "1.1.0")
        #expect(try await reasons(manager) == ["toy: 1.1.0"])
    }

    /// The same bytes elsewhere are no reason by themselves: only who names the place, or has no choice, changes over.
    @Test func whoDoesNotMeanAnotherOriginStays() async throws {
        try publish("mine", "1.0.0")
        let mine = try manager("mine")
        try await pull("mine", with: mine)
        try move("mine", to: "moved")
        let closed = try ClosedPort()
        let both = try manager("moved", dead: URL(string: "http://127.0.0.1:\(closed.port)/models.json"))
        let release = try await both.pull(.family(toy, version: nil, variant: nil)).release
        #expect(release.receipt.origin?.path == address("mine").path, "who gives no answer may have it as well")
        // A folder that nobody publishes is no origin.
        let named = ModelReference.manifest(address("moved"), family: toy, version: nil, variant: nil)
        #expect(try await mine.pull(named).release.receipt.origin?.path == address("mine").path)
        #expect(try await both.pull(named).release.receipt.origin?.path == address("moved").path)
    }

    private func move(_ old: String, to new: String) throws {
        try FileManager.default.moveItem(
            atPath: lab.folder.path(old).string, toPath: lab.folder.path(new).string)
    }

    @Test func aFileOfOnesOwnFollowsTheOnlyOriginOfItsName() async throws {
        try publish("mine", "1.1.0")
        let manager = try manager("mine")
        _ = try await manager.pull(.file(try lab.folder.write("toy-v1.0.0-q4_1.gguf", Data("own".utf8))))
        #expect(try await reasons(manager) == ["toy: 1.1.0"])
        try publish("another", "2.0.0")
        let both = try self.manager("another", "mine")
        #expect(try await reasons(both) == ["toy: several-origins"])
        #expect(try await both.offers().offers.isEmpty)
        #expect(try await both.offers().stays == [toy: .severalOrigins(["another", "mine"])])
    }

    @Test func whatIsNotHereAndSeveralListIsOfferedByNone() async throws {
        try publish("mine", "1.0.0")
        try publish("another", "2.0.0")
        let offers = try await manager("another", "mine").offers()
        #expect(offers.offers.isEmpty)
        #expect((offers.problem as? DeliveryError)?.code == .ambiguous)
        #expect(try await manager("mine").offers().offers.count == 1)
    }

    // MARK: Why it stays

    @Test func aCheckTellsWhyAFamilyStays() async throws {
        try publish("mine", "1.0.0")
        let manager = try manager("mine")
        try await pull("mine", with: manager)
        var events = manager.events().makeAsyncIterator()
        func told() async -> NoUpdate? {
            guard case .noUpdate(toy, let reason)? = await events.next() else { return nil }
            return reason
        }
        let active = try #require(try await manager.availability(of: toy).identity)
        _ = await manager.checkForUpdates()
        #expect(await told() == .upToDate)
        try publish("mine", "1.0.0", "2.0.0")
        try await manager.pin(active)
        _ = await manager.checkForUpdates()
        #expect(await told() == .pinned(active))
        try await manager.unpin(toy)
        let newer = ReleaseIdentity(
            family: toy, version: try #require(ReleaseVersion("2.0.0")), variant: active.variant)
        _ = try await manager.store.holdBack(newer, because: "it failed")
        _ = await manager.checkForUpdates()
        #expect(await told() == .notEligible(newer, .heldBack))
        try publish("mine")
        _ = await manager.checkForUpdates()
        #expect(await told() == .notOffered)
    }
}
