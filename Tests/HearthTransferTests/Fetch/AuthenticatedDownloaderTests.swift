import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// Addresses from a gateway: the question, its answers, and renewals in mid-transfer.
@Suite(.timeLimit(.minutes(2)))
struct AuthenticatedDownloaderTests {
    private static let http = CurlHTTPClient()

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A server that is a gateway and a bucket: an address works for one request, which it breaks off in the middle of the
    /// file; the next address brings the rest.
    private static func server(_ content: Content, given: Locked<[String: Int]>) throws -> FaultServer {
        try FaultServer { request in
            if request.path == "/gateway/models/address" {
                guard request.headers["Authorization"] == "Bearer device-key", request.method == "POST",
                    case .string(let location)? = (try? JSONValue(parsing: request.body))?.members?["location"],
                    let url = URL(string: location)
                else { return Reply(401) }
                let number = given.withLock { given in
                    given[url.path, default: 0] += 1
                    return given[url.path, default: 0]
                }
                let body = JSONValue.object([
                    "url": .string("\(location)?signature=\(number)"), "expiresIn": .integer(900),
                ])
                return Reply(body: .data(body.data))
            }
            // Neither the key nor an address of another time reaches a byte.
            guard request.headers["Authorization"] == nil, let number = request.query("signature").flatMap({ Int($0) }),
                number == given.withLock({ $0[request.path] ?? 0 })
            else { return Reply(403) }
            let reply = FaultServer.answer(request, with: content)
            guard number == 1 else { return reply }
            given.withLock { $0[request.path] = 100 }
            return reply.dropped(after: content.count / 2)
        }
    }

    private static func request(_ url: URL, _ content: Content) -> TransferRequest {
        TransferRequest(
            label: url.lastPathComponent, locations: [url], size: .exact(content.count),
            digest: SHA256Digest(hashing: content.bytes))
    }

    /// Two hundred files at once; the address of each expires in the middle.
    @Test func twoHundredRenewalsInMidTransferLoseNoByte() async throws {
        let given = Locked<[String: Int]>([:])
        let size: UInt64 = 60_000
        // One content for all, but a folder for each, since a transfer's folder is named by the digest.
        let content = Content.pattern(count: size)
        let server = try Self.server(content, given: given)
        let provider = try AuthenticatedDownloader(
            gateway: try server.url("/gateway"), header: "Authorization", files: [], http: Self.http
        ) { try required(Secret("device-key")) }
        let digest = SHA256Digest(hashing: content.bytes)
        var tuning = TransferTuning()
        // On a busy machine every connection is slow, and each would be helped.
        tuning.stragglerInterval = nil
        let (folder, steady) = (folder, tuning)
        try await withThrowingTaskGroup(of: TransferredFile.self) { group in
            for index in 0..<200 {
                let url = try server.url("/files/\(index).gguf")
                let transfer = FileTransfer(
                    http: Self.http, fileSystem: LocalFileSystem(), time: .system, folder: folder.path("\(index)"),
                    tuning: steady, provider: provider)
                group.addTask { try await transfer.fetch(Self.request(url, content)) { _ in } }
            }
            for try await file in group {
                #expect(file.digest == digest && file.fetchedBytes == size)
                #expect(try LocalFileSystem().digest(ofFile: file.path) == digest)
            }
        }
        #expect(given.withLock { $0.count == 200 && $0.values.allSatisfy { $0 == 101 } }, "one renewal for each")
        let keyed = server.requests.filter { $0.headers["Authorization"] != nil }
        #expect(keyed.count == 400 && keyed.allSatisfy { $0.path == "/gateway/models/address" })
    }

    private actor Counting: DownloadURLProvider {
        private(set) var count = 0
        private var isAway = false
        let lifetime: Duration?

        init(_ lifetime: Duration?) { self.lifetime = lifetime }

        func goAway() { isAway = true }

        func downloadURL(for location: URL) async throws -> URL { try await downloadAddress(for: location).url }

        func downloadAddress(for location: URL) throws -> DownloadAddress {
            if isAway { throw HTTPError(.cannotConnect, "the gateway is away", disposition: .tryLater) }
            count += 1
            return DownloadAddress(
                location.appending(queryItems: [URLQueryItem(name: "n", value: "\(count)")]), lifetime: lifetime)
        }
    }

    @Test(arguments: [(900, 870), (100, 90), (10, 9)])
    func anAddressIsRenewedShortlyBeforeItsEnd(lifetime: Int, renewal: Int) async throws {
        let clock = ManualClock()
        let provider = Counting(.seconds(lifetime))
        let location = try required(URL(string: "https://models.example/x"))
        let addresses = SourceAddresses(locations: [location], provider: provider, time: clock.time)
        let first = try await addresses.address(of: 0)
        clock.advance(by: .seconds(renewal) - .milliseconds(1))
        #expect(try await addresses.address(of: 0) == first)
        clock.advance(by: .milliseconds(1))
        let second = try await addresses.address(of: 0)
        #expect(second.url.query() == "n=2" && second.generation == 1)
        // A gateway that is away does not stop a transfer whose address still works.
        clock.advance(by: .seconds(renewal))
        await provider.goAway()
        #expect(try await addresses.address(of: 0) == second)
        await #expect(throws: HTTPError.self) { try await addresses.address(of: 0, refused: second) }
        clock.advance(by: .seconds(lifetime - renewal))
        await #expect(throws: HTTPError.self) { try await addresses.address(of: 0) }
    }

