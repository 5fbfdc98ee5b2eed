import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Bodies of requests, and replies of bytes.
@Suite(.timeLimit(.minutes(10)))
struct BodyTests {
    /// Answers with the body; with its error's code if there is one.
    private static let echo: Responder = { request in
        do {
            let bytes = try await request.body.collect(limit: 8 << 20)
            return ServerReply(status: 200, body: .bytes(bytes))
        } catch let error as ServerError {
            return .text(413, error.codeText)
        } catch {
            return .text(500, "\(error)")
        }
    }

    private static let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 5) }

    @Test func takesABodyOfKnownLength() async throws {
        try await ServerFixture.with(respond: Self.echo) { server in
            let connection = try RawConnection(server.address)
            for count in [0, 1, 5000, Self.bytes.count] {
                try connection.send("POST", "/", ["Content-Length: \(count)"])
                try connection.send(Array(Self.bytes.prefix(count)))
                #expect(try connection.response().body == Array(Self.bytes.prefix(count)))
            }
        }
    }

    @Test(arguments: [1, 7, 70_000])
    func takesAChunkedBody(size: Int) async throws {
        let body = Array(Self.bytes.prefix(size * 12 + 3))
        try await ServerFixture.with(respond: Self.echo) { server in
            let connection = try RawConnection(server.address)
            try connection.send("POST", "/", ["Transfer-Encoding: chunked"])
            for start in stride(from: 0, to: body.count, by: size) {
                let chunk = body[start..<min(body.count, start + size)]
                try connection.send(Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [13, 10])
            }
            try connection.send(Array("0\r\n\r\n".utf8))
            let response = try connection.response()
            #expect(response.body == body && response.headers["connection"] == "close")
            #expect(connection.receiveAll().isEmpty)
        }
    }

    @Test func stopsAClientWhileTheBodyIsNotRead() async throws {
        let (arrived, go) = (Signal(), Signal())
        let respond: Responder = { request in
            arrived.send()
            await go.wait()
            return await Self.echo(request)
        }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address)
            let count = 6 << 20
            try connection.send("POST", "/", ["Content-Length: \(count)"])
            await arrived.wait()
            async let sent: Void = blocking {
                try connection.send([UInt8](repeating: 9, count: count))
            }
            go.send()
            try await sent
            #expect(try connection.response().body.count == count)
        }
    }

    @Test func answersBeforeTheEndOfABody() async throws {
        let respond: Responder = { _ in .text(403, "not wanted") }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address)
            try connection.send("POST", "/", ["Content-Length: 2000000"])
            try connection.send([UInt8](repeating: 1, count: 2_000_000))
            #expect(try connection.response().status == 403)
        }
    }

    @Test func refusesBodiesThatAreTooLarge() async throws {
        var limits = ListenerLimits()
        limits.bodyBytes = 1000
        try await ServerFixture.with(limits: limits, respond: Self.echo) { server in
            let declared = try RawConnection(server.address)
            try declared.send("POST", "/", ["Content-Length: 1001"])
            #expect(try declared.response().status == 413)
            let chunked = try RawConnection(server.address)
            try chunked.send("POST", "/", ["Transfer-Encoding: chunked"])
            try chunked.send(
                Array("3e9\r\n".utf8) + [UInt8](repeating: 1, count: 1001) + Array("\r\n0\r\n\r\n".utf8))
            #expect(!String(decoding: chunked.receiveAll(), as: UTF8.self).hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func namesALimitOfTheRoute() async throws {
        let respond: Responder = { request in
            do {
                return ServerReply(status: 200, body: .bytes(try await request.body.collect(limit: 10)))
            } catch let error as ServerError {
                return .text(413, error.codeText)
            } catch {
                return .text(500, "")
            }
        }
        try await ServerFixture.with(respond: respond) { server in
            let response = try RawConnection(server.address)
            try response.send("POST", "/", ["Content-Length: 11"])
            try response.send(Array("hello world".utf8))
            #expect(try response.response().text == "body-too-large\n")
        }
    }

    @Test func tellsTheConsumerThatTheClientLeft() async throws {
        let code = Locked("")
        let ended = Signal()
        let respond: Responder = { request in
            do {
                _ = try await request.body.collect(limit: 1 << 20)
            } catch let error as ServerError {
                code.withLock { $0 = error.codeText }
            } catch is CancellationError {
                code.withLock { $0 = "cancelled" }
            } catch {}
            ended.send()
            return .text(200, "late")
        }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address)
            try connection.send("POST", "/", ["Content-Length: 100"])
            try connection.send([1, 2, 3])
            connection.reset()
            await ended.wait()
            #expect(["client-left", "cancelled"].contains(code.withLock { $0 }))
        }
    }

    @Test func invitesABody() async throws {
        try await ServerFixture.with(respond: Self.echo) { server in
            let connection = try RawConnection(server.address)
            try connection.send("POST", "/", ["Content-Length: 5", "Expect: 100-continue"])
            #expect(try connection.head().status == 100)
            try connection.send(Array("hello".utf8))
            #expect(try connection.response().text == "hello")
        }
    }

    @Test(arguments: [
        ("gzip", true), ("gzip;q=0", false), ("deflate, gzip;q=0.5", true), ("*", true), ("identity", false),
        ("", false),
        ("*;q=0, gzip", true), ("gzip;q=x", false), ("GZIP", true), ("br", false),
    ])
    func packsTextForClientsThatTakeIt(field: String, isPacked: Bool) async throws {
        let text = String(repeating: "plain words ", count: 1000)
        let respond: Responder = { request in
            ServerReply(
                status: 200, headers: ["Content-Type": "application/json"], body: .bytes(Array(text.utf8))
            ).tagged(for: request)
        }
        try await ServerFixture.with(respond: respond) { server in
            let response = try RawConnection.fetch(server.address, "/", ["Accept-Encoding: \(field)"])
            #expect(response.headers["content-encoding"] == (isPacked ? "gzip" : nil))
            #expect(response.headers["vary"] == "Accept-Encoding")
            if isPacked {
                #expect(response.body.count < 500 && response.body.starts(with: [0x1F, 0x8B]))
            } else {
                #expect(response.text == text)
            }
            let tag = try #require(response.headers["etag"])
            let again = try RawConnection.fetch(
                server.address, "/", ["Accept-Encoding: \(field)", "If-None-Match: \(tag)"])
            #expect(again.status == 304)
        }
    }
}
