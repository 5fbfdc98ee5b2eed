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
        #expect(release.receipt.format == .mlx)
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
        ])
    func aConfigurationWithAPartThatSeesIsAVisionModel(configuration: String, role: ModelRole) async throws {
        lab.hub.publish(
            "o/m", ["config.json": .small(configuration), "model.safetensors": .large(.pattern(count: 4000))])
        let release = try #require(try await lab.source("hf:o/m").listing(.now).catalog.releases.first)
        #expect(release.format == .mlx && release.role == role)
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

    @Test func ofSeveralQuantisationsOneIsAReleaseOfItsOwn() async throws {
        let projector = TestHub.File.large(.pattern(offset: 9, count: 4000))
        lab.hub.publish(
            "o/m-GGUF",
            [
                "README.md": .small("x"), "m-Q4_K_M.gguf": .large(.pattern(count: 40_000)),
                "m-Q8_0.gguf": .large(.pattern(offset: 1, count: 80_000)),
                "mmproj-f32.gguf": .large(.pattern(count: 9)),
                "mmproj-m-f16.gguf": projector,
            ])
        let large = try await lab.manager().pull(try ModelReference(parsing: "hf:o/m-GGUF")).release
        #expect(large.identity.variant?.name == "m_q8_0")
        #expect(large.receipt.files.map(\.name.string) == ["m-Q8_0.gguf", "mmproj-m-f16.gguf"])
        #expect(large.projector?.lastComponent == "mmproj-m-f16.gguf")
        #expect(large.receipt.role == .vision)
        let memory = UInt64(40_000 + 4000) * 6 / 5 + (256 << 20)
        let small = try await lab.manager(memory: memory).pull(try ModelReference(parsing: "hf:o/m-GGUF")).release
        #expect(small.identity.variant?.name == "m_q4_k_m")
        #expect(try await lab.manager().installed().count == 2)

        let single = try await lab.manager().resolve(try ModelReference(parsing: "hf:o/m-GGUF:m-Q4_K_M.gguf"))
        #expect(single.release.identity == small.identity)
        #expect(single.release.files.count == 1, "a named file is that file alone")
        let picked = try await lab.manager().resolve(try ModelReference(parsing: "hf:o/m-GGUF:*Q4*"))
        #expect(picked.release.identity == small.identity)
    }

    @Test func shardsComeTogether() async throws {
        var files: [String: TestHub.File] = ["README.md": .small("x")]
        for number in 1...3 {
            files["Q4/m-0000\(number)-of-00003.gguf"] = .large(.pattern(offset: UInt64(number), count: 5000))
        }
        lab.hub.publish("o/m", files)
        for reference in ["hf:o/m", "hf:o/m:Q4/m-00002-of-00003.gguf", "hf:o/m:Q4/"] {
            let resolved = try await lab.manager().resolve(try ModelReference(parsing: reference))
            #expect(resolved.release.identity.variant?.name == "q4_m")
            #expect(resolved.release.file.name.string == "Q4/m-00001-of-00003.gguf")
            #expect(resolved.release.companions.map(\.role) == [.shard, .shard])
        }
        files["Q4/m-00002-of-00003.gguf"] = nil
        lab.hub.publish("o/m", files)
        let code = await HubLab.code { _ = try await lab.manager().resolve(try ModelReference(parsing: "hf:o/m")) }
        #expect(code == "no-known-model")
    }

    @Test func filesOfOtherFrameworksStayWhereTheyAre() async throws {
        var files = snapshotFiles()
        files["pytorch_model.bin"] = .large(.pattern(count: 10))
        files["onnx/model.onnx"] = .large(.pattern(count: 20))
        files["onnx/model.onnx_data"] = .large(.pattern(count: 30))
        lab.hub.publish("o/m", files)
        let whole = try await lab.manager().resolve(try ModelReference(parsing: "hf:o/m")).release
        #expect(Set(whole.files.map(\.name.string)) == Set(snapshotFiles().keys))
        let onnx = try await lab.manager().resolve(try ModelReference(parsing: "hf:o/m:onnx/")).release
        #expect(onnx.format == .onnx)
        #expect(onnx.files.map(\.name.string) == ["onnx/model.onnx", "onnx/model.onnx_data"])
        #expect(onnx.identity.variant?.name.hasPrefix("onnx_.") == true)
    }

    /// A repository with weights for two engines is one of GGUF, unless patterns pick the others; and they pick everything they fit.
    @Test func patternsPickWhatTheyFitWhateverElseThereIs() async throws {
        var files = snapshotFiles()
        files["tiny-q8_0.gguf"] = .large(.pattern(offset: 5, count: 30_000))
        files["mmproj-f16.gguf"] = .large(.pattern(offset: 6, count: 3000))
        lab.hub.publish("o/m", files)
        func release(_ patterns: String) async throws -> Release {
            try await lab.manager().resolve(try ModelReference(parsing: "hf:o/m" + patterns)).release
        }
        let plain = try await release("")
        #expect(plain.format == .gguf && plain.files.map(\.name.string) == ["tiny-q8_0.gguf", "mmproj-f16.gguf"])
        let all = try await release(":*")
        #expect(all.format == .gguf && all.file.name.string == "tiny-q8_0.gguf")
        #expect(Set(all.files.map(\.name.string)) == Set(files.keys), "whole, as it was asked for")
        #expect(!all.companions.contains { $0.role == .shard }, "weights of another format are no parts of these")
        let other = try await release(":*.safetensors,*.json,README.md")
        #expect(other.format == .mlx && other.companions.filter { $0.role == .shard }.count == 1)
        let picked = files.keys.filter { name in [".safetensors", ".json", "README.md"].contains { name.hasSuffix($0) }
        }
        #expect(Set(other.files.map(\.name.string)) == Set(picked))
        #expect(other.identity.variant?.name.contains("safetensors") == true)

        // What is written down of it leads there again.
        let manager = try lab.manager()
        let pulled = try await manager.pull(try ModelReference(parsing: "hf:o/m:*.safetensors,*.json,README.md"))
            .release
        #expect(try HubLab.tree(pulled.folder, except: ["receipt.json"]).count == picked.count)
        #expect(try await manager.updates().map(\.reason) == [.upToDate])
        let commit = lab.hub.publish("o/m", files.merging(["config.json": .small("{}")]) { $1 })
        #expect(
            try await manager.updates().first?.offer?.release.identity.version.name == String(commit.prefix(12)))
    }

    /// Each variant has what is picked beside it: what a hub lists must not multiply without end.
    @Test func whatIsPickedBesideManyVariantsIsLimited() async throws {
        var files: [String: TestHub.File] = [:]
        for number in 0..<300 {
            files["m-\(number).gguf"] = .small("\(number)")
            files["note-\(number).txt"] = .small("")
        }
        lab.hub.publish("o/m", files)
        #expect(try await lab.source("hf:o/m").listing(.now).catalog.releases.count == 300)
        #expect(try await lab.source("hf:o/m:*[12]0.*").listing(.now).catalog.releases.first?.files.count ?? 0 > 2)
        #expect(await HubLab.code { _ = try await lab.source("hf:o/m:*").listing(.now) } == "hub-answer-invalid")
    }

    @Test func aNameMayHaveACommaAndPatternsMayFitNothing() async throws {
        lab.hub.publish("o/m", ["a,b.gguf": .large(.pattern(count: 1000)), "c.gguf": .large(.pattern(count: 2000))])
        func files(_ file: String) async throws -> [String] {
            try await lab.manager().resolve(try ModelReference(parsing: "hf:o/m:" + file)).release.files
                .map(\.name.string)
        }
        #expect(try await files("a,b.gguf") == ["a,b.gguf"])
        #expect(try await files("none*,c.*") == ["c.gguf"])
        #expect(await HubLab.code { _ = try await files("*.onnx,x/") } == "unknown-file")
        for reference in ["hf:o/m:*,", "hf:o/m:,*", "hf:o/m:*,../x", "hf:o/m:a/,/b*"] {
            #expect(await HubLab.code { _ = try ModelReference(parsing: reference) } == "bad-reference", "\(reference)")
        }
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
