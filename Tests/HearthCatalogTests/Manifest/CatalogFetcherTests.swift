import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog

private let manifest = #"{"schemaVersion": 1, "models": []}"#

/// Answers every request alike.
private struct ScriptedClient: HTTPClient {
    var status = 200
    var headers = HTTPHeaders()
    var body = manifest
    var url = "https://h.example/models.json"
    var failure: (any Error)?
    let requests = Locked<[HTTPRequest]>([])

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.withLock { $0.append(request) }
        if let failure { throw failure }
        let rest = Locked<[UInt8]?>(Array(body.utf8))
        return HTTPResponse(
            status: status, headers: headers, url: URL(string: url) ?? request.url,
            body: HTTPBody {
                rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
            })
    }
}

@Suite(.timeLimit(.minutes(10))) struct CatalogFetcherTests {
    private let address = URL(string: "https://me:secret@h.example/models.json?token=hidden")

    private func fetch(_ client: ScriptedClient, _ url: URL? = nil) async throws -> Catalog {
        let folder = try TemporaryFolder()
        let source = OriginSource(
            Origin(name: "test", manifestURL: try url ?? #require(address)), family: nil,
            folder: folder.path("catalogs"),
            fetcher: CatalogFetcher(http: client), fileSystem: LocalFileSystem(), time: ManualClock().time)
        return try await source.listing(.now).catalog
    }

    private func failure(_ client: ScriptedClient) async throws -> CatalogError {
        try await #require(throws: CatalogError.self) { try await fetch(client) }
    }

    @Test func asksForJSONWithLimits() async throws {
        let client = ScriptedClient()
        #expect(try await fetch(client) == Catalog(releases: []))
        let request = try #require(client.requests.withLock { $0 }.first)
        #expect(request.headers["Accept"] == "application/json")
        #expect(request.totalTimeout == .seconds(10))
        #expect(request.maximumBodySize == 4 << 20)
    }

    @Test func addressesAreRelativeToWhereARedirectLed() async throws {
        var client = ScriptedClient()
        client.url = "https://cdn.example/a/models.json"
        client.body = #"{"models": [{"id": "m", "filename": "m-v1.0.0-q4.gguf", "sizeBytes": 1, "downloadUrl": "m"}]}"#
        #expect(
            try await fetch(client).releases.first?.file.locations.first?.absoluteString == "https://cdn.example/a/m")
    }

    @Test(arguments: [
        (301, "origin-refused"), (304, "origin-refused"), (401, "origin-refused"), (403, "origin-refused"),
        (404, "origin-refused"), (410, "origin-refused"), (418, "origin-refused"), (408, "origin-unreachable"),
        (429, "origin-unreachable"), (500, "origin-unreachable"), (503, "origin-unreachable"),
    ])
    func anAnswerThatIsNoSuccessIsTyped(_ status: Int, _ code: String) async throws {
        let error = try await failure(ScriptedClient(status: status))
        #expect(error.code.rawValue == code)
        #expect(error.disposition == (code == "origin-unreachable" ? .tryLater : .failed))
        #expect(error.message.contains("https://h.example/models.json answered \(status)"))
        #expect(!"\(error) \(error.context)".contains("hidden"))
        #expect(!"\(error) \(error.context)".contains("secret"))
    }

    @Test(arguments: ["cannot-connect", "host-not-found", "timed-out", "connection-lost"])
    func silenceMeansLater(_ code: String) async throws {
        let error = try await failure(
            ScriptedClient(failure: HTTPError(.init(stringLiteral: code), "nothing came of it")))
        #expect(error.code == .originUnreachable)
        #expect(error.disposition == .tryLater)
        #expect(error.underlying is HTTPError)
    }

    @Test func otherFailuresStayWhatTheyAre() async throws {
        let client = ScriptedClient(failure: HTTPError(.tlsFailure, "the certificate is not for this host"))
        let error = try await #require(throws: HTTPError.self) { try await fetch(client) }
        #expect(error.code == .tlsFailure)
        let cancelled = ScriptedClient(failure: CancellationError())
        await #expect(throws: CancellationError.self) { try await fetch(cancelled) }
    }

    @Test func tooMuchIsRefused() async throws {
        #expect(try await failure(ScriptedClient(headers: ["Content-Length": "4194305"])).code == .manifestTooLarge)
        let body = String(repeating: " ", count: 4 << 20) + "{}"
        #expect(try await failure(ScriptedClient(body: body)).code == .manifestTooLarge)
        let error = HTTPError(.tooLarge, "too large")
        #expect(try await failure(ScriptedClient(failure: error)).code == .manifestTooLarge)
    }

    @Test func aWebPageIsNoManifest() async throws {
        let portal = ScriptedClient(headers: ["Content-Type": "text/html; charset=utf-8"], body: "<p>Log in")
        #expect(try await failure(portal).code == .notAManifest)
        #expect(try await failure(ScriptedClient(body: "<!doctype html><p>Log in")).code == .notAManifest)
    }

    @Test func aCompressedManifestSaysSo() async throws {
        let byHeader = try await failure(ScriptedClient(headers: ["Content-Encoding": "gzip"]))
        #expect(byHeader.code == .notAManifest && byHeader.context.found == "gzip")
        #expect(try await fetch(ScriptedClient(headers: ["Content-Encoding": "utf-8"])) == Catalog(releases: []))
        let folder = try TemporaryFolder()
        for (bytes, word) in [([0x1F, 0x8B, 8, 0], "gzip"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd")] as [([UInt8], String)] {
            let path = try folder.write("models.json", Data(bytes))
            let error = try await #require(throws: CatalogError.self) { try await fetch(ScriptedClient(), path.url) }
            #expect(error.code == .notAManifest && error.context.found?.contains(word) == true)
            #expect(error.context.remedy?.contains("unpacked") == true)
        }
    }

    @Test func aPointerOfGitLFSIsNamed() async throws {
        let error = try await failure(ScriptedClient(body: "version https://git-lfs.github.com/spec/v1\n"))
        #expect(error.code == .notAManifest && error.context.found?.contains("Git LFS") == true)
    }

    @Test func readsAFile() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("models.json", Data(manifest.utf8))
        let client = ScriptedClient(failure: CancellationError())
        #expect(try await fetch(client, path.url) == Catalog(releases: []))
        let missing = folder.path("none.json").url
        await #expect(throws: FileError.self) { try await fetch(client, missing) }
        let isFolder = try await #require(throws: CatalogError.self) { try await fetch(client, folder.path.url) }
        #expect(isFolder.code == .notAManifest)
        try folder.write("large.json", Data(count: (4 << 20) + 1))
        let large = folder.path("large.json").url
        let error = try await #require(throws: CatalogError.self) { try await fetch(client, large) }
        #expect(error.code == .manifestTooLarge)
    }
}
