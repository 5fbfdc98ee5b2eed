import HearthBase
import HearthHTTP
import Testing

@testable import HearthServer

struct RequestTargetTests {
    @Test(arguments: [
        ("/models.json", "models.json"), ("/models/m.gguf", "models/m.gguf"), ("/a%20b", "a b"),
        ("/m.gguf?x=/../..", "m.gguf"), ("/%6d.gguf", "m.gguf"), ("/%C3%A9.gguf", "\u{e9}.gguf"),
        ("/%252e%252e/x", "%2e%2e/x"), ("/a..b", "a..b"), ("/a.", "a."), ("http://h/x", "x"),
        ("HTTP://h:80/x/y?q", "x/y"), ("https://h/x", "x"), ("/http://h", nil), ("/a+b", "a+b"),
    ])
    func reads(target: String, path: String?) {
        #expect(path == (try? RequestTarget(target))?.relativePath)
    }

    @Test(arguments: [
        "/", "//", "/a//b", "/a/", "/../x", "/..", "/.", "/a/../b", "/a/./b", "/%2e%2e/x",
        "/%2E%2E/%2e%2e/etc/passwd",
        "/.%2e/x", "/%2e./x", "/.hidden", "/a/.git/config", "/%2ehidden", "/...", "/m.gguf.tmp-12",
        "/models/.m.tmp-1", "/..%2f..%2fetc%2fpasswd", "/..%5c..%5cx", "http://h/", "http://h/../x", "//etc/passwd",
        "/x?", "/.?x",
    ])
    func hides(target: String) {
        let hidden = target == "/x?" ? nil : OriginRefusal.notFound
        #expect(refusal(of: target) == hidden)
    }

    @Test(arguments: [
        "", "x", "*", "?x", "models.json", "http://h", "http:///x#y", "ftp://h/x", "/a\\b", "/a%5cb",

        "/a%2fb", "/a%2Fb", "/%00", "/a%00.gguf", "/a%0a", "/a%0d%0aX: y", "/a%1f",
        "/a%7f",
        "/a b", "/a\tb", "/a\u{0}b", "/a#b", "/%", "/%2", "/a%", "/a%4", "/%zz", "/%+1", "/% 1", "/%u002e",
        "/%c0%ae%c0%ae/x",
        "/%e0%80%ae", "/%f0%80%80%ae", "/%ff", "/%ed%a0%80", "/\u{e9}", "/\u{202e}", "/a%c2%85b", "/%c0%af",
    ])
    func refuses(target: String) {
        #expect(refusal(of: target) == .badTarget)
    }

    @Test func refusesLongNames() {
        #expect(refusal(of: "/" + String(repeating: "a", count: 255)) == nil)
        #expect(refusal(of: "/" + String(repeating: "a", count: 256)) == .badTarget)
    }

    private func refusal(of target: String) -> OriginRefusal? {
        do {
            _ = try RequestTarget(target)
            return nil
        } catch {
            return error
        }
    }
}

