import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ExchangeTests {
    let client = CurlHTTPClient(version: "7.8.9")

    @Test func aGetBringsStatusHeadersAndBody() async throws {
        let server = try FaultServer { _ in Reply.text("hello", status: 404).header("X-Thing", "one") }
        let response = try await client.execute(HTTPRequest(try server.url("/a%20b?q=1")))
        #expect(response.status == 404)
        #expect(response.headers["x-thing"] == "one")
        #expect(response.contentLength == 5)
        #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
        let request = try #require(server.requests.first)
        #expect(request.target == "/a%20b?q=1")
        #expect(request.headers["User-Agent"] == "hearth/7.8.9")
        #expect(request.headers["Accept-Encoding"] == "identity")
        #expect(request.headers["Authorization"] == nil)
    }

    @Test func aHeadHasNoBodyButTheLength() async throws {
        let server = try FaultServer(FaultServer.file(.pattern(count: 5 << 30)))
        let response = try await client.execute(HTTPRequest(try server.url("/"), method: "HEAD", maximumBodySize: 10))
        #expect(response.contentLength == 5 << 30)
        #expect(try await response.body.collect(upTo: 1).isEmpty)
        #expect(server.requests.map(\.method) == ["HEAD"])
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func aBodyGoesUp(method: String) async throws {
        let server = try FaultServer { _ in Reply.text("ok") }
        let body = Content.pattern(count: 3_000_000).bytes
        let headers: HTTPHeaders = ["Content-Type": "text/x-test", "X-Empty": ""]
        let response = try await client.execute(
            HTTPRequest(
                try server.url("/"), method: method, headers: headers, body: body, authorization: "Bearer s3cret"))
        #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
        let request = try #require(server.requests.first)
        #expect(request.method == method)
        #expect(request.body == body)
        #expect(request.headers["Content-Type"] == "text/x-test")
        #expect(request.headers["X-Empty"] == "")
        #expect(request.headers["Authorization"] == "Bearer s3cret")
        #expect(request.headers["Expect"] == nil)
    }

    @Test func anEmptyPostHasNoContentTypeOfItsOwn() async throws {
        let server = try FaultServer { _ in Reply.text("ok") }
        let request = HTTPRequest(try server.url("/"), method: "POST")
        #expect(try await client.execute(request).body.collect(upTo: 10).count == 2)
        #expect(server.requests.first?.method == "POST")
        #expect(server.requests.first?.headers["Content-Type"] == nil)
    }

    @Test(arguments: [0, 1, 16383, 16384, 16385, 1 << 20, (3 << 20) + 7])
    func bodiesArriveWholeInEveryFraming(count: UInt64) async throws {
        let content = Content.pattern(offset: 99, count: count)
        let expected = content.bytes
        for framing in [Reply.Framing.length, .chunked, .untilClose] {
            let server = try FaultServer { _ in Reply(body: content).framed(framing) }
            let response = try await client.execute(HTTPRequest(try server.url("/")))
            #expect(try await response.body.collect(upTo: 8 << 20) == expected)
        }
    }

    @Test func aSlowBodyArrivesAsItComes() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in Reply(body: .pattern(count: 100)).stalled(after: 40, at: gate) }
        let response = try await client.execute(HTTPRequest(try server.url("/")))
        var iterator = response.body.makeAsyncIterator()
        var received = 0
        while received < 40 { received += try #require(await iterator.next()).count }
        #expect(received == 40)
        gate.open()
        while let chunk = try await iterator.next() { received += chunk.count }
        #expect(received == 100)
    }

    @Test func aConnectionIsUsedAgain() async throws {
        let server = try FaultServer(FaultServer.file(Data("abc".utf8)))
        for _ in 0..<3 {
            let response = try await client.execute(HTTPRequest(try server.url("/")))
            _ = try await response.body.collect(upTo: 3)
        }
        #expect(server.record.connectionsAccepted == 1)
        #expect(server.requests.count == 3)
    }

    @Test func aHundredAtOnce() async throws {
        let server = try FaultServer { request in
            Reply(body: .pattern(offset: UInt64(request.path.dropFirst()) ?? 0, count: 100_000))
        }
        try await withThrowingTaskGroup(of: (Int, Data).self) { group in
            for number in 0..<100 {
                let url = try server.url("/\(number)")
                group.addTask {
                    (number, try await client.execute(HTTPRequest(url)).body.collect(upTo: 100_000))
                }
            }
            for try await (number, data) in group {
                #expect(data == Content.pattern(offset: UInt64(number), count: 100_000).bytes)
            }
        }
        #expect(server.requests.count == 100)
    }

    @Test func aBodyIsReadOnce() async throws {
        let server = try FaultServer { _ in Reply.text("once") }
        let response = try await client.execute(HTTPRequest(try server.url("/")))
        _ = try await response.body.collect(upTo: 10)
        await #expect(throws: HTTPError.self) { _ = try await response.body.collect(upTo: 10) }
    }

    @Test func aRangeIsAnsweredInPart() async throws {
        let server = try FaultServer(FaultServer.file(.pattern(count: 1000), etag: "\"x\""))
        let headers: HTTPHeaders = ["Range": "bytes=900-", "If-Range": "\"x\""]
        let response = try await client.execute(HTTPRequest(try server.url("/"), headers: headers))
        #expect(response.status == 206)
        #expect(response.headers["Content-Range"] == "bytes 900-999/1000")
        #expect(try await response.body.collect(upTo: 100) == Content.pattern(offset: 900, count: 100).bytes)
    }

    @Test func aClientLetGoOfStillDeliversABodyUnderWay() async throws {
        let server = try FaultServer(FaultServer.file(.pattern(count: 9 << 20)))
        var own: CurlHTTPClient? = CurlHTTPClient()
        let response = try await own?.execute(HTTPRequest(try server.url("/")))
        own = nil
        #expect(try await response?.body.collect(upTo: 9 << 20).count == 9 << 20)
    }

    @Test func aClientLetGoOfClosesItsConnections() async throws {
        let server = try FaultServer(FaultServer.file(Data("abc".utf8)))
        for _ in 0..<20 {
            let response = try await CurlHTTPClient().execute(HTTPRequest(try server.url("/")))
            #expect(try await response.body.collect(upTo: 3).count == 3)
        }
        await server.wait { $0.connectionsAccepted == 20 && $0.connectionsOpen == 0 }
    }

    @Test func anEncodedBodyIsPassedOnAsItIs() async throws {
        let bytes = Data([0x1F, 0x8B, 8, 0, 1, 2, 3])
        let server = try FaultServer { _ in Reply(headers: ["Content-Encoding": "gzip"], body: .data(bytes)) }
        let response = try await client.execute(HTTPRequest(try server.url("/")))
        #expect(try await response.body.collect(upTo: 10) == bytes)
    }

    @Test(arguments: [
        ("", "/"), ("?a=1", "/?a=1"),
        ("/a%2Fb%20c/+~;=%C3%BC?sig=%2B/%3D&x=a+b", "/a%2Fb%20c/+~;=%C3%BC?sig=%2B/%3D&x=a+b"),
        ("/x#part", "/x"), ("/a//b", "/a//b"),
    ])
    func theTargetIsSentAsItWasGiven(path: String, target: String) async throws {
        let server = try FaultServer { _ in .text("x") }
        _ = try await client.execute(HTTPRequest(try server.url(path)))
        #expect(server.requests.first?.target == target)
    }
}
