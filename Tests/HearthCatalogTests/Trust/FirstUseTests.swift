import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog

/// Serves files of an origin from memory.
private final class Files: HTTPClient {
    let contents = Locked<[String: Data]>([:])
    let isSilent = Locked(false)
    let type = Locked("application/json")
    let requests = Locked<[String]>([])

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let path = request.url.path(percentEncoded: false)
        requests.withLock { $0.append(path) }
        if isSilent.withLock({ $0 }) { throw HTTPError(.cannotConnect, "down") }
        let data = contents.withLock { $0[path] }
        return HTTPResponse(
            status: data == nil ? 404 : 200, headers: ["Content-Type": type.withLock { $0 }], url: request.url,
            body: HTTPBody([UInt8](data ?? Data())))
    }
}

/// A device that meets a signed origin for the first time.
@Suite(.timeLimit(.minutes(10))) struct FirstUseTests {
    private let http = Files()
    private let clock = ManualClock(start: TrustLab.now)
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = try #require(URL(string: "https://h.example/o/models.json"))
    }

    private static let manifest = Data(
        #"""
        {"schemaVersion": 1, "models": [{"id": "m", "filename": "m-v1.0.0-q4.gguf", "sizeBytes": 1,
         "downloadUrl": "files/m.gguf"}]}
        """#.utf8)

    private func publish(_ lab: inout TrustLab) throws {
        lab.files["models.json"] = Self.manifest
        let published = try lab.published()
        http.contents.withLock { contents in
            for (name, data) in published { contents["/o/metadata/\(name)"] = data }
            contents["/o/targets/\(SHA256Digest(hashing: Self.manifest).hex).models.json"] = Self.manifest
            contents["/o/models.json"] = Self.manifest
        }
    }

    private func origin(root: Data? = nil, digest: SHA256Digest? = nil) -> Origin {
        var origin = Origin(name: "main", manifestURL: url, root: root)
        origin.rootDigest = digest
        return origin
    }

    private func source(_ origin: Origin, asks: Bool = true) -> OriginSource {
        OriginSource(
            origin, family: nil, folder: folder.path("catalogs"), fetcher: CatalogFetcher(http: http),
            fileSystem: LocalFileSystem(), time: clock.time, asksForRoot: asks)
    }

    private func refusal(_ source: OriginSource) async -> (any HearthFailure)? {
        do {
            _ = try await source.listing(.now)
            return nil
        } catch {
            return error as? any HearthFailure
        }
    }

    @Test func aSignedOriginIsRefusedUntilAPersonTrustsItsKeys() async throws {
        var lab = TrustLab()
        try publish(&lab)
        let root = try lab.root()
        let source = source(origin())
        let error = await refusal(source)
        #expect(error?.codeText == "no-trusted-root")
        #expect(
            error?.message == "https://h.example/o/models.json is signed, and this device does not know its keys yet")
        #expect(error?.context.found == SHA256Digest(hashing: root).hex)
        #expect(error?.context.remedy?.contains(SHA256Digest(hashing: root).hex) == true)
        #expect(!http.requests.withLock { $0.contains("/o/models.json") })
        try origin().trustStore(in: folder.path("trust")).pin(root, now: TrustLab.now)
        let listing = try await source.listing(.now)
        #expect(listing.signedUntil == TrustLab.later)
        #expect(!http.requests.withLock { $0.contains("/o/models.json") })
    }

    @Test func anAppThatShipsNoRootReadsTheListUnsigned() async throws {
        var lab = TrustLab()
        try publish(&lab)
        let listing = try await source(origin(), asks: false).listing(.now)
        #expect(listing.signedUntil == nil)
        #expect(http.requests.withLock { $0 } == ["/o/models.json"])
    }

    @Test func anOriginThatWasReadUnsignedBeforeIsNotRefused() async throws {
        http.contents.withLock { $0["/o/models.json"] = Self.manifest }
        _ = try await source(origin()).listing(.now)
        var lab = TrustLab()
        try publish(&lab)
        #expect(await refusal(source(origin())) == nil)
    }

    @Test func anUnsignedOriginCostsOneMoreRequestOnce() async throws {
        http.contents.withLock { $0["/o/models.json"] = Self.manifest }
        _ = try await source(origin()).listing(.now)
        _ = try await source(origin()).listing(.now)
        #expect(
            http.requests.withLock { $0 } == ["/o/metadata/1.root.json", "/o/models.json", "/o/models.json"])
    }

    @Test(arguments: ["<html>", "{}", ""]) func whatIsNoRootSignsNothing(_ text: String) async throws {
        http.contents.withLock {
            $0["/o/models.json"] = Self.manifest
            $0["/o/metadata/1.root.json"] = Data(text.utf8)
        }
        #expect(await refusal(source(origin())) == nil)
    }

    @Test func aSilentOriginIsReportedAsSuch() async throws {
        http.isSilent.withLock { $0 = true }
        #expect(await refusal(source(origin()))?.codeText == "origin-unreachable")
    }

    @Test func theNewestRootIsOffered() async throws {
        var lab = TrustLab()
        try publish(&lab)
        let former = lab.keys(.root)
        lab.roles[.root] = TrustLab.Role()
        lab.bump(.root)
        let second = try lab.root(former: former)
        http.contents.withLock { $0["/o/metadata/2.root.json"] = second }
        let roots = origin().roots(http)
        #expect(try await roots.newest()?.data == second)
        // The fingerprint of any root in the chain names that root.
        let first = try #require(http.contents.withLock { $0["/o/metadata/1.root.json"] })
        #expect(try await roots.root(SHA256Digest(hashing: first))?.metadata.fields.version == 1)
        #expect(try await roots.root(SHA256Digest(hashing: second))?.metadata.fields.version == 2)
        #expect(try await roots.root(SHA256Digest(hashing: Data())) == nil)
        // A root that the one before did not sign is no successor.
        let forged = try lab.root()
        http.contents.withLock { $0["/o/metadata/2.root.json"] = forged }
        await #expect(throws: TrustError.self) { try await roots.newest() }
        // Nor is one of another version.
        http.contents.withLock { $0["/o/metadata/2.root.json"] = first }
        let error = await #expect(throws: TrustError.self) { try await roots.newest() }
        #expect(error?.code.rawValue == "metadata-mismatch")
    }

    @Test func aConfiguredFingerprintFetchesItsRootOnce() async throws {
        var lab = TrustLab()
        try publish(&lab)
        let digest = SHA256Digest(hashing: try lab.root())
        let source = source(origin(digest: digest))
        #expect(try await source.listing(.now).signedUntil == TrustLab.later)
        func count() -> Int { http.requests.withLock { $0 }.filter { $0 == "/o/metadata/1.root.json" }.count }
        #expect(count() == 1)
        _ = try await source.listing(.now)
        #expect(count() == 1)
        // Without the setting the origin stays signed.
        http.contents.withLock { $0 = ["/o/models.json": Self.manifest] }
        #expect(await refusal(self.source(origin()))?.codeText == "metadata-missing")
    }

    @Test func anotherFingerprintIsRefused() async throws {
        var lab = TrustLab()
        try publish(&lab)
        let error = await refusal(source(origin(digest: SHA256Digest(hashing: Data("other".utf8)))))
        #expect(error?.codeText == "no-trusted-root")
        #expect(error?.message == "no root of https://h.example/o/models.json has the configured fingerprint")
        #expect(!http.requests.withLock { $0.contains("/o/models.json") })
    }

    @Test func signaturesThatEndSoonAreAnnounced() throws {
        let now = TrustLab.now
        func sentence(_ seconds: TimeInterval) -> String? {
            ExpiringSignatures("main", until: now.addingTimeInterval(seconds), now: now)?.sentence
        }
        #expect(ExpiringSignatures("main", until: nil, now: now) == nil)
        #expect(sentence(7 * 86400) == nil)
        #expect(
            sentence(7 * 86400 - 1)?.hasPrefix("main: its signatures expire on 2027-01-22T07:59:59Z, in 6 days.")
                == true)
        #expect(sentence(86400)?.contains("in 1 day.") == true)
        #expect(sentence(60)?.contains("within a day.") == true)
        #expect(sentence(0)?.contains("within a day.") == true)
        #expect(sentence(-60)?.contains("expired on 2027-01-15T07:59:00Z.") == true)
    }

    @Test func keysHaveOneTextAndOneName() throws {
        let pem = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==
            -----END PUBLIC KEY-----
            """
        let key = try #require(MetadataKey(text: pem))
        #expect(key.verifying.scheme == .ecdsaP256)
        let again = try #require(MetadataKey(.ecdsaP256, text: key.text))
        #expect(again == key && again.id == key.id)
        #expect(key.entry.members?["keytype"] == .string("ecdsa"))
        let own = Ed25519Key()
        #expect(try own.key.id == MetadataKeys.id(of: own))
        #expect(try own.key.entry == MetadataKeys.entry(own.publicBytes))
        #expect(MetadataKey(text: "no key") == nil)
    }
}
