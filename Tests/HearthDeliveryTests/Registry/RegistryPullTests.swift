import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Models of registries in the three forms, and what becomes of tags.
@Suite(.timeLimit(.minutes(10)), .serialized) struct RegistryPullTests {
    private let lab: RegistryLab
    private let weights = Content.pattern(offset: 3, count: 300_000)

    init() throws { lab = try RegistryLab() }

    private func family(_ repository: String) -> String {
        "oci--127.0.0.1_\(lab.registry.server.port)--\(repository)"
    }

    @Test(arguments: ["org.cncf.model.filepath", "org.opencontainers.image.title"])
    func modelPackIsPulled(_ key: String) async throws {
        let registry = lab.registry
        let config =
            #"{"descriptor": {"name": "Toy", "licenses": ["mit"]}, "config": {"format": "gguf"}, "modelfs": {"type": "layers", "diffIds": []}}"#
        registry.publish(
            "ai/toy", tag: "1.0",
            layers: [
                registry.store(weights, type: RegistryLab.raw, name: "toy", key: key),
                registry.store(
                    .data(Data("{}".utf8)), type: "application/vnd.cncf.model.weight.config.v1.raw",
                    name: "extra/tokenizer.json", key: key),
                registry.store(.pattern(count: 9), type: "application/vnd.cncf.model.code.v1.tar"),
                registry.store(.pattern(count: 8), type: "application/vnd.example.signature"),
            ],
            config: registry.store(
                .data(Data(config.utf8)), type: "application/vnd.cncf.model.config.v1+json"))
        let release = try await lab.pull("ai/toy:1.0")
        #expect(release.identity.description == "\(family("ai--toy"))@1.0")
        #expect(release.isActive)
        #expect(release.receipt.isVerified)
        #expect(release.receipt.name == "Toy")
        #expect(try lab.bytes(release, "toy.gguf") == weights.bytes)
        #expect(release.receipt.files.map(\.name.string).sorted() == ["extra/tokenizer.json", "toy.gguf"])
        #expect(release.receipt.files.allSatisfy { $0.source != nil })
    }

    @Test func dockersFormIsPulled() async throws {
        let (registry, docker) = (lab.registry, "application/vnd.docker.ai.")
        registry.publish(
            "ai/toy", tag: "1B-Q4",
            layers: [
                registry.store(weights, type: docker + "gguf.v3"),
                registry.store(.pattern(count: 500), type: docker + "mmproj"),
                registry.store(.data(Data("a license".utf8)), type: docker + "license"),
                registry.store(.data(Data("{{ x }}".utf8)), type: docker + "chat.template.jinja"),
            ],
            config: registry.store(
                .data(Data(#"{"config": {"format": "gguf", "size": "1 B"}}"#.utf8)),
                type: docker + "model.config.v0.1+json"))
        let release = try await lab.pull("ai/toy:1B-Q4")
        #expect(
            Set(release.receipt.files.map(\.name.string))
                == ["toy-1B-Q4.gguf", "mmproj-toy-1B-Q4.gguf", "LICENSE", "chat_template.jinja"])
        #expect(release.receipt.role == .vision)
    }

    @Test func ollamasFormIsPulled() async throws {
        let (registry, ollama) = (lab.registry, "application/vnd.ollama.image.")
        registry.publish(
            "library/toy", tag: "latest",
            layers: [
                registry.store(weights, type: ollama + "model"),
                registry.store(.pattern(count: 500), type: ollama + "template"),
                registry.store(.pattern(count: 501), type: ollama + "license"),
                registry.store(.pattern(count: 502), type: ollama + "license"),
                registry.store(.pattern(count: 503), type: ollama + "params"),
            ],
            config: registry.store(
                .data(Data("{}".utf8)), type: "application/vnd.docker.container.image.v1+json"))
        let release = try await lab.pull("library/toy")
        #expect(Set(release.receipt.files.map(\.name.string)) == ["toy-latest.gguf", "LICENSE", "LICENSE-2"])
        #expect(try lab.bytes(release, "toy-latest.gguf") == weights.bytes)
    }

    @Test(arguments: [
        "application/vnd.ollama.image.adapter", "application/vnd.ollama.image.tensor; name=x",
        "application/vnd.docker.ai.gguf.v3.lora", "application/vnd.cncf.model.weight.v1.tar+gzip",
    ])
    func aModelThatNeedsMoreIsNotPulledInPart(_ type: String) async throws {
        let registry = lab.registry
        registry.publish(
            "ai/m", tag: "1",
            layers: [
                registry.store(weights, type: RegistryLab.gguf), registry.store(.pattern(count: 5), type: type),
            ])
        #expect(await lab.code("ai/m:1") == "no-known-model")
    }

    @Test func aReleaseOfOursKeepsItsName() async throws {
        let registry = lab.registry
        let layer = registry.store(weights, type: RegistryLab.raw, name: "toy-v1.1.0-q4_k_m.gguf")
        registry.publish(
            "ai/any", tag: "x", layers: [layer], annotations: ["hearth.release": "toy@1.1.0:q4_k_m"])
        let release = try await lab.pull("ai/any:x")
        #expect(release.identity.description == "toy@1.1.0:q4_k_m")
        // An update comes from the same repository.
        let next = registry.store(.pattern(count: 1234), type: RegistryLab.raw, name: "toy-v1.2.0-q4_k_m.gguf")
        registry.publish("ai/any", tag: "x", layers: [next], annotations: ["hearth.release": "toy@1.2.0:q4_k_m"])
        let found = try await lab.manager().updates()
        #expect(found.map { $0.offer?.release.identity.description } == ["toy@1.2.0:q4_k_m"])
    }

    @Test(arguments: ["toy", "Toy@1.0.0", "toy@latest", "toy@1.0.0:Q/4", "oci://h.example/m", ""])
    func anAnnotationThatNamesNoReleaseIsIgnored(_ text: String) async throws {
        let layer = lab.registry.store(weights, type: RegistryLab.gguf, name: "m.gguf")
        lab.registry.publish("ai/m", tag: "1", layers: [layer], annotations: ["hearth.release": .string(text)])
        #expect(try await lab.pull("ai/m:1").identity.family.name == family("ai--m"))
    }

    @Test func aTagThatMovedIsAnUpdate() async throws {
        lab.publish(tag: "latest")
        let first = try await lab.pull("ai/m")
        #expect(first.identity.version.name == "latest")
        let manager = lab.manager()
        #expect(try await manager.updates().first?.offer == nil)
        lab.publish(.pattern(offset: 9, count: 60_000), tag: "latest")
        let offer = try #require(try await manager.updates().first?.offer)
        #expect(offer.isUpdate)
        let second = try await manager.pull(offer).release
        #expect(second.isActive)
        #expect(second.receipt.files[0].size == 60_000)
        #expect(try await manager.updates().first?.offer == nil)
    }

    @Test func aDigestNamesOneManifest() async throws {
        let first = lab.publish()
        lab.publish(.pattern(offset: 9, count: 60_000))
        let release = try await lab.pull("ai/m@\(first)")
        #expect(release.identity.version.name == String(first.dropFirst(7).prefix(12)))
        #expect(release.receipt.files[0].size == 50_000)
        #expect(release.receipt.origin?.lastPathComponent == first)
        let manager = lab.manager()
        guard case .registry(let named) = try lab.reference("ai/m@\(first)"),
            case .registry(let other) = try lab.reference("ai/m:1")
        else { return }
        #expect(try await manager.installed(named)?.identity == release.identity)
        #expect(try await manager.installed(other) == nil)
    }

    @Test func severalFilesAreOneRelease() async throws {
        let registry = lab.registry
        let config = #"{"model_type": "tiny", "quantization": {"bits": 4}, "vision_config": {}}"#
        registry.publish(
            "ai/mlx", tag: "1",
            layers: [
                registry.store(.pattern(count: 100), type: RegistryLab.raw, name: "model-00002-of-00002.safetensors"),
                registry.store(.pattern(count: 200), type: RegistryLab.raw, name: "model-00001-of-00002.safetensors"),
                registry.store(
                    .data(Data(config.utf8)), type: "application/vnd.cncf.model.weight.config.v1.raw",
                    name: "config.json"),
            ])
        let offer = try await lab.manager().resolve(try lab.reference("ai/mlx:1"))
        #expect(offer.release.format == .mlx)
        #expect(offer.release.role == .vision)
        #expect(offer.release.file.name.string == "model-00001-of-00002.safetensors")
        #expect(offer.release.companions.map(\.role).sorted { $0.rawValue < $1.rawValue } == [.other, .shard])
        let parts = (1...2).map {
            registry.store(
                .pattern(offset: UInt64($0), count: 50), type: RegistryLab.gguf, name: "p-0000\($0)-of-00002.gguf")
        }
        registry.publish("ai/parts", tag: "1", layers: parts.reversed())
        let release = try await lab.manager().resolve(try lab.reference("ai/parts:1")).release
        #expect(release.file.name.string == "p-00001-of-00002.gguf")
        registry.publish("ai/parts", tag: "2", layers: [parts[1]])
        #expect(await lab.code("ai/parts:2") == "no-known-model")
    }

    @Test func aDamagedFileIsRepaired() async throws {
        lab.registry.require(.tokens)
        lab.publish()
        let release = try await lab.pull("ai/m:1")
        let path = try #require(release.weights)
        var bytes = try Data(contentsOf: path.url)
        bytes[100] ^= 1
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path.string)
        try bytes.write(to: path.url)
        _ = try await lab.manager().repair(release.identity)
        #expect(try lab.bytes(release, "m.gguf") == Content.pattern(count: 50_000).bytes)
    }

    @Test func aBrokenTransferContinues() async throws {
        let content = Content.pattern(count: 3 << 20)
        lab.publish(content)
        lab.registry.disturb { request in
            guard request.path.contains("/blobs/") else { return nil }
            guard request.index == 1 else { return .hangUp }
            return FaultServer.answer(request, with: content, etag: "\"e\"").dropped(after: 1 << 20)
        }
        #expect(await lab.code("ai/m:1") != nil)
        let before = lab.registry.server.requests.map(\.bytesSent).reduce(0, +)
        lab.registry.disturb { request in
            request.path.contains("/blobs/") ? FaultServer.answer(request, with: content, etag: "\"e\"") : nil
        }
        #expect(try await lab.pull("ai/m:1").isActive)
        let after = lab.registry.server.requests.map(\.bytesSent).reduce(0, +) - before
        #expect(after < content.count)
    }
}
