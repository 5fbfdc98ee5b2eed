import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Who may have what of a hub, and who sees the token.
@Suite(.timeLimit(.minutes(10)), .serialized) struct HubAccessTests {
    private let lab: HubLab
    private let weights = ["m.gguf": TestHub.File.large(.pattern(count: 50_000))]

    init() throws { lab = try HubLab() }

    private func code(_ reference: String, token: String? = nil) async -> String? {
        await HubLab.code { _ = try await lab.manager(token: token).resolve(try ModelReference(parsing: reference)) }
    }

    @Test func missingPrivateAndGatedAreToldApart() async throws {
        lab.hub.publish("o/public", weights)
        lab.hub.publish("o/private", weights, access: .tokenHolders)
        lab.hub.publish("o/gated", weights, access: .gated)
        let wrong = "hf_wrong"
        let right = lab.hub.token
        let table: [(String, String?, String?)] = [
            ("hf:o/public", nil, nil), ("hf:o/public", wrong, nil), ("hf:o/public", right, nil),
            ("hf:o/none", nil, "repository-missing"), ("hf:o/none", right, "repository-missing"),
            ("hf:o/none", wrong, "origin-refused"),
            ("hf:o/private", nil, "repository-missing"), ("hf:o/private", wrong, "origin-refused"),
            ("hf:o/private", right, nil),
            ("hf:o/gated", nil, "repository-gated"), ("hf:o/gated", wrong, "repository-gated"),
            ("hf:o/gated", right, nil),
            ("hf:o/public@none", nil, "unknown-revision"), ("hf:o/public@refs/pr/1", nil, "unknown-revision"),
            ("hf:o/public:none.gguf", nil, "unknown-file"), ("hf:o/public:*.onnx", nil, "unknown-file"),
        ]
        for (reference, token, expected) in table {
            #expect(await code(reference, token: token) == expected, "\(reference) with \(token ?? "no token")")
        }
    }

    @Test func theSentenceSaysWhatToDo() async throws {
        lab.hub.publish("o/gated", weights, access: .gated)
        func sentence(_ reference: String, _ token: String? = nil) async throws -> String {
            let manager = try lab.manager(token: token)
            let error = await #expect(throws: CatalogError.self) {
                try await manager.resolve(try ModelReference(parsing: reference))
            }
            #expect(error?.context.field == "token")
            return error?.errorDescription ?? ""
        }
        #expect(try await sentence("hf:o/gated").contains("give a token of that account"))
        #expect(try await sentence("hf:o/none").contains("or it is private"))
        #expect(try await sentence("hf:o/none", lab.hub.token).contains("what the token"))
    }

    @Test func aRenamedRepositoryIsFound() async throws {
        lab.hub.publish("old/name", weights)
        lab.hub.rename("old/name", to: "new/title")
        let release = try await lab.manager().pull(try ModelReference(parsing: "hf:old/name")).release
        #expect(release.identity.family.name == "hf--old--name", "what was asked for is what it is called here")
        #expect(release.receipt.name == "new/title")
        #expect(lab.hub.server.requests.contains { $0.path.hasPrefix("/new/title/resolve/") })
    }

    @Test func theTokenGoesToTheHubAndNowhereElse() async throws {
        let log = await RecordedLog.start(.debug)
        defer { log.stop() }
        lab.hub.publish("o/private", weights, access: .tokenHolders)
        let token = lab.hub.token
        let manager = try lab.manager(token: token)
        let resolved = try await manager.resolve(try ModelReference(parsing: "hf:o/private"))
        let release = try await manager.pull(resolved).release
        #expect(lab.hub.server.requests.allSatisfy { $0.headers["Authorization"] == "Bearer \(token)" })
        #expect(!lab.hub.storage.requests.isEmpty)
        #expect(lab.hub.storage.requests.allSatisfy { $0.headers["Authorization"] == nil })
        // Nothing that is written down or could be printed holds it.
        let home = try HubLab.tree(lab.folder.path("home"))
        #expect(!home.values.contains { $0.firstRange(of: Data(token.utf8)) != nil })
        var dumped = ""
        dump(resolved, to: &dumped)
        dump(release, to: &dumped)
        dump(try lab.settings(token: token), to: &dumped)
        dumped += "\(try lab.settings(token: token)) \(String(reflecting: try lab.settings(token: token)))"
        #expect(!dumped.contains(token))
        lab.hub.disturb { _ in Reply(500) }
        await #expect(throws: CatalogError.self) {
            try await manager.resolve(try ModelReference(parsing: "hf:o/private"))
        }
        #expect(!log.messages().contains { $0.contains(token) })
    }

    @Test func anOriginIsNotShownTheToken() async throws {
        let content = Content.pattern(count: 3000)
        let digest = SHA256Digest(hashing: content.bytes)
        let entry = #""id": "t", "filename": "toy-v1.0.0-q4.gguf", "sizeBytes": 3000, "sha256": "\#(digest)""#
        let manifest = #"{"models": [{\#(entry), "downloadUrl": "toy.gguf"}]}"#
        let origin = try FaultServer { request in
            request.path == "/models.json" ? .text(manifest) : FaultServer.answer(request, with: content)
        }
        let manager = ModelManager(
            home: lab.folder.path("home"), origins: [Origin(name: "o", manifestURL: try origin.url("/models.json"))],
            http: HubLab.http, network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            hub: .success(try lab.settings(token: lab.hub.token)))
        #expect(try await manager.pull(try ModelReference(parsing: "toy")).release.isActive)
        #expect(origin.requests.count == 2)
        #expect(origin.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func treesComeInPages() async throws {
        var files = weights
        for number in 0..<25 { files["notes/\(number).txt"] = .small("\(number)") }
        lab.hub.publish("o/m", files)
        lab.hub.page(by: 4)
        let listing = try await lab.source("hf:o/m:*").listing(.now)
        #expect(listing.catalog.releases.map(\.file.name.string) == ["m.gguf"])
        #expect(lab.hub.server.requests.count { $0.path.contains("/tree/") } == 7)
    }

    @Test func aNextPageElsewhereIsNotAskedFor() async throws {
        lab.hub.publish("o/m", weights)
        let other = try FaultServer { _ in .text("[]") }
        let address = try other.url("/next").absoluteString
        lab.hub.disturb { request in
            guard request.path.contains("/tree/") else { return nil }
            return Reply(headers: ["Link": "<\(address)>; rel=\"next\""], body: .data(Data("[]".utf8)))
        }
        #expect(await code("hf:o/m", token: lab.hub.token) == "hub-answer-invalid")
        #expect(other.requests.isEmpty)
        let endpoint = lab.hub.endpoint
        lab.hub.disturb { request in
            guard request.path.contains("/tree/") else { return nil }
            return Reply(headers: ["Link": "<\(endpoint)\(request.target)>; rel=next"], body: .data(Data("[]".utf8)))
        }
        #expect(await code("hf:o/m") == "hub-answer-invalid", "a circle ends")
    }

    @Test func aRefIsOneWordOfTheAddress() async throws {
        let commit = lab.hub.publish("o/m", weights, revision: "refs/pr/7")
        let resolved = try await lab.manager().resolve(try ModelReference(parsing: "hf:o/m@refs/pr/7"))
        #expect(resolved.release.identity.version.name == String(commit.prefix(12)))
        #expect(lab.hub.server.requests.contains { $0.target.hasSuffix("/revision/refs%2Fpr%2F7") })
    }
}
