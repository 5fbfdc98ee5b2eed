import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Repositories of a hub, brought over and installed.
@Suite(.timeLimit(.minutes(10))) struct HubPullTests {
    private let lab: HubLab

    init() throws { lab = try HubLab() }

    @Test func aWholeSnapshotArrivesByteForByte() async throws {
        let files = snapshotFiles()
        let commit = lab.hub.publish("Org/Tiny-Model", files)
        let manager = try lab.manager()
        let outcome = try await manager.pull(try ModelReference(parsing: "hf:Org/Tiny-Model"))
        let release = outcome.release
        #expect(release.identity.description == "hf--org--tiny-model@\(commit.prefix(12))")
        #expect(release.isActive)
        #expect(release.receipt.isVerified, "files that only git's name is known of count as verified")
        #expect(release.receipt.format == .safetensors)
        #expect(release.receipt.origin?.absoluteString.contains(commit) == true, "the receipt has the whole commit")
        #expect(release.receipt.manifestEntry == "hf:Org/Tiny-Model")
        #expect(release.weights?.lastComponent == "model-00001-of-00002.safetensors")
        let tree = try HubLab.tree(release.folder, except: ["receipt.json"])
        #expect(tree == files.mapValues { Data($0.content.bytes) })
        let leftovers = try LocalFileSystem().contents(of: manager.store.transfersFolder)
        #expect(leftovers == [])

        let asked = lab.hub.server.requests.count
        guard case .alreadyInstalled = try await manager.pull(try ModelReference(parsing: "hf:Org/Tiny-Model")) else {
            Issue.record("it was fetched twice")
            return
        }
        // The list asks for the configuration, which says whether the model sees.
        let later = lab.hub.server.requests.dropFirst(asked).filter { $0.path.contains("resolve") }
        #expect(later.allSatisfy { $0.path.hasSuffix("/config.json") })
    }

    @Test(
        arguments: [
            (#"{"model_type": "mllama", "vision_config": {"hidden_size": 1280}}"#, ModelRole.vision),
            (#"{"model_type": "llama"}"#, .text), (#"{"vision_config": null}"#, .text),
            (#"{"vision_config": true}"#, .text), ("{]", .text), ("[1]", .text), ("", .text),
            (#"{"text_config": {"vision_config": {}}}"#, .text),
            (#"{"quantization": {"bits": 4, "group_size": 64}}"#, .text),
            (#"{"quantization": 4}"#, .text),
        ])
    func aConfigurationWithAPartThatSeesIsAVisionModel(configuration: String, role: ModelRole) async throws {
        lab.hub.publish(
            "o/m", ["config.json": .small(configuration), "model.safetensors": .large(.pattern(count: 4000))])
        let release = try #require(try await lab.source("hf:o/m").listing(.now).catalog.releases.first)
        let isMLX = configuration.contains(#""quantization": {"#)
        #expect(release.format == (isMLX ? .mlx : .safetensors) && release.role == role)
    }

    /// Weights that PyTorch pickled are programs: the refusal names them, and nothing is fetched.
    @Test(arguments: ["pytorch_model.bin", "model.pt", "consolidated.00.pth"])
    func pickledWeightsAreNamed(file: String) async throws {
        lab.hub.publish("o/m", ["config.json": .small("{}"), file: .large(.pattern(count: 4000))])
        let error = await #expect(throws: CatalogError.self) { try await lab.source("hf:o/m").listing(.now) }
        #expect(error?.code == .noKnownModel && error?.context.found?.contains(file) == true)
    }

    @Test func aHugeConfigurationIsNotRead() async throws {
        let huge = #"{"vision_config": {}, "x": ""# + String(repeating: "y", count: 2 << 20) + #""}"#
        lab.hub.publish("o/m", ["config.json": .small(huge), "model.safetensors": .large(.pattern(count: 4000))])
        #expect(try await lab.source("hf:o/m").listing(.now).catalog.releases.first?.role == .text)
    }

    @Test func aConfigurationThatIsRefusedSaysNothing() async throws {
        lab.hub.publish(
            "o/m",
            ["config.json": .small(#"{"vision_config": {}}"#), "model.safetensors": .large(.pattern(count: 4000))])
        for status in [401, 403, 404] {
            lab.hub.disturb { $0.path.hasSuffix("config.json") ? Reply(status) : nil }
            let release = try #require(try await lab.source("hf:o/m").listing(.now).catalog.releases.first)
            #expect(release.role == .text)
        }
        lab.hub.disturb { $0.path.hasSuffix("config.json") ? Reply(503) : nil }
        #expect(await HubLab.code { _ = try await lab.source("hf:o/m").listing(.now) } == "origin-unreachable")
    }

    @Test func aSmallFileThatIsDamagedOnTheWayIsFetchedAgain() async throws {
        let files = snapshotFiles()
        lab.hub.publish("o/m", files)
        let damaged = Locked(1)
        lab.hub.disturb { request in
            guard request.path.hasSuffix("/1_Pooling/config.json"), request.method == "GET" else { return nil }
            guard
                damaged.withLock({
                    $0 -= 1; return $0 >= 0
                })
            else { return nil }
            return FaultServer.answer(request, with: .data(Data(#"{"pooling": trve}"#.utf8)))
        }
        let release = try await lab.manager().pull(try ModelReference(parsing: "hf:o/m")).release
        #expect(try HubLab.tree(release.folder)["1_Pooling/config.json"] == Data(#"{"pooling": true}"#.utf8))
    }

    @Test func aSmallFileThatStaysWrongIsNeverPublished() async throws {
        lab.hub.publish("o/m", snapshotFiles())
        lab.hub.disturb { request in
            let path = request.path
            guard path.hasSuffix("/config.json"), !path.contains("Pooling") else { return nil }
            return FaultServer.answer(request, with: .data(Data(#"{"model_type": "evil"}"#.utf8)))
        }
        let manager = try lab.manager()
        let code = await HubLab.code { _ = try await manager.pull(try ModelReference(parsing: "hf:o/m")) }
        #expect(code == "checksum-mismatch")
        #expect(try await manager.installed().isEmpty)
        lab.hub.disturb(nil)
        #expect(try await manager.pull(try ModelReference(parsing: "hf:o/m")).release.receipt.isVerified)
    }

    @Test func aBranchThatMovesIsAnUpdate() async throws {
        lab.hub.publish("o/m", ["m.gguf": .large(.pattern(count: 5000))])
        let manager = try lab.manager()
        _ = try await manager.pull(try ModelReference(parsing: "hf:o/m"))
        #expect(try await manager.updates().map(\.reason) == [.upToDate])
        let second = lab.hub.publish("o/m", ["m.gguf": .large(.pattern(offset: 5, count: 6000))])
        let finding = try #require(try await manager.updates().first)
        #expect(finding.plan?.fetchedBytes == 6000)
        let resolved = try #require(finding.offer)
        #expect(resolved.release.identity.version.name == String(second.prefix(12)))
        #expect(try await manager.pull(resolved).release.isActive)
        #expect(try await manager.updates().map(\.reason) == [.upToDate])
    }

    /// Who updates has not named the commit; who pulls the address has.
    @Test func anUpdateThatIsHeldBackMeanwhileIsNotMade() async throws {
        lab.hub.publish("o/m", ["m.gguf": .large(.pattern(count: 5000))])
        let manager = try lab.manager()
        _ = try await manager.pull(try ModelReference(parsing: "hf:o/m"))
        lab.hub.publish("o/m", ["m.gguf": .large(.pattern(offset: 5, count: 6000))])
        let resolved = try #require(try await manager.updates().first?.offer)
        let newer = resolved.release.identity
        _ = try await manager.store.holdBack(newer, because: "it failed")
        #expect(await HubLab.code { _ = try await manager.pull(resolved) } == "held-back")
        #expect(try await manager.updates().map(\.reason) == [.noUpdate(.notEligible(newer, .heldBack))])
        #expect(try await manager.pull(try ModelReference(parsing: "hf:o/m")).release.identity == newer)
    }

    @Test func aCommitThatWasNamedStaysWhatItIs() async throws {
        let first = lab.hub.publish("o/m", ["m.gguf": .large(.pattern(count: 5000))])
        lab.hub.publish("o/m", ["m.gguf": .large(.pattern(offset: 5, count: 6000))])
        let manager = try lab.manager()
        let release = try await manager.pull(try ModelReference(parsing: "hf:o/m@\(first)")).release
        #expect(release.identity.version.name == String(first.prefix(12)))
        #expect(try await manager.updates().map(\.reason) == [.upToDate])
    }

    @Test func aHubThatDoesNotAnswerIsAReason() async throws {
        lab.hub.publish("o/m", ["m.gguf": .large(.pattern(count: 5000))])
        let manager = try lab.manager()
        let release = try await manager.pull(try ModelReference(parsing: "hf:o/m")).release
        lab.hub.disturb { _ in Reply(503) }
        guard case .noUpdate(.unreachable)? = try await manager.updates().first?.reason else {
            Issue.record("\(try await manager.updates())")
            return
        }
        #expect(try await manager.availability(of: release.identity.family) == .downloaded(release))
        let code = await HubLab.code { _ = try await manager.pull(try ModelReference(parsing: "hf:o/m")) }
        #expect(code == "origin-unreachable")
    }

    @Test func anInterruptedPullKnowsWhatItWasFor() async throws {
        lab.hub.publish("o/m", ["m.gguf": .large(.pattern(count: 200_000))])
        let manager = try lab.manager()
        let gate = Gate()
        lab.hub.disturb { request in
            guard request.path.contains("/resolve/") else { return nil }
            return Reply(body: .pattern(count: 200_000)).stalled(after: 60_000, at: gate)
        }
        let pull = Task { try await manager.pull(try ModelReference(parsing: "hf:o/m")) }
        await lab.hub.server.wait { $0.requests.contains { $0.bytesSent >= 60_000 } }
        pull.cancel()
        _ = await pull.result
        let plan = try #require(try await manager.transfers.list().first?.plan)
        #expect(plan.reference == (try ModelReference(parsing: "hf:o/m")))
        lab.hub.disturb(nil)
        #expect(try await manager.pull(again: plan).release.isActive)
    }
}
