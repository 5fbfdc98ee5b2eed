import HearthBase
import Testing

@testable import HearthServer

/// Lines that the library reads otherwise than other servers do.
@Suite(.timeLimit(.minutes(2)))
struct PlainLineTests {
    @Test(
        arguments: [
            "GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\nY: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\0.example\r\nX: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: \0a\r\nY:\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX\0Y: a\r\n\r\n", "GET / HTTP/1.1\r\n\0X: y\r\nHost: h\r\n\r\n",
            "GET /\0x HTTP/1.1\r\nHost: h\r\n\r\n", "GET\0 / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\0\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\rY: b\r\n\r\n", "GET / HTTP/1.1\r\nX: a\0\r\nHost: h\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\0gzip\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\n\na", "GET / HTTP/1.0\n\n",
            "GET / HTTP/1.1\r\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\n\n", "GET / HTTP/1.1\r\nHost: h\0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX:\0\r\n\r\n", "GET  /  HTTP/1.1\r\nHost: h\r\n\r\n",
        ])
    func othersAreRefused(request: String) async throws {
        try await ServerFixture.with(respond: { _ in .text(200, "here") }) { server in
            let connection = try RawConnection(server.address)
            try connection.send(Array(request.utf8))
            connection.finishSending()
            let reply = String(decoding: connection.receiveAll(), as: UTF8.self)
            #expect(reply.isEmpty || reply.hasPrefix("HTTP/1.1 400"), "\(reply.prefix(40))")
        }
    }

    @Test(
        arguments: [
            "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a%20b?c=d%20e&f HTTP/1.1\r\nHost: h\r\nX:  a b \t \r\nY:\r\nZ: \r\n\r\n",
            "GET / HTTP/1.1\r\nCookie: a=b; c=\"d e\"\r\nHost: h\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: \u{e9}\r\n\r\n", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /é HTTP/1.1\r\nHost: h\r\n\r\n", "GET http://h/?? HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n\n\0\n\0",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: h\r\n\r\n1\r\n\0\r\n0\r\n\r\n",
        ])
    func plainOnesAreServed(request: String) async throws {
        try await ServerFixture.with(respond: { _ in .text(200, "here") }) { server in
            let connection = try RawConnection(server.address)
            // Twice: the second request lies behind the first in the library's memory.
            for _ in 0..<(request.contains("1.0") || request.contains("chunked") ? 1 : 2) {
                try connection.send(Array(request.utf8))
                #expect(try connection.response().status == 200)
            }
        }
    }

    /// The library takes line feeds and NULs between chunks, so that what follows them is no request.
    @Test(
        arguments: [
            "1\r\na\r\n0\r\n\r\n", "1;\n\na\r\n0\r\n\r\n", "1\na\n0\n\n", "0\r\nX: a\0b\r\n\r\n", "0\r\nX: a\n\n",
            "1;a=\0\r\na\r\n0\r\n\r\n",
        ])
    func nothingFollowsChunks(body: String) async throws {
        let paths = Locked<[String]>([])
        try await ServerFixture.with(
            respond: { request in
                paths.withLock { $0.append(request.target.path) }
                _ = try? await request.body.collect(limit: 100)
                return .text(200, "here")
            }
        ) { server in
            let connection = try RawConnection(server.address)
            let next = "GET /next HTTP/1.1\r\nHost: h\r\n\r\n"
            try connection.send(
                Array("POST /first HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: h\r\n\r\n\(body)\(next)".utf8))
            connection.finishSending()
            _ = connection.receiveAll()
        }
        #expect(paths.withLock { $0 } == ["/first"])
    }

    @Test func aHeaderThatArrivesInPiecesIsServed() async throws {
        try await ServerFixture.with(respond: { _ in .text(200, "here") }) { server in
            let connection = try RawConnection(server.address)
            for byte in "GET /a?b HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "y", count: 200))\r\n\r\n".utf8 {
                try connection.send([byte])
            }
            #expect(try connection.response().status == 200)
        }
    }
}
