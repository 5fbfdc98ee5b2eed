import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// The files of a repository that become a release: variants, shards, other formats, and patterns.
@Suite(.timeLimit(.minutes(10))) struct HubChoiceTests {
    private let lab: HubLab

    init() throws { lab = try HubLab() }

    @Test func ofSeveralQuantizationsOneIsAReleaseOfItsOwn() async throws {
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
        #expect(other.format == .safetensors && other.companions.filter { $0.role == .shard }.count == 1)
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
}
