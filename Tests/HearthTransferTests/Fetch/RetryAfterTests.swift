import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

@Suite(.timeLimit(.minutes(10))) struct RetryAfterTests {
    /// Fri, 15 Jan 2027 08:00:00 GMT.
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test(arguments: [
        ("1", 1), (" 30 ", 30), ("007", 7), ("300", 300), ("301", 300), ("86400", 300), ("9223372036854775807", 300),
        ("Fri, 15 Jan 2027 08:00:45 GMT", 45), ("Friday, 15-Jan-27 08:02:00 GMT", 120),
        ("Fri Jan 15 08:01:00 2027", 60), ("Tue Feb  1 08:01:00 2028", 300), ("Tue, 29 Feb 2028 08:00:00 GMT", 300),
        ("Thu, 31 Dec 9999 23:59:60 GMT", 300),
    ])
    func readsSecondsAndDatesUpToACeiling(_ text: String, seconds: Int) {
        for status in [429, 503] {
            #expect(RetryAfter.pause(status: status, text, now: Self.now) == .seconds(seconds))
        }
    }

    @Test(
        arguments: [
            nil, "", " ", "0", "-1", "+5", "1.5", "1e9", "0x10", "5 s", "5,5", "soon", "٣", "99999999999999999999",
            "Fri, 15 Jan 2027 07:59:59 GMT", "Sun Nov  6 08:49:37 1994", "Sunday, 06-Nov-94 08:49:37",
            "Fri, 15 Jan 2027 08:00:45", "Fri, 15 Jan 2027 08:00:45 CET", "Fri, 15 Jan 2027 24:00:45 GMT",
            "Fri, 15 Jan 2027 08:60:45 GMT", "Fri, 15 Jan 2027 08:00:61 GMT", "Fri, 31 Feb 2027 08:00:45 GMT",
            "Fri, 15 jan 2027 08:00:45 GMT", "Fri, 15 Jan 99999 08:00:45 GMT", "Fri, 15 Jan -027 08:00:45 GMT",
            "Fri, 15 Jan 2027 08:00 GMT", "2027-01-15T08:00:45Z", "a b c d e", ", , , , , GMT", "Friday, -- :: GMT",
            "Fri, 9223372036854775807 Jan 2027 08:00:45 GMT", String(repeating: "9", count: 100_000),
        ] as [String?])
    func refusesWhatMeansNoPause(_ text: String?) {
        #expect(RetryAfter.pause(status: 503, text, now: Self.now) == nil)
    }

    @Test(arguments: [200, 206, 301, 408, 404, 500, 502, 504])
    func otherStatusesDoNotAsk(_ status: Int) {
        #expect(RetryAfter.pause(status: status, "30", now: Self.now) == nil)
    }
}

/// The same, against a server that means it.
@Suite(.timeLimit(.minutes(10))) struct BusyServerTests {
    private static let content = Content.pattern(count: 100_000)
    private static let http = CurlHTTPClient()
    private let folder: TemporaryFolder
    private let clock = HurriedClock()

    init() throws { folder = try TemporaryFolder() }

    private func fetch(_ servers: FaultServer...) async throws -> (TransferredFile, waited: Duration) {
        let request = TransferRequest(
            label: "m.gguf", locations: try servers.map { try $0.url("/m.gguf") }, size: .exact(Self.content.count),
            digest: SHA256Digest(hashing: Self.content.bytes))
        let start = clock.now
        let file = try await FileTransfer(
            http: Self.http, fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path
        ).fetch(request) { _ in }
        return (file, start.duration(to: clock.now))
    }

    private func busy(_ status: Int, _ value: String?) throws -> FaultServer {
        try FaultServer { request in
            guard request.index == 0 else { return FaultServer.answer(request, with: Self.content) }
            let reply = Reply(status)
            return value.map { reply.header("Retry-After", $0) } ?? reply
        }
    }

    /// Between the pause that was asked for and that plus our own, which is at most half a second the first time.
    @Test(
        arguments: [429, 503],
        [
            ("20", 20), ("Fri, 15 Jan 2027 08:00:45 GMT", 45), ("99999", 300), ("0", 0), ("-5", 0), ("never", 0),
            (nil, 0),
        ] as [(String?, Int)])
    func isLeftAloneAsLongAsItAsks(_ status: Int, _ row: (value: String?, seconds: Int)) async throws {
        let server = try busy(status, row.value)
        let (file, waited) = try await fetch(server)
        #expect(file.fetchedBytes == Self.content.count)
        #expect(server.requests.count == 2)
        #expect(waited >= .seconds(row.seconds) && waited <= .seconds(Double(row.seconds) + 0.5))
    }

    @Test func anotherPlaceIsAskedMeanwhile() async throws {
        let (_, waited) = try await fetch(try busy(503, "60"), try FaultServer(FaultServer.file(Self.content)))
        #expect(waited == .zero)
    }

    @Test func aPlaceThatAskedForLongerIsNotAskedSooner() async throws {
        let first = try busy(503, "60")
        let second = try FaultServer { _ in Reply(500) }
        let (_, waited) = try await fetch(first, second)
        #expect(first.requests.count == 2)
        #expect(waited >= .seconds(60))
    }

    @Test func aServerThatStaysBusyIsGivenUp() async throws {
        let server = try FaultServer { _ in Reply(429).header("Retry-After", "10") }
        let start = clock.now
        let error = await #expect(throws: TransferError.self) { try await fetch(server) }
        #expect(error?.code == .serverBusy)
        #expect(error?.disposition == .tryLater)
        #expect(server.requests.count == 4)
        #expect(start.duration(to: clock.now) >= .seconds(30))
    }
}
