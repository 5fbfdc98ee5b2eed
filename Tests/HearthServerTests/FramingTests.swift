import HearthBase
import HearthHTTP
import Testing

@testable import HearthServer

/// The strict reading of a request's header, and of its target.
struct FramingTests {
    private func framing(_ headers: HTTPHeaders, version: String = "HTTP/1.1") -> Result<RequestFraming, any Error> {
        var headers = headers
        if headers["Host"] == nil { headers.append("Host", "h") }
        return Result {
            try RequestFraming(
                method: "POST", target: "/", version: version, headers: headers, limits: ListenerLimits())
        }
    }

    @Test(
        arguments: [
            ([:], .none), (["Content-Length": "0"], .length(0)), (["Content-Length": "17"], .length(17)),
            (["Transfer-Encoding": "chunked"], .chunked), (["Transfer-Encoding": "Chunked"], .chunked),
        ] as [(HTTPHeaders, RequestFraming)])
    func reads(headers: HTTPHeaders, expected: RequestFraming) throws {
        #expect(try framing(headers).get() == expected)
    }

    @Test(
        arguments: [
            (["Content-Length": "5", "Transfer-Encoding": "chunked"], .ambiguousLength),
            (["Transfer-Encoding": "chunked", "Content-Length": "5"], .ambiguousLength),
            (["Content-Length": "5", "content-length": "5"], .ambiguousLength),
            (["Content-Length": "5", "Content-Length": "6"], .ambiguousLength),
            (["Content-Length": "5, 5"], .ambiguousLength), (["Content-Length": "+5"], .ambiguousLength),
            (["Content-Length": "-1"], .ambiguousLength), (["Content-Length": ""], .ambiguousLength),
            (["Content-Length": "0x5"], .ambiguousLength), (["Content-Length": "5 "], .ambiguousLength),
            (["Content-Length": "99999999999999999999"], .ambiguousLength),
            (["Content-Length": "9999999999"], .bodyTooLarge),
            (["Transfer-Encoding": "chunked", "Transfer-Encoding": "chunked"], .ambiguousLength),
            (["Transfer-Encoding": "gzip, chunked"], .unknownCoding),
            (["Transfer-Encoding": "identity"], .unknownCoding),
            (["Transfer-Encoding": "xchunked"], .unknownCoding), (["Transfer-Encoding": ""], .unknownCoding),
            (["Content-Length ": "5"], .badHeader), (["Transfer-Encoding\u{0B}": "chunked"], .badHeader),
            (["": "x"], .badHeader), (["X": "a\u{0}b"], .badHeader), (["X": "a\rb"], .badHeader),
            (["X:Y": "a"], .badHeader), (["Host": "a", "HOST": "b"], .badHost),
        ] as [(HTTPHeaders, RequestFraming.Refusal)])
    func refuses(headers: HTTPHeaders, refusal: RequestFraming.Refusal) {
        #expect(throws: refusal) { try framing(headers).get() }
    }

    @Test func refusesChunksOfOldClients() {
        #expect(throws: RequestFraming.Refusal.ambiguousLength) {
            try framing(["Transfer-Encoding": "chunked"], version: "HTTP/1.0").get()
        }
    }

    @Test func limitsFieldsAndTarget() {
        var many = HTTPHeaders()
        for index in 0..<101 { many.append("X-\(index)", "") }
        #expect(throws: RequestFraming.Refusal.tooManyFields) { try framing(many).get() }
        let long = "/" + String(repeating: "a", count: 8192)
        #expect(throws: RequestFraming.Refusal.targetTooLong) {
            try RequestFraming(
                method: "GET", target: long, version: "HTTP/1.1", headers: ["Host": "h"], limits: ListenerLimits())
        }
    }

    @Test(
        arguments: [
            ("/", "/", []), ("/a%20b?x=1", "/a b", ["x=1"]), ("/v1/models/a%2Fb", "/v1/models/a/b", []),
            ("http://h:1/a?b", "/a", ["b="]), ("http://h", "", []), ("*", "", []), ("/a%", "", []),
            ("/%zz?x", "", ["x="]),
            ("/?a=b=c&&d=%26+x&%=1&e", "/", ["a=b=c", "d=& x", "e="]), ("/a\u{0}", "", []), ("/%00", "", []),
            ("/%0a", "", []), ("/?t=%0a", "/", ["t=\n"]), ("/?t=%00&u", "/", ["u="]), ("/%ff", "", []),
            ("/#x", "", []),
        ] as [(String, String, [String])])
    func splitsTargets(raw: String, path: String, query: [String]) {
        let target = ServerTarget(raw)
        #expect(target.path == path)
        #expect(target.query.map { "\($0.name)=\($0.value)" } == query)
    }

    @Test(
        arguments: [
            (.idle(since: .zero, isFirst: true), 20, 21), (.idle(since: .zero, isFirst: false), 75, 76),
            (.header(since: .seconds(5)), 25, 26), (.body(since: .zero, received: 0), 60, 61),
            (.body(since: .zero, received: 160 << 10), 70, 71),
        ] as [(ConnectionPhase, Int, Int)])
    func cutsOffAfterTheDeadline(phase: ConnectionPhase, last: Int, first: Int) {
        #expect(!phase.isOverdue(at: .seconds(last), limits: ListenerLimits()))
        #expect(phase.isOverdue(at: .seconds(first), limits: ListenerLimits()))
        #expect(!ConnectionPhase.replying.isOverdue(at: .seconds(1 << 30), limits: ListenerLimits()))
    }
}
