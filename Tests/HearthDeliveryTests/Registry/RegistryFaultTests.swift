import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Registries that lie.
@Suite(.timeLimit(.minutes(10)), .serialized) struct RegistryFaultTests {
    private let lab: RegistryLab
    private static let digest = "sha256:" + String(repeating: "ab", count: 32)
    private static let config =
        #"{"mediaType": "application/vnd.oci.empty.v1+json", "digest": "\#(digest)", "size": 2}"#

    init() throws { lab = try RegistryLab() }

    private func pull(manifest: String) async -> String? {
        lab.registry.publish("ai/m", tag: "1", Data(manifest.utf8))
        return await lab.code("ai/m:1")
    }

    /// A manifest with these layers.
    private static func manifest(_ layers: String, config: String = config, more: String = "") -> String {
        #"{"schemaVersion": 2, \#(more) "config": \#(config), "layers": \#(layers)}"#
    }

    private static func layer(
        digest: String = #""\#(digest)""#, size: String = "5", name: String? = "m.gguf",
        type: String = "application/vnd.docker.ai.gguf.v3"
    ) -> String {
        let annotations = name.map { #", "annotations": {"org.cncf.model.filepath": "\#($0)"}"# } ?? ""
        return #"{"mediaType": "\#(type)", "digest": \#(digest), "size": \#(size)\#(annotations)}"#
    }

    static let malformed: [String] = [
        "", "{", "[]", "null", "{}", #"{"schemaVersion": 1}"#, #"{"schemaVersion": 2, "layers": []}"#,
        String(repeating: "[", count: 100_000),
        #"{"schemaVersion": 2, "x": \#(String(repeating: #"{"a":"#, count: 5000))"#,
        #"{"schemaVersion": 2, "schemaVersion": 2, "config": \#(config), "layers": []}"#,
        manifest("{}"), manifest("[1]"), manifest("[\(layer())]", config: "{}"), manifest("[\(layer())]", config: "7"),
        manifest("[\(layer(digest: "7"))]"), manifest("[\(layer(digest: #""sha256:00""#))]"),
        manifest("[\(layer(digest: #""md5:00""#))]"), manifest("[\(layer(size: "-1"))]"),
        manifest("[\(layer(size: "1.5"))]"), manifest("[\(layer(size: "1e3"))]"),
        manifest("[\(layer(size: "99999999999999999999"))]"), manifest("[\(layer(size: #""5""#))]"),
        manifest("[\(layer(name: "../m.gguf"))]"), manifest("[\(layer(name: "/etc/m.gguf"))]"),
        manifest("[\(layer(name: "a/../../m.gguf"))]"), manifest("[\(layer(name: "a//m.gguf"))]"),
        manifest("[\(layer(name: "a\\u0000.gguf"))]"), manifest("[\(layer(name: ""))]"),
        manifest("[\(layer(name: "receipt.json/m.gguf"))]"),
        manifest("[\(layer()), \(layer())]"), manifest("[\(layer()), \(layer(name: "M.GGUF"))]"),
        manifest("[\(layer(name: nil, type: RegistryLab.raw))]"),
        manifest("[" + Array(repeating: layer(), count: 3000).joined(separator: ",") + "]"),
    ]

    @Test(arguments: malformed.indices) func aMalformedManifestIsRefused(_ index: Int) async throws {
        #expect(await pull(manifest: Self.malformed[index]) == "registry-answer-invalid", "\(index)")
        #expect(lab.registry.server.requests.allSatisfy { !$0.path.contains("/blobs/") })
    }

    @Test(
        arguments: [
            manifest("[]"), manifest("[\(layer(type: "application/vnd.example"))]"),
            manifest("[\(layer(name: "m.bin", type: RegistryLab.raw))]"),
            manifest("[\(layer(name: "m.safetensors", type: RegistryLab.raw))]"),
            manifest("[\(layer()), \(layer(name: "other.gguf"))]"),
            #"{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}"#,
            #"{"schemaVersion": 2, "manifests": []}"#,
        ])
    func aManifestWithoutAModelIsRefused(_ manifest: String) async throws {
        #expect(await pull(manifest: manifest) == "no-known-model")
    }

    @Test func aManifestWithoutEndIsCutOff() async throws {
        lab.registry.disturb { _ in Reply(body: .pattern(count: 100 << 20)) }
        #expect(await lab.code("ai/m:1") == "registry-answer-invalid")
        #expect(lab.registry.server.requests.allSatisfy { $0.bytesSent < 32 << 20 })
    }

    @Test func aManifestOfAnotherDigestIsRefused() async throws {
        let first = lab.publish()
        let second = lab.publish(.pattern(offset: 9, count: 60_000), tag: "2")
        let other = try #require(lab.registry.manifest("ai/m", "2"))
        lab.registry.disturb { request in
            request.path.hasSuffix("/manifests/\(first)") ? Reply(body: .data(other)) : nil
        }
        #expect(await lab.code("ai/m@\(first)") == "registry-answer-invalid")
        lab.registry.disturb { request in
            request.path.contains("/manifests/")
                ? Reply(headers: ["Docker-Content-Digest": first], body: .data(other)) : nil
        }
        #expect(await lab.code("ai/m:1") == "registry-answer-invalid")
        lab.registry.disturb(nil)
        #expect(try await lab.pull("ai/m@\(second)").isActive)
    }

    @Test func aConfigurationOfAnotherDigestIsRefused() async throws {
        let registry = lab.registry
        let type = "application/vnd.cncf.model.config.v1+json"
        let config = TestRegistry.layer(Self.digest, size: 2, type: type)
        registry.publish(
            "ai/m", tag: "1", layers: [registry.store(.pattern(count: 5), type: RegistryLab.gguf)], config: config)
        for reply in [Reply(body: .data(Data("{}".utf8))), Reply(body: .pattern(count: 50 << 20))] {
            registry.disturb { $0.path.contains(Self.digest) ? reply : nil }
            #expect(await lab.code("ai/m:1") == "registry-answer-invalid")
        }
        registry.disturb(nil)
        #expect(await lab.code("ai/m:1") == "unknown-revision")
    }

    /// What a registry does to the bytes of a file, and the code of the failure; `nil` if the pull has to succeed. The manifest is
    /// the request with the number 0.
    static let faults: [(String, String?, @Sendable (RecordedRequest, Content) -> Reply)] = [
        ("other bytes", "checksum-mismatch", { answer($0, .pattern(offset: 77, count: $1.count)) }),
        ("longer", "response-too-long", { answer($0, .pattern(count: $1.count + 1)) }),
        ("shorter", "size-mismatch", { answer($0, .pattern(count: $1.count - 1)) }),
        ("empty", "size-mismatch", { answer($0, .pattern(count: $1.count - $1.count)) }),
        ("a greater length", "response-too-long", { Reply(body: $1).framed(.declared($1.count + 5)) }),
        ("ranges ignored", nil, { Reply(headers: ["ETag": "\"e\""], body: $1) }),
        ("no length", nil, { Reply(body: $1).framed(.chunked) }),
        (
            "another range", "bad-content-range",
            { _, content in
                let range = "bytes 7-\(content.count - 1)/\(content.count)"
                return Reply(206, headers: ["Content-Range": range], body: content.slice(7..<content.count))
            }
        ),
        ("416 to everything", "unexpected-status", { _, _ in Reply(416) }),
        ("a web page", "web-page", { _, _ in .htmlPage }),
        ("compressed", "content-encoded", { answer($0, $1).header("Content-Encoding", "gzip") }),
        ("missing", "missing-at-origin", { _, _ in Reply(404) }),
        ("forbidden", "access-denied", { _, _ in Reply(403) }),
        ("busy once", nil, { $0.index == 1 ? Reply(503) : answer($0, $1) }),
        ("busy for ever", "server-busy", { _, _ in Reply(503) }),
        ("cut once", nil, { $0.index == 1 ? answer($0, $1).dropped(after: 1000) : answer($0, $1) }),
        ("cut every time", nil, { answer($0, $1).dropped(after: 60_000) }),
        ("http to another machine", "insecure-redirect", { _, _ in .redirect("http://203.0.113.1/x", status: 307) }),
        ("redirects without end", "too-many-redirects", { request, _ in .redirect(request.target, status: 307) }),
    ]

    private static func answer(_ request: RecordedRequest, _ content: Content) -> Reply {
        FaultServer.answer(request, with: content, etag: "\"e\"")
    }

    @Test(arguments: faults.indices) func aFileOfOtherBytesIsNeverInstalled(_ index: Int) async throws {
        let content = Content.pattern(count: 200_000)
        let (name, expected, fault) = Self.faults[index]
        lab.publish(content)
        lab.registry.disturb { $0.path.contains("/blobs/") ? fault($0, content) : nil }
        #expect(await lab.code("ai/m:1") == expected, "\(name)")
        let installed = try await lab.manager().installed()
        #expect(installed.isEmpty == (expected != nil), "\(name)")
    }

    @Test func whatIsMissingIsNamed() async throws {
        lab.publish()
        #expect(await lab.code("ai/m:2") == "unknown-revision")
        #expect(await lab.code("ai/none:1") == "repository-missing")
        lab.registry.disturb { _ in Reply(503) }
        #expect(await lab.code("ai/m:1") == "origin-unreachable")
        lab.registry.disturb { _ in Reply(400) }
        #expect(await lab.code("ai/m:1") == "origin-refused")
        lab.registry.server.stop()
        #expect(await lab.code("ai/m:1") == "origin-unreachable")
    }
}