    @Test func anAddressOfUnknownLifeIsKept() async throws {
        let clock = ManualClock()
        let provider = Counting(nil)
        let addresses = SourceAddresses(
            locations: [try required(URL(string: "https://models.example/x"))], provider: provider, time: clock.time)
        let first = try await addresses.address(of: 0)
        clock.advance(by: .seconds(1_000_000))
        #expect(try await addresses.address(of: 0) == first)
    }

    @Test func otherFilesKeepTheirAddress() async throws {
        let files = try required(URL(string: "https://models.example/files/"))
        let downloads = try AuthenticatedDownloader(
            gateway: try required(URL(string: "https://gateway.example")), key: "k", files: [files])
        let table = [
            ("https://models.example/files/a", true), ("https://MODELS.example:443/files/a", true),
            ("https://models.example/files", true), ("https://models.example/filesystem", false),
            ("http://models.example/files/a", false), ("https://models.example:444/files/a", false),
            ("https://huggingface.co/files/a", false), ("file:///files/a", false),
        ]
        for (text, expected) in table {
            let location = try required(URL(string: text))
            #expect(downloads.provides(for: location) == expected, "\(text)")
            let addresses = SourceAddresses(locations: [location], provider: downloads)
            if !expected { #expect(try await addresses.address(of: 0).url == location) }
        }
    }

    @Test func theKeyGoesIntoTheChosenHeader() async throws {
        let server = try FaultServer { _ in Reply(body: .data(Data(#"{"url":"https://s3.example/x?s"}"#.utf8))) }
        let downloads = try AuthenticatedDownloader(gateway: try server.url("/g/"), key: "k-1", header: "X-API-Key")
        let location = try required(URL(string: "https://models.example/x"))
        let address = try await downloads.downloadAddress(for: location)
        #expect(address == DownloadAddress(try required(URL(string: "https://s3.example/x?s"))))
        let request = try required(server.requests.first)
        #expect(request.headers["X-API-Key"] == "k-1" && request.headers["Authorization"] == nil)
        #expect(request.path == "/g/models/address")
        #expect(!"\(downloads)".contains("k-1"))
    }

    @Test(
        arguments: [
            (200, "", "no-address"), (200, "{", "no-address"), (200, "[]", "no-address"), (200, "{}", "no-address"),
            (200, #"{"url":1}"#, "no-address"), (200, #"{"url":""}"#, "no-address"),
            (200, #"{"url":"/relative"}"#, "no-address"), (200, #"{"url":"http://s3.example/x"}"#, "no-address"),
            (200, #"{"url":"file:///etc/passwd"}"#, "no-address"), (204, "", "no-address"),
            (302, "", "no-address"), (400, "<html>", "no-address"), (401, "{}", "access-denied"),
            (403, "", "access-denied"), (404, "", "missing-at-origin"), (429, "", "server-busy"),
            (500, "", "server-busy"), (503, #"{"error":{"code":"store-unavailable"}}"#, "server-busy"),
            (200, "{\"url\":\"" + String(repeating: "x", count: 70_000), "response-too-large"),
        ])
    func otherAnswersAreErrors(status: Int, body: String, code: String) async throws {
        let server = try FaultServer { _ in
            Reply(
                status, headers: ["Location": "https://evil.example/", "Retry-After": "7"], body: .data(Data(body.utf8))
            )
        }
        let downloads = try AuthenticatedDownloader(gateway: try server.url("/g"), key: "device-key")
        let location = try required(URL(string: "https://models.example/private/x.gguf"))
        do {
            let url = try await downloads.downloadURL(for: location)
            Issue.record("\(url) is no address")
        } catch let error as any HearthFailure {
            #expect(error.codeText == code, "\(error)")
            #expect(!"\(error)".contains("device-key"))
            if code == "server-busy" {
                #expect(error.disposition == .tryLater)
                #expect(error.context.retryAfterSeconds == (status == 500 ? nil : 7))
            }
        }
        #expect(server.requests.count == 1)
    }

    @Test func whatCannotBeSentIsRefused() throws {
        let gateway = try required(URL(string: "https://gateway.example"))
        for key in ["", " ", "two words", "a\nb", "ключ"] {
            #expect(throws: TransferError.self) { try AuthenticatedDownloader(gateway: gateway, key: key) }
        }
        for header in ["", "Host", "content-length", "X Key", "X:", "X\n", String(repeating: "x", count: 65)] {
            #expect(throws: TransferError.self) {
                try AuthenticatedDownloader(gateway: gateway, key: "k", header: header)
            }
        }
    }
}
