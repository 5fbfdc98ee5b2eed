import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// What an app says of itself reaches delivery, and so do the engines of this build.
@Suite(.timeLimit(.minutes(5))) struct ManagerConfigurationTests {
    private let folder: TemporaryFolder
    private let server: FaultServer

    init() throws {
        folder = try TemporaryFolder()
        let content = Content.pattern(count: 500)
        let digest = SHA256Digest(hashing: content.bytes).hex
        func entry(_ id: String, _ file: String, _ more: String = "") -> String {
            #"""
            {"id": "\#(id)", "filename": "\#(file)", "sizeBytes": 500, "sha256": "\#(digest)", "downloadUrl": "\#(file)"\#(more)}
            """#
        }
        let entries = [
            entry("new", "new-v1.0.0-q4.gguf", #", "minAppVersion": "2.0.0""#),
            entry("other", "other-v1.0.0.mlmodel", #", "format": "coreml""#), entry("toy", "toy-v1.0.0-q4.gguf"),
        ]
        server = try FaultServer { request in
            switch request.path {
            case "/models.json": .text(#"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ","))]}"#)
            case "/toy-v1.0.0-q4.gguf":
                request.target.hasSuffix("?key") ? FaultServer.answer(request, with: content) : Reply(403)
            default: Reply(404)
            }
        }
        try folder.write("app/toy-v0.9.0-q4.gguf", Data(content.bytes))
        try folder.write(
            "app/models.json",
            Data(#"{"schemaVersion": 1, "models": [\#(entry("toy", "toy-v0.9.0-q4.gguf"))]}"#.utf8))
    }

    private struct Signing: DownloadURLProvider {
        func downloadURL(for location: URL) -> URL {
            location.appending(queryItems: [URLQueryItem(name: "key", value: nil)])
        }
    }

    private func manager(_ environment: [String: String] = [:]) throws -> ModelManager {
        try ModelManager(
            home: folder.path("home"), configuration: Configuration(origins: ["o": try server.url("/models.json")]),
            environment: ["HEARTH_NETWORK": "unmetered"].merging(environment) { $1 }, deviceMemory: 8 << 30,
            appVersion: SemanticVersion(1, 5, 0), provider: Signing(),
            bundled: [BundledSource(folder: folder.path("app"))])
    }

    @Test func theAppsVersionAndItsEnginesDecide() async throws {
        let objections = try await manager().available().filter { $0.origin?.name == "o" }.map(\.objection)
        let engine: Ineligibility? = EngineOpening.runsGGUF ? .noEngine(.coreml) : nil
        #expect(objections == [.appTooOld(needs: SemanticVersion(2, 0, 0)), engine, nil])
    }

    /// The bytes come with a signed address, and are no model: nothing but the probe finds that.
    @Test func addressesAreSignedAndReleasesTried() async throws {
        let manager = try manager()
        let toy = try #require(Family("toy"))
        #expect(try await manager.availability(of: toy).identity?.version.name == "0.9.0")
        guard EngineOpening.runsGGUF else {
            #expect(try await manager.pull(try ModelReference(parsing: "toy")).release.isActive)
            return
        }
        let error = await #expect(throws: StoreError.self) {
            try await manager.pull(try ModelReference(parsing: "toy"))
        }
        #expect(error?.code == .probeFailed)
        #expect(try await manager.installed().map(\.identity.version.name) == ["1.0.0"])
        #expect(try await manager.availability(of: toy).identity?.version.name == "0.9.0")
    }

    @Test func theHubIsShownTheToken() async throws {
        let hub = try FaultServer { _ in Reply(404) }
        let manager = try manager(["HF_ENDPOINT": try hub.url("").absoluteString, "HF_TOKEN": "hf_secret"])
        await #expect(throws: (any Error).self) { try await manager.resolve(try ModelReference(parsing: "hf:o/m")) }
        #expect(!hub.requests.isEmpty)
        #expect(hub.requests.allSatisfy { $0.headers["Authorization"] == "Bearer hf_secret" })
    }

    /// An invalid setting stops what needs it: of the gateway, downloads; of metered networks, neither.
    @Test(arguments: [("gateway", #"{"url": "ftp://x"}"#, true), ("network", #"{"metered": "no"}"#, false)])
    func anInvalidSettingStopsWhatNeedsIt(section: String, value: String, stopsDownloads: Bool) async throws {
        var configuration = try Configuration(json: Data(#"{"\#(section)": \#(value)}"#.utf8))
        configuration.origins["o"] = try server.url("/models.json")
        let manager = try ModelManager(
            home: folder.path("home"), configuration: configuration,
            environment: ["HEARTH_NETWORK": "unmetered"], deviceMemory: 8 << 30)
        #expect(try await manager.available().count == 3)
        let error = await #expect(throws: (any Error).self) {
            try await manager.pull(try ModelReference(parsing: "toy"))
        }
        let code = (error as? any HearthFailure)?.codeText
        #expect((code == "invalid-configuration") == stopsDownloads)
    }
}
