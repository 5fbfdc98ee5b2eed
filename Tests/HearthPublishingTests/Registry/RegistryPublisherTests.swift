import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthPublishing

/// Releases in registries, as ModelPack, and back.
@Suite(.timeLimit(.minutes(10)), .serialized) struct RegistryPublisherTests {
    private let folder: TemporaryFolder
    private let registry: TestRegistry
    private let clock = HurriedClock()

    init() throws {
        folder = try TemporaryFolder()
        registry = try TestRegistry()
        let login = #"{"auth": "\#(Data(TestRegistry.account.utf8).base64EncodedString())"}"#
        try folder.write("docker/config.json", Data(#"{"auths": {"\#(registry.host)": \#(login)}}"#.utf8))
    }

    private var credentials: RegistryCredentials {
        RegistryCredentials(environment: ["DOCKER_CONFIG": folder.path("docker").string])
    }

    private func model(_ name: String = "toy-v1.1.0-q4_k_m.gguf", bytes: Int = 9 << 20) throws -> Path {
        try folder.write(
            name,
            ModelFiles.gguf(
                texts: [("general.architecture", "llama"), ("general.license", "mit")], numbers: [],
                payload: Array(repeating: 7, count: bytes)))
    }

    @discardableResult
    private func publish(
        _ files: Path..., to name: String = "ai/toy", change: (inout PublishRequest) -> Void = { _ in }
    ) async throws -> RegistryPublisher.Report {
        var request = PublishRequest(files: files)
        change(&request)
        let client = RegistryClient(DefaultHTTPClient(), credentials: credentials)
        return try await RegistryPublisher("oci://\(registry.host)/\(name)", client: client, time: clock.time)
            .publish(request)
    }

    private func manager() -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [], http: DefaultHTTPClient(), time: clock.time,
            network: UnmonitoredNetwork(), deviceMemory: 8 << 30, registries: credentials)
    }

    private func code(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? any HearthFailure)?.codeText ?? "\(error)"
        }
    }

    @Test(arguments: [TestRegistry.Access.everybody, .accounts, .basic])
    func aReleaseComesBackAsItWas(_ access: TestRegistry.Access) async throws {
        registry.require(access)
        let source = try model()
        let report = try await publish(source)
        #expect(report.reference.tag == "1.1.0-q4_k_m")
        #expect(!report.wasPublished)
        let release = try await manager().pull(try ModelReference(parsing: report.reference.description)).release
        #expect(release.identity.description == "toy@1.1.0:q4_k_m")
        let weights = try #require(release.weights)
        #expect(try Data(contentsOf: weights.url) == Data(contentsOf: source.url))
        #expect(release.receipt.license == "mit")
    }

    @Test func theManifestIsModelPacks() async throws {
        let report = try await publish(try model()) { $0.summary = "A toy." }
        let data = try #require(registry.manifest("ai/toy", "1.1.0-q4_k_m"))
        let manifest = try JSONValue(parsing: data)
        #expect(manifest["artifactType"] == "application/vnd.cncf.model.manifest.v1+json")
        #expect(manifest["config"]?["mediaType"] == "application/vnd.cncf.model.config.v1+json")
        let layer = try #require(manifest["layers"]?.items?.first)
        #expect(layer["mediaType"] == "application/vnd.cncf.model.weight.v1.raw")
        #expect(layer["annotations"]?["org.cncf.model.filepath"] == "toy-v1.1.0-q4_k_m.gguf")
        #expect(report.reference.digest == SHA256Digest(hashing: data))
        let config = try #require(registry.blob(manifest["config"]?["digest"]?.string ?? ""))
        let facts = try JSONValue(parsing: config)
        #expect(facts.members?.keys == ["descriptor", "config", "modelfs"])
        #expect(facts["descriptor"]?["version"] == "1.1.0")
        #expect(facts["config"]?["format"] == "gguf")
        #expect(facts["modelfs"]?["diffIds"]?.items?.first == layer["digest"])
    }

    @Test func theSameReleaseHasTheSameDigest() async throws {
        let first = try await publish(try model())
        let again = try await publish(try model())
        #expect(again.wasPublished)
        #expect(again.sentBytes == 0)
        #expect(again.reference == first.reference)
        let elsewhere = try await publish(try model("elsewhere/toy-v1.1.0-q4_k_m.gguf"), to: "other/toy:x")
        #expect(elsewhere.reference.digest == first.reference.digest)
        #expect(elsewhere.reference.tag == "x")
    }

    @Test func otherBytesAreRefusedUnlessReplaced() async throws {
        try await publish(try model())
        let other = try model("toy-v1.1.0-q4_k_m.gguf", bytes: 5000)
        #expect(await code { try await publish(other) } == "release-exists")
        #expect(await code { try await publish(other) { $0.replaces = true } } == nil)
    }

    @Test func chunkIndexesReferToTheRelease() async throws {
        let report = try await publish(try model())
        let digest = try #require(report.reference.digest)
        let list = try #require(registry.manifest("ai/toy", "sha256-\(digest.hex)"))
        let entries = try JSONValue(parsing: list)["manifests"]?.items
        #expect(entries?.count == 1)
        #expect(entries?.first?["artifactType"] == "application/vnd.hearth.chunk-index.v1")
        let reference = try ModelReference(parsing: report.reference.description)
        let release = try await manager().resolve(reference).release
        #expect(release.index != nil)
        #expect(try await manager().pull(reference).release.isActive)
        // A second publication leaves one entry.
        try await publish(try model())
        #expect(registry.manifest("ai/toy", "sha256-\(digest.hex)") == list)
    }

    @Test func aCopyWithoutReferrersIsPulledAsOneWithoutIndexes() async throws {
        let report = try await publish(try model())
        registry.disturb { request in
            request.path.contains("/manifests/sha256-") || request.path.contains("/referrers/") ? Reply(404) : nil
        }
        let reference = try ModelReference(parsing: report.reference.description)
        #expect(try await manager().resolve(reference).release.index == nil)
        #expect(try await manager().pull(reference).release.isActive)
    }

    @Test(arguments: ["", "[]", #"{"manifests": [{"artifactType": "application/vnd.hearth.chunk-index.v1"}]}"#])
    func aListOfReferrersThatCannotBeReadIsNone(_ text: String) async throws {
        let report = try await publish(try model())
        registry.disturb { $0.path.contains("/referrers/") ? .text(text) : nil }
        let reference = try ModelReference(parsing: report.reference.description)
        #expect(try await manager().resolve(reference).release.index == nil)
    }

    @Test func aBrokenUploadContinues() async throws {
        let source = try model(bytes: 40 << 20)
        let cuts = Locked(0)
        registry.disturb { request in
            guard request.method == "PATCH",
                cuts.withLock({ count in
                    defer { count += 1 }; return count == 1
                })
            else {
                return nil
            }
            return .hangUp
        }
        let report = try await publish(source)
        registry.disturb(nil)
        let digest = try #require(report.files.first).digest
        #expect(registry.blob("sha256:\(digest.hex)") == (try Data(contentsOf: source.url)))
        let sent = registry.server.requests.filter { $0.method == "PATCH" }.map(\.body.count).reduce(0, +)
        #expect(sent < 60 << 20)
    }

    @Test func companionsAreFilesOfTheRelease() async throws {
        let tokenizer = try folder.write("tokenizer.json", Data("{}".utf8))
        let readme = try folder.write("README.md", Data("# Toy".utf8))
        let report = try await publish(try model(bytes: 100), tokenizer, readme)
        let manifest = try JSONValue(parsing: try #require(registry.manifest("ai/toy", "1.1.0-q4_k_m")))
        let types = manifest["layers"]?.items?.compactMap { $0["mediaType"]?.string.map { String($0.dropFirst(27)) } }
        #expect(types == ["weight.v1.raw", "weight.config.v1.raw", "doc.v1.raw"])
        let release = try await manager().pull(try ModelReference(parsing: report.reference.description)).release
        #expect(release.receipt.files.count == 3)
    }

    @Test(
        arguments: [
            (401, "registry-refused"), (403, "registry-refused"), (404, "registry-refused"), (400, "registry-failed"),
            (500, "registry-failed"), (200, "registry-failed"),
        ])
    func aRefusedUploadIsTold(_ status: Int, _ expected: String) async throws {
        registry.disturb { $0.method == "POST" ? Reply(status) : nil }
        #expect(await code { try await publish(try model(bytes: 100)) } == expected)
        #expect(registry.manifestNames.isEmpty)
    }

    @Test func aDryRunSendsNothing() async throws {
        let report = try await publish(try model()) { $0.isDryRun = true }
        #expect(report.sentBytes > 9 << 20)
        #expect(registry.server.requests.allSatisfy { ["GET", "HEAD"].contains($0.method) })
    }

    @Test(arguments: [
        "oci://h.example", "oci://h.example/m@sha256:" + String(repeating: "0", count: 64), "h.example/m",
    ])
    func aTextThatNamesNoRepositoryIsRefused(_ text: String) {
        let error = #expect(throws: PublishingError.self) {
            try RegistryPublisher(text, client: DefaultHTTPClient(), time: clock.time)
        }
        #expect(error?.code == .remoteUnusable)
    }
}
