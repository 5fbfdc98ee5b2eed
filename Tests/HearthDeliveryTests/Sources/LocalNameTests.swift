import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery

/// The families of local files.
@Suite(.timeLimit(.minutes(10))) struct LocalNameTests {
    private let lab: HubLab

    init() throws { lab = try HubLab() }

    private func file(_ name: String, _ text: String) throws -> Path { try lab.folder.write(name, Data(text.utf8)) }

    @Test(arguments: [
        ("Bär-v1.0.0-Q4_1.gguf", "bar@1.0.0:q4_1"), ("Straße 3-v2.0.0.gguf", "strasse-3@2.0.0"),
        ("模型.gguf", "mo-xing@0.0.0"), ("my-model.Q4_K_M.gguf", "my-model.q4_k_m@0.0.0"),
        ("(model)-v1.0.0.gguf", "model@1.0.0"),
    ])
    func areMadeOfWrittenNames(_ name: String, _ identity: String) async throws {
        let release = try await lab.manager().pull(.file(try file(name, "own"))).release
        #expect(release.identity.description == identity)
        #expect(release.receipt.writtenName != nil)
    }

    @Test func aNameOfAnotherModelIsRefusedUntilTheFamilyIsNamed() async throws {
        let manager = try lab.manager()
        _ = try await manager.pull(.file(try file("bär-v1.0.0.gguf", "one")))
        let other = ModelReference.file(try file("bar-v1.1.0.gguf", "two"))
        let error = try await #require(throws: CatalogError.self) { try await manager.pull(other) }
        #expect(error.code == .nameClash && error.context.field == "family")
        #expect(error.message.contains("bär") && error.message.contains("bar"))
        #expect(try await manager.installed().map(\.identity.description) == ["bar@1.0.0"])
        // Capitals make no other name.
        _ = try await manager.pull(.file(try file("BÄR-v1.0.1.gguf", "three")))
        var options = PullOptions()
        options.family = Family("bar-two")
        let apart = try await manager.pull(other, options: options).release
        #expect(apart.identity.description == "bar-two@1.1.0" && apart.receipt.writtenName == nil)
        options.family = Family("bar")
        #expect(try await manager.pull(other, options: options).release.identity.description == "bar@1.1.0")
    }

    @Test func aPointerOfGitLFSIsNoModel() async throws {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4000000000\n"
        let path = try file("model-v1.0.0.gguf", pointer)
        let manager = try lab.manager()
        #expect(await HubLab.code { _ = try await manager.pull(.file(path)) } == "lfs-pointer")
        lab.hub.publish("o/m", ["m.gguf": .small(Data(pointer.utf8))])
        #expect(
            await HubLab.code { _ = try await manager.pull(try ModelReference(parsing: "hf:o/m")) } == "lfs-pointer")
        #expect(try await manager.installed().isEmpty)
    }
}
