import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite(.timeLimit(.minutes(10)))
struct OriginServerTests {
    @Test func servesAFileWithItsHeaders() async throws {
        try await OriginFixture.with { origin in
            let response = try RawConnection.fetch(origin.address, "/models/m.gguf")
            #expect(response.status == 200)
            #expect(response.body == OriginFixture.weights)
            #expect(response.headers["content-length"] == "300000")
            #expect(response.headers["content-type"] == "application/octet-stream")
            #expect(response.headers["cache-control"] == "public, max-age=31536000, immutable")
            #expect(response.headers["accept-ranges"] == "bytes")
            #expect(response.headers["x-content-type-options"] == "nosniff")
            #expect(response.headers["date"] != nil)
            let tag = try #require(response.headers["etag"])
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 20)

            let manifest = try RawConnection.fetch(origin.address, "/models.json?cache=1")
            #expect(manifest.text == #"{"schemaVersion":1}"#)
            #expect(manifest.headers["cache-control"] == "no-cache, no-store")
            #expect(manifest.headers["content-type"] == "application/json")
            #expect(try RawConnection.fetch(origin.address, "/models/with%20space.txt").text == "spaced")
            #expect(try RawConnection.fetch(origin.address, "/latest.gguf").body == OriginFixture.weights)
            #expect(try RawConnection.fetch(origin.address, "http://other/models.json").status == 200)
        }
    }

    @Test(arguments: [
        ("bytes=0-0", 0, 0), ("bytes=0-299999", 0, 299_999), ("bytes=299999-", 299_999, 299_999),
        ("bytes=-1", 299_999, 299_999), ("bytes=131071-131073", 131_071, 131_073),
        ("bytes=7-999999999", 7, 299_999),
    ])
    func sendsExactlyTheRange(field: String, first: Int, last: Int) async throws {
        try await OriginFixture.with { origin in
            let response = try RawConnection.fetch(origin.address, "/models/m.gguf", ["Range: \(field)"])
            #expect(response.status == 206)
            #expect(response.headers["content-range"] == "bytes \(first)-\(last)/300000")
            #expect(response.headers["content-length"] == "\(last - first + 1)")
            #expect(response.body == Array(OriginFixture.weights[first...last]))
        }
    }

    @Test(arguments: [
        "/../secret.txt", "/%2e%2e/secret.txt", "/models/../../secret.txt", "/..%2fsecret.txt",
        "/%2e%2e%2fsecret.txt",
        "/..\\secret.txt", "/..%5csecret.txt", "//etc/passwd", "/%2fetc%2fpasswd", "/models.json%00.gguf", "/%00",
        "/%c0%ae%c0%ae/secret.txt", "/outside.gguf", "/absolute.gguf", "/up/secret.txt", "/up/origin/models.json",
        "/circle.gguf", "/.hidden", "/models/.m.gguf.tmp-1x", "/", "/models", "/models/", "/models/m.gguf/",
        "/models/m.gguf/x", "/absent", "http://h/../secret.txt", "http://h", "*", "/%", "/%zz", "/a%0d%0ab",
        "/proc/self/environ", "/....//secret.txt",
    ])
    func staysInTheFolder(target: String) async throws {
        try await OriginFixture.with { origin in
            let response = try RawConnection.fetch(origin.address, target)
            #expect(response.status == 404 || response.status == 400)
            #expect(!response.text.contains("secret") && !response.text.contains("root:"))
            // The connection's failure was that request's own.
            #expect(try RawConnection.fetch(origin.address, "/models.json").status == 200)
        }
    }

    /// Bytes no client library would send. The library answers some of them itself or closes; none may be served.
    @Test(
        arguments: [
            "GET /absent\0/../../secret.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            "GET /../secret.txt\0 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            "GET ../secret.txt HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /models.json HTTP/1.1\r\n\r\n",
            "GET  /../secret.txt  HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /a b/../../secret.txt HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET\t/../secret.txt\tHTTP/1.1\r\nHost: h\r\n\r\n",
            "\0\0\0\0\r\n\r\n", "\r\n\r\n\r\n", "GET\r\n\r\n", "GET /../secret.txt\r\n\r\n",
            "GET /x HTTP/9.9\r\nHost: h\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: h\r\n folded\r\nConnection: close\r\nRange: bytes=\0\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        ] as [Rubbish])
    func survivesRubbish(rubbish: Rubbish) async throws {
        try await OriginFixture.with { origin in
            // Silence is a proper answer to some of it: the library waits for the rest.
            let connection = try RawConnection(origin.address, patience: 1)
            try connection.send(Array(rubbish.text.utf8))
            connection.finishSending()
            let answer = String(decoding: connection.receiveAll(), as: UTF8.self)
            #expect(!answer.contains("secret") && !answer.contains("schemaVersion"))
            #expect(!answer.hasPrefix("HTTP/1.1 200"))
            #expect(try RawConnection.fetch(origin.address, "/models.json").status == 200)
        }
    }

    @Test func waitsForUnfinishedRequestsWithoutHoldingUpOthers() async throws {
        try await OriginFixture.with { origin in
            let unfinished = try ["", "G", "GET /x HTTP/1.1\r\nHost", "\u{16}\u{3}\u{1}\u{2}\0\u{1}"].map { bytes in
                let connection = try RawConnection(origin.address)
                try connection.send(Array(bytes.utf8))
                return connection
            }
            for _ in 0..<8 { #expect(try RawConnection.fetch(origin.address, "/models.json").status == 200) }
            unfinished.forEach { $0.reset() }
        }
    }

    @Test func refusesHeadersAndTargetsWithoutEnd() async throws {
        try await OriginFixture.with { origin in
            let long = String(repeating: "a", count: 40_000)
            for request in [
                "GET /\(long) HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n",
            ] {
                let connection = try RawConnection(origin.address)
                try connection.send(Array(request.utf8))
                let status = try connection.response().status
                #expect([413, 414, 431].contains(status))
            }
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
    func allowsOnlyReading(method: String) async throws {
        try await OriginFixture.with { origin in
            let plain = try RawConnection.fetch(origin.address, "/models.json", method: method)
            #expect(plain.status == 405)
            #expect(plain.headers["allow"] == "GET, HEAD")
            let connection = try RawConnection(origin.address)
            try connection.send(Array("\(method) / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello".utf8))
            #expect(try connection.response().status == 405)
        }
    }

    @Test func answersHeadLikeGetWithoutTheBody() async throws {
        try await OriginFixture.with { origin in
            let connection = try RawConnection(origin.address)
            for target in ["/models/m.gguf", "/models.json", "/absent", "/empty.gguf"] {
                try connection.send("HEAD", target)
                let head = try connection.response(hasBody: false)
                try connection.send("GET", target)
                let get = try connection.response()
                #expect(head.status == get.status)
                for name in ["content-length", "etag", "content-type", "last-modified", "cache-control"] {
                    #expect(head.headers[name] == get.headers[name])
                }
            }
            let entries = await origin.log.entries(atLeast: 8)
            #expect(entries.filter { $0.method == "HEAD" }.allSatisfy { $0.bodyBytes == 0 })
        }
    }

    @Test func answersConditionsAndUnsatisfiableRanges() async throws {
        try await OriginFixture.with { origin in
            let tag = try #require(
                try RawConnection.fetch(origin.address, "/models/m.gguf", method: "HEAD").headers["etag"])
            // One connection throughout: a body where none belongs would be read as the next response.
            let connection = try RawConnection(origin.address)
            try connection.send("GET", "/models/m.gguf", ["If-None-Match: \(tag)"])
            let unchanged = try connection.response()
            #expect(unchanged.status == 304)
            #expect(unchanged.headers["etag"] == tag)
            #expect(unchanged.headers["content-length"] == "300000")
            try connection.send("GET", "/models/m.gguf", ["Range: bytes=300000-"])
            let unsatisfiable = try connection.response()
            #expect(unsatisfiable.status == 416)
            #expect(unsatisfiable.headers["content-range"] == "bytes */300000")
            try connection.send("GET", "/models/m.gguf", ["Range: bytes=1-2", "If-Range: \(tag)"])
            #expect(try connection.response().body == Array(OriginFixture.weights[1...2]))
            try connection.send("GET", "/models/m.gguf", ["Range: bytes=1-2", "If-Range: \"other\""])
            #expect(try connection.response().body == OriginFixture.weights)
            try connection.send("GET", "/models/m.gguf", ["Range: bytes=0-1, 5-6"])
            #expect(try connection.response().status == 200)
            try connection.send("GET", "/empty.gguf")
            #expect(try connection.response().headers["content-length"] == "0")
        }
    }

    @Test func namesOtherBytesWithAnotherTag() async throws {
        try await OriginFixture.with { origin in
            func tag() throws -> String {
                try #require(
                    try RawConnection.fetch(origin.address, "/models/m.gguf", method: "HEAD").headers["etag"])
            }
            let first = try tag()
            #expect(try tag() == first)
            try origin.root.write("origin/models/m.gguf", Data(OriginFixture.weights.reversed()))
            let second = try tag()
            #expect(second != first)
            // Rewritten in place with the old modification time: only the change time gives it away.
            let files = LocalFileSystem()
            let path = origin.root.path("origin/models/m.gguf")
            let date = try #require(try files.status(at: path)).modified
            let file = try files.open(path, .readWrite)
            try [UInt8]([1, 2, 3]).withUnsafeBytes { try files.write(file, $0, at: 0) }
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path.string)
            #expect(try tag() != second)
        }
    }

    @Test func logsWhatWasSent() async throws {
        try await OriginFixture.with { origin in
            _ = try RawConnection.fetch(origin.address, "/models/m.gguf", ["Range: bytes=5-104"])
            _ = try RawConnection.fetch(origin.address, "/models/m.gguf?x")
            _ = try RawConnection.fetch(origin.address, "/%2e%2e/secret.txt")
            let lines = await origin.log.entries(atLeast: 3).map(\.accessLogLine).sorted()
            #expect(
                lines == [
                    "GET /%2e%2e/secret.txt 404 10 -", "GET /models/m.gguf 206 100 bytes=5-104",
                    "GET /models/m.gguf?x 200 300000 -",
                ])
        }
    }

    @Test func hidesWhatIsNoFile() async throws {
        try await OriginFixture.with { origin in
            #expect(mkfifo(origin.root.path("origin/pipe.gguf").string, 0o644) == 0)
            let response = try RawConnection.fetch(origin.address, "/pipe.gguf")
            #expect(response.status == 404)
        }
    }
}

/// Bytes for the wire, shown escaped in a test's name.
struct Rubbish: Sendable, ExpressibleByStringLiteral, CustomTestStringConvertible {
    let text: String

    init(stringLiteral value: String) { text = value }

    var testDescription: String { text.debugDescription }
}