struct OriginRoutingTests {
    private let facts = FileFacts(size: 1000, entityTag: "\"tag\"", modified: 784_111_777)
    private let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private func decide(
        _ headers: HTTPHeaders, method: String = "GET", name: String = "/m.gguf"
    ) throws -> OriginRouting.Decision {
        OriginRouting.reply(method: method, headers: headers, target: try RequestTarget(name), facts: facts)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "", "PROPFIND"])
    func admitsNoOtherMethod(method: String) {
        #expect(throws: OriginRefusal.methodNotAllowed) {
            try OriginRouting.target(method: method, target: "/m.gguf")
        }
    }

    @Test(
        arguments: [
            ([:], 200),
            (["If-None-Match": "\"tag\""], 304), (["If-None-Match": "W/\"tag\""], 304),
            (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"x\" , \"tag\""], 304), (["If-None-Match": "\"x\""], 200),
            (["If-None-Match": "tag"], 200),
            (["If-None-Match": "\"tag", "Range": "bytes=0-1"], 206), (["If-None-Match": ""], 200),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"], 304),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:38 GMT"], 200), (["If-Modified-Since": "rubbish"], 200),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT", "If-None-Match": "\"x\""], 200),
            (["If-Match": "\"tag\""], 200), (["If-Match": "*"], 200), (["If-Match": "\"x\""], 412),
            (["If-Match": "W/\"tag\""], 412), (["If-Match": "\"x\", \"tag\""], 200),
            (["Range": "bytes=0-1"], 206), (["Range": "bytes=1000-"], 416), (["Range": "bytes=0-1,3-4"], 200),
            (["range": "bytes=0-1"], 206), (["Range": "bytes=0-1", "RANGE": "bytes=3-4"], 200),
            (["Range": "bytes=0-1", "If-Range": "\"tag\""], 206),
            (["Range": "bytes=0-1", "If-Range": " \"tag\" "], 206),
            (["Range": "bytes=0-1", "If-Range": "\"x\""], 200),
            (["Range": "bytes=0-1", "If-Range": "W/\"tag\""], 200),
            (["Range": "bytes=0-1", "If-Range": "tag"], 200), (["Range": "bytes=0-1", "If-Range": ""], 200),
            (["Range": "bytes=0-1", "If-Range": "Sun, 06 Nov 1994 08:49:37 GMT"], 200),
            (["Range": "bytes=2000-", "If-Range": "\"x\""], 200), (["If-Range": "\"tag\""], 200),
            (["Range": "bytes=0-1", "If-None-Match": "\"tag\""], 304),
            (["Range": "bytes=0-1", "If-Match": "\"x\""], 412),
        ] as [(HTTPHeaders, Int)])
    func weighsConditions(headers: HTTPHeaders, status: Int) throws {
        #expect(try decide(headers).status == status)
    }

    @Test func ignoresRangesOfHead() throws {
        let decision = try decide(["Range": "bytes=0-1"], method: "HEAD")
        #expect(decision.status == 200)
        #expect(decision.content == ByteRange(start: 0, end: 1000))
    }

    @Test func saysWhichPart() throws {
        let part = try decide(["Range": "bytes=-100"])
        #expect(part.content == ByteRange(start: 900, end: 1000))
        #expect(part.headers["Content-Range"] == "bytes 900-999/1000")
        let none = try decide(["Range": "bytes=1000-"])
        #expect(none.content == nil)
        #expect(none.headers["Content-Range"] == "bytes */1000")
        #expect(try decide([:]).headers["Content-Range"] == nil)
    }

    @Test(arguments: [
        ("/models.json", "application/json", false), ("/models.json.minisig", "text/plain; charset=utf-8", false),
        ("/m.gguf", "application/octet-stream", true), ("/M.GGUF", "application/octet-stream", true),
        ("/m.index", "application/octet-stream", true), ("/m.zip", "application/zip", true),
        ("/m.onnx", "application/octet-stream", true), ("/notes.txt", "text/plain; charset=utf-8", false),
        ("/gguf", "application/octet-stream", false), ("/page.html", "application/octet-stream", false),
        ("/m.gguf/tokenizer.json", "application/json", false),
        ("/models/a.tar", "application/octet-stream", true), ("/models/a.tgz", "application/octet-stream", true),
        ("/models/a.tar.gz", "application/octet-stream", true),
        ("/models/A.TAR.ZST", "application/octet-stream", true),
    ])
    func describesTheFile(name: String, type: String, isImmutable: Bool) throws {
        let headers = try decide([:], name: name).headers
        #expect(headers["Content-Type"] == type)
        #expect(
            headers["Cache-Control"]
                == (isImmutable ? "public, max-age=31536000, immutable" : "no-cache, no-store"))
        #expect(headers["ETag"] == "\"tag\"")
        #expect(headers["Last-Modified"] == date)
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)])
    func writesDates(seconds: Int64, text: String) throws {
        let facts = FileFacts(size: 1, entityTag: "\"t\"", modified: seconds)
        let target = try RequestTarget("/m.gguf")
        let decision = OriginRouting.reply(method: "GET", headers: [:], target: target, facts: facts)
        #expect(decision.headers["Last-Modified"] == text)
    }
}

struct AccessLogTests {
    @Test func writesOneLineOfWords() {
        let range = ByteRange(start: 0, end: 1_048_576)
        var exchange = FinishedExchange(
            method: "GET", target: "/models/x.gguf", status: 206, bodyBytes: 1_048_576, range: range)
        #expect(exchange.accessLogLine == "GET /models/x.gguf 206 1048576 bytes=0-1048575")
        exchange.range = nil
        exchange.isComplete = false
        #expect(exchange.accessLogLine == "GET /models/x.gguf 206 1048576 - aborted")
    }

    @Test(arguments: ["/a b", "/a\nGET /forged 200 0 -", "/\u{e9}", "/\u{1b}[31m", "", "/\u{0}"])
    func keepsForgersOnTheirLine(target: String) {
        let line = FinishedExchange(method: "G T", target: target, status: 400, bodyBytes: 0).accessLogLine
        #expect(line.split(separator: " ", omittingEmptySubsequences: false).count == 5)
        #expect(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }
}
