import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog

/// A web server whose files a test changes.
private final class Files: HTTPClient {
    let contents = Locked<[String: Data]>([:])
    let failure = Locked<HTTPError?>(nil)
    let requests = Locked<[String]>([])

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let path = request.url.path(percentEncoded: false)
        requests.withLock { $0.append(path) }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let data = contents.withLock { $0[path] }
        return HTTPResponse(
            status: data == nil ? 404 : 200, headers: [:], url: request.url, body: HTTPBody([UInt8](data ?? Data())))
    }

    func take() -> [String] {
        requests.withLock { requests in
            defer { requests = [] }
            return requests
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct SignedOriginTests {
    private let http = Files()
    private let clock = ManualClock(start: TrustLab.now)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func manifest(_ version: String, serial: Int = 1) -> Data {
        Data(
            #"""
            {"schemaVersion": 1, "serial": \#(serial), "expires": "2020-01-01T00:00:00Z", "models": [{"id": "m",
             "filename": "m-v\#(version)-q4.gguf", "sizeBytes": 1, "downloadUrl": "files/m.gguf"}]}
            """#.utf8)
    }

    private func publish(_ lab: inout TrustLab, _ version: String, serial: Int = 1) throws {
        let data = Self.manifest(version, serial: serial)
        lab.files["models.json"] = data
        lab.bump(.targets, .snapshot, .timestamp)
        let published = try lab.published()
        http.contents.withLock { contents in
            for (name, data) in published { contents["/o/metadata/\(name)"] = data }
            contents["/o/targets/\(SHA256Digest(hashing: data).hex).models.json"] = data
        }
    }

    private func source(_ root: Data?, name: String = "main", query: String = "") throws -> OriginSource {
        let url = try #require(URL(string: "https://h.example/o/models.json\(query)"))
        return OriginSource(
            Origin(name: name, manifestURL: url, root: root), family: nil, folder: folder.path("catalogs"),
            fetcher: CatalogFetcher(http: http), fileSystem: LocalFileSystem(), time: clock.time)
    }

    @Test(
        arguments: [
            ("https://h.example/o/models.json", true), ("HTTPS://h.example/o/models.json", true),
            ("https://H.Example/o/models.json", true), ("https://h.example:443/o/models.json", true),
            ("https://user:secret@h.example/o/models.json?token=1#x", true),
            ("https://h.example:8443/o/models.json", false), ("https://h.example/O/models.json", false),
            ("http://h.example/o/models.json", false), ("http://h.example:443/o/models.json", false),
        ])
    func noSpellingOfAnAddressLosesItsTrust(text: String, isSame: Bool) throws {
        func key(_ text: String) throws -> SHA256Digest {
            Origin(name: "o", manifestURL: try #require(URL(string: text))).trustKey
        }
        #expect(try (key(text) == key("https://h.example/o/models.json")) == isSame)
    }

    private func code(_ source: OriginSource, _ policy: CachePolicy = .now) async -> String? {
        do {
            _ = try await source.listing(policy)
            return nil
        } catch let error as any HearthFailure {
            return error.codeText
        } catch {
            return "\(error)"
        }
    }

    private func version(_ listing: CatalogListing) -> String? {
        listing.catalog.releases.first?.identity.version.name
    }

    @Test func aSignedListIsReadFromTheTargets() async throws {
        var lab = TrustLab()
        try publish(&lab, "1.0.0")
        let source = try source(lab.root())
        let listing = try await source.listing(.asPublished)
        #expect(version(listing) == "1.0.0")
        #expect(listing.freshness == .fetched)
        // The metadata's expiry stands in place of the list's own, which is over.
        #expect(listing.catalog.expires == TrustLab.later)
        #expect(listing.catalog.serial == nil)
        #expect(
            listing.catalog.releases.first?.file.locations.first?.absoluteString == "https://h.example/o/files/m.gguf")
        #expect(!http.take().contains("/o/models.json"))

        #expect(try await source.listing(.asPublished).freshness == .fresh(since: TrustLab.now))
        #expect(http.take().isEmpty)
        #expect(try await source.listing(.now).freshness == .revalidated)
        #expect(http.take() == ["/o/metadata/2.root.json", "/o/metadata/timestamp.json"])
        try publish(&lab, "1.1.0", serial: 0)
        #expect(version(try await source.listing(.now)) == "1.1.0")
    }

    @Test(arguments: ["", "?token=x"]) func aSignedOriginNeverBecomesUnsigned(_ query: String) async throws {
        var lab = TrustLab()
        try publish(&lab, "1.0.0")
        _ = try await source(lab.root()).listing(.now)
        // The signed files are gone, and an unsigned list lies where it always does.
        http.contents.withLock { $0 = ["/o/models.json": Self.manifest("9.0.0", serial: 99)] }
        for name in ["main", "another"] {
            #expect(await code(try source(nil, name: name, query: query)) == "metadata-missing")
        }
        #expect(!http.take().contains("/o/models.json"))
        // Not even if the root is lost on this device.
        let trust = folder.path("trust")
        let key = try #require(try LocalFileSystem().contents(of: trust).first)
        try LocalFileSystem().removeFile(trust.joined(key).appending("root.json"))
        #expect(await code(try source(nil)) == "no-trusted-root")
        #expect(await code(try source(lab.root())) == "metadata-missing")
    }

    @Test func anUnsignedCopyIsNotUsedOnceTheOriginIsSigned() async throws {
        http.contents.withLock { $0 = ["/o/models.json": Self.manifest("9.0.0")] }
        #expect(version(try await source(nil).listing(.now)) == "9.0.0")
        let lab = TrustLab()
        http.failure.withLock { $0 = HTTPError(.cannotConnect, "down") }
        #expect(await code(try source(lab.root()), .asPublished) == "origin-unreachable")
    }

    @Test func aSilentOriginLeavesTheSignedCopy() async throws {
        var lab = TrustLab()
        try publish(&lab, "1.0.0")
        _ = try await source(lab.root()).listing(.now)
        http.failure.withLock { $0 = HTTPError(.cannotConnect, "down") }
        let listing = try await source(nil).listing(.now)
        guard case .cached = listing.freshness else {
            Issue.record("not cached: \(listing.freshness)")
            return
        }
        #expect(version(listing) == "1.0.0")
        #expect(listing.catalog.expires == TrustLab.later)
    }

    @Test func aChangedListIsRefused() async throws {
        var lab = TrustLab()
        try publish(&lab, "1.0.0")
        let original = Self.manifest("1.0.0")
        let changed = Data(String(decoding: original, as: UTF8.self).replacing("1.0.0", with: "6.6.6").utf8)
        http.contents.withLock { contents in
            contents["/o/targets/\(SHA256Digest(hashing: original).hex).models.json"] = changed
        }
        #expect(await code(try source(lab.root())) == "target-mismatch")
    }

    @Test func expiredMetadataBringsNothingNew() async throws {
        var lab = TrustLab()
        try publish(&lab, "1.0.0")
        let source = try source(lab.root())
        _ = try await source.listing(.now)
        clock.advance(by: .seconds(31 * 86400))
        #expect(await code(source) == "metadata-expired")
    }

    @Test func aNewerConfiguredRootReplacesTheStoredOne() async throws {
        var lab = TrustLab()
        try publish(&lab, "1.0.0")
        let first = try lab.root()
        _ = try await source(first).listing(.now)
        // An app ships root 2 of new owners. The one of the old app does not come back.
        var other = TrustLab()
        other.bump(.root)
        http.contents.withLock { $0 = [:] }
        try publish(&other, "2.0.0")
        #expect(version(try await source(other.root()).listing(.now)) == "2.0.0")
        #expect(version(try await source(first).listing(.now)) == "2.0.0")
    }

    @Test func aConfiguredRootMustBeSound() async throws {
        #expect(await code(try source(Data("{}".utf8))) == "metadata-invalid")
        var lab = TrustLab()
        lab.signers = { _, _ in [] }
        #expect(await code(try source(lab.root())) == "too-few-signatures")
        #expect(http.take().isEmpty)
    }
}
