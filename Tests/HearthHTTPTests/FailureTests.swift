import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FailureTests {
    let client = CurlHTTPClient()

    /// The error of a whole exchange, body included.
    private func failure(_ request: HTTPRequest) async -> HTTPError? {
        do {
            _ = try await client.execute(request).body.collect(upTo: 64 << 20)
            return nil
        } catch {
            return error as? HTTPError
        }
    }

    // MARK: Time

    @Test func silenceInTheBodyTimesOut() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in Reply(body: .pattern(count: 100)).stalled(after: 10, at: gate) }
        let error = await failure(HTTPRequest(try server.url("/?token=s3cret"), idleTimeout: .milliseconds(200)))
        #expect(error?.code == .timedOut)
        #expect(error?.disposition == .tryLater)
        #expect(error?.message == "127.0.0.1:\(server.port) sent nothing for 0.2 s")
        #expect(error.map { String(describing: $0).contains("s3cret") } == false)
        await server.wait { $0.connectionsOpen == 0 }
    }

    /// The bytes of the request that were sent before the head do not extend the silence after it.
    @Test func silenceAfterAnUploadTimesOutOnce() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in Reply(body: .pattern(count: 100)).stalled(after: 10, at: gate) }
        let error = await failure(
            HTTPRequest(
                try server.url("/"), method: "POST", body: Data(count: 1000), idleTimeout: .seconds(2),
                totalTimeout: .milliseconds(3900)))
        #expect(error?.message == "127.0.0.1:\(server.port) sent nothing for 2 s")
    }

    @Test func silenceBeforeTheHeadTimesOut() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in Reply.text("late").stalledBeforeHead(at: gate) }
        let error = await failure(HTTPRequest(try server.url("/"), idleTimeout: .milliseconds(200)))
        #expect(error?.code == .timedOut)
        await server.wait { $0.connectionsOpen == 0 }
    }

    @Test func aSlowButSteadyBodyIsNotSilence() async throws {
        let server = try FaultServer { _ in
            Reply(body: .pattern(count: 150_000)).paced(bytesPerSecond: 30_000)
        }
        let started = ContinuousClock.now
        let error = await failure(HTTPRequest(try server.url("/"), idleTimeout: .seconds(4)))
        #expect(error == nil)
        #expect(started.duration(to: .now) > .seconds(4))
    }

    @Test func aConsumerWhoTakesHisTimeIsNotSilence() async throws {
        let server = try FaultServer(
            blockedAfter: .milliseconds(4500), FaultServer.file(.pattern(count: 64 << 20)))
        let response = try await client.execute(HTTPRequest(try server.url("/"), idleTimeout: .seconds(4)))
        let record = await server.wait { $0.requests.first.map { $0.isBlocked || $0.outcome != nil } ?? false }
        #expect(record.requests.first?.isBlocked == true)
        #expect(try await response.body.collect(upTo: 64 << 20).count == 64 << 20)
    }

    @Test func theWholeExchangeHasALimit() async throws {
        let server = try FaultServer { _ in
            Reply(body: .pattern(count: 10_000_000)).paced(bytesPerSecond: 50_000)
        }
        let error = await failure(HTTPRequest(try server.url("/"), totalTimeout: .milliseconds(300)))
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("did not finish within 0.3 s") == true)
        await server.wait { $0.connectionsOpen == 0 }
    }

    @Test func theLimitCountsRedirectsToo() async throws {
        let server = try FaultServer { request in
            Reply.redirect("/\(request.index + 1)")
        }
        let request = HTTPRequest(
            try server.url("/0"), totalTimeout: .milliseconds(200), maximumRedirects: .max)
        #expect(await failure(request)?.code == .timedOut)
    }

    @Test func aHandshakeThatNeverEndsTimesOutAndCanBeCancelled() async throws {
        // The server waits for the end of a request; all it gets is the client's half of a TLS handshake.
        let server = try FaultServer { _ in Reply.hangUp }
        let url = try server.url("/", scheme: "https")
        let error = await failure(HTTPRequest(url, connectTimeout: .milliseconds(200)))
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("could not be reached within 0.2 s") == true)
        await server.wait { $0.connectionsAccepted == 1 && $0.connectionsOpen == 0 }

        let task = Task { try await client.execute(HTTPRequest(url)).status }
        await server.wait { $0.connectionsAccepted == 2 }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await server.wait { $0.connectionsOpen == 0 }
    }

    // MARK: Connections

    @Test func aClosedPortIsNobody() async throws {
        let nobody = try ClosedPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(nobody.port)/"))
        let error = await failure(HTTPRequest(url))
        #expect(error?.code == .cannotConnect)
        #expect(error?.disposition == .tryLater)
        #expect(error?.message == "no server answers at 127.0.0.1:\(nobody.port)")
    }

    @Test func aNameThatCannotExistIsNotFound() async throws {
        let url = try #require(URL(string: "https://no-such-host.invalid/x?key=s3cret"))
        let error = await failure(HTTPRequest(url))
        #expect(error?.code == .cannotResolve)
        #expect(error?.message == "no machine named no-such-host.invalid was found")
    }

    @Test(arguments: [0, 1, 5000, 99_999] as [UInt64])
    func aShortBodyIsALostConnection(count: UInt64) async throws {
        let server = try FaultServer { _ in Reply(body: .pattern(count: 100_000)).dropped(after: count) }
        let response = try await client.execute(HTTPRequest(try server.url("/")))
        var received: UInt64 = 0
        do {
            for try await chunk in response.body { received += UInt64(chunk.count) }
            Issue.record("a short body ended well")
        } catch let error as HTTPError {
            #expect(error.code == .connectionLost)
            #expect(error.context.expected == "100000 bytes")
            #expect(error.context.found == "\(count) bytes")
        }
        #expect(received == count)
    }

    @Test func aResetIsALostConnection() async throws {
        let server = try FaultServer { _ in Reply(body: .pattern(count: 100_000)).reset(after: 50) }
        #expect(await failure(HTTPRequest(try server.url("/")))?.code == .connectionLost)
    }

    @Test func anUnfinishedChunkedBodyIsALostConnection() async throws {
        let server = try FaultServer { _ in
            Reply(body: .pattern(count: 100_000)).framed(.chunked).dropped(after: 70_000)
        }
        #expect(await failure(HTTPRequest(try server.url("/")))?.code == .connectionLost)
    }

    @Test func hangingUpIsALostConnection() async throws {
        let server = try FaultServer { _ in .hangUp }
        #expect(await failure(HTTPRequest(try server.url("/")))?.code == .connectionLost)
    }

    @Test func plainHTTPBehindHTTPSIsATLSFailure() async throws {
        let server = try FaultServer(greeting: Data("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) { _ in .hangUp }
        let error = await failure(HTTPRequest(try server.url("/", scheme: "https")))
        #expect(error?.code == .tlsFailure)
    }

    /// Bytes beyond the declared length of an answer poison the next request on its connection, not the server.
    @Test(arguments: ["surplus", "xx\r\n\r\n"])
    func surplusBytesOnAReusedConnectionAreALostConnection(bytes: String) async throws {
        let count = Locked(0)
        let server = try FaultServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 2 ? .garbage(Data(bytes.utf8)) : Reply(body: .pattern(count: 10))
        }
        let client = CurlHTTPClient()
        for (number, code) in [nil, ErrorCode<HTTPErrorDomain>.connectionLost, nil].enumerated() {
            do {
                let response = try await client.execute(HTTPRequest(try server.url("/")))
                #expect(try await response.body.collect(upTo: 100).count == 10)
                #expect(code == nil, "request \(number)")
            } catch let error as HTTPError {
                #expect(error.code == code, "request \(number): \(error)")
                #expect(error.disposition == .tryLater)
            }
        }
        // The first and the second request had one connection, the third another.
        #expect(server.record.connectionsAccepted == 2)
    }

    // MARK: Nonsense

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "<html>not http</html>\n", "\u{0}\u{1}\u{2}\u{3}", "HTTP/9.9 huh\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: twelve\r\n\r\nx", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func nonsenseIsABadResponse(bytes: String) async throws {
        let server = try FaultServer { _ in .garbage(Data(bytes.utf8)) }
        let error = await failure(HTTPRequest(try server.url("/")))
        #expect(error != nil)
        #expect([.badResponse, .connectionLost].contains(error?.code))
    }

    @Test(arguments: [1000, 100_000])
    func aFloodOfHeadersIsRefused(lineLength: Int) async throws {
        let line = "X-Flood: " + String(repeating: "x", count: lineLength) + "\r\n"
        let flood = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 2_000_000 / lineLength)
        let server = try FaultServer { _ in .garbage(Data(flood.utf8)) }
        #expect(await failure(HTTPRequest(try server.url("/")))?.code == .badResponse)
        await server.wait { $0.connectionsOpen == 0 }
    }

    @Test func interimAnswersWithoutEndAreRefused() async throws {
        let flood = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 20_000)
        let server = try FaultServer { _ in .garbage(Data(flood.utf8)) }
        #expect(await failure(HTTPRequest(try server.url("/")))?.code == .badResponse)
    }

    // MARK: Sizes

    @Test func aDeclaredLengthAboveTheLimitFailsBeforeTheBody() async throws {
        let server = try FaultServer(FaultServer.file(.pattern(count: 50 << 20)))
        await #expect {
            _ = try await client.execute(HTTPRequest(try server.url("/"), maximumBodySize: 1000))
        } throws: { error in
            (error as? HTTPError)?.code == .tooLarge
                && (error as? HTTPError)?.context.expected == "at most 1000 bytes"
        }
        await server.wait { $0.connectionsOpen == 0 }
    }

    @Test(arguments: [Reply.Framing.chunked, .untilClose])
    func anEndlessBodyStopsAtTheByte(framing: Reply.Framing) async throws {
        let server = try FaultServer { _ in Reply(body: .pattern(count: 1 << 40)).framed(framing) }
        let response = try await client.execute(HTTPRequest(try server.url("/"), maximumBodySize: 100_001))
        var received = Data()
        do {
            for try await chunk in response.body { received.append(contentsOf: chunk) }
            Issue.record("a body without end ended well")
        } catch let error as HTTPError {
            #expect(error.code == .tooLarge)
        }
        #expect(received == Content.pattern(count: 100_001).bytes)
        await server.wait { $0.connectionsOpen == 0 }
    }

    @Test func aBodyOfExactlyTheLimitIsFine() async throws {
        for framing in [Reply.Framing.length, .chunked, .untilClose] {
            let server = try FaultServer { _ in Reply(body: .pattern(count: 100_001)).framed(framing) }
            let request = HTTPRequest(try server.url("/"), maximumBodySize: 100_001)
            #expect(try await client.execute(request).body.collect(upTo: 100_001).count == 100_001)
        }
    }

    @Test func moreThanDeclaredIsNotPassedOn() async throws {
        let server = try FaultServer { _ in Reply(body: .pattern(count: 5000)).framed(.declared(100)) }
        #expect(try await client.execute(HTTPRequest(try server.url("/"))).body.collect(upTo: 5000).count == 100)
    }

    // MARK: Requests that are not sent

    @Test(arguments: [
        "http://models.example.org/x", "ftp://example.org/x", "gopher://127.0.0.1/", "http://127.0.0.2.example.org/",
        "http://127.1/", "http://2130706433/", "https://user:pw@example.org/", "https:///x", "https://exa mple.org/",
        "http://localhost.example.org/", "http://0.0.0.0/", "http://[::2]/", "dict://localhost/", "data:text/plain,x",
    ])
    func anAddressThatIsNotSafeIsRefused(text: String) async throws {
        guard let url = URL(string: text) else { return }
        let error = await failure(HTTPRequest(url))
        #expect(error?.code == .unsupportedURL)
        #expect(error?.disposition == .usage)
        #expect(error?.message.contains("pw") == false)
    }

    @Test(arguments: [("X-A", "one\r\nX-B: two"), ("X-A", "one\nX-B: two"), ("X A", "one"), ("", "one"), ("X-A:", "1")])
    func aHeaderThatWouldBecomeTwoIsRefused(name: String, value: String) async throws {
        let server = try FaultServer { _ in .text("x") }
        var request = HTTPRequest(try server.url("/"))
        request.headers.append(name, value)
        #expect(await failure(request)?.code == .badRequest)
        request = HTTPRequest(try server.url("/"), method: "GET / HTTP/1.1\r\nX: y")
        #expect(await failure(request)?.code == .badRequest)
        request = HTTPRequest(try server.url("/"), authorization: "Bearer x\r\nX: y")
        #expect(await failure(request)?.code == .badRequest)
        #expect(server.requests.isEmpty)
    }
}
