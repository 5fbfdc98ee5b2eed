import Foundation
import Testing

@testable import HearthHTTP

struct HeaderTests {
    private func parse(_ text: String) -> [ResponseHeadParser.Outcome] {
        var parser = ResponseHeadParser()
        return text.components(separatedBy: "\n").map { parser.append(Array(($0 + "\r\n").utf8)) }
    }

    @Test func onlyTheFinalHeadCounts() {
        let outcomes = parse("HTTP/1.1 103 Early\nLink: x\n\nHTTP/1.1 206 Partial\nA: 1\nB:  two \n\nTrailer: late")
        #expect(outcomes[2] == .more)
        var headers = HTTPHeaders()
        headers.append("A", "1")
        headers.append("B", "two")
        #expect(outcomes[6] == .complete(ResponseHead(status: 206, headers: headers)))
        #expect(outcomes[7] == .more)
    }

    @Test func aFoldedLineGoesOn() {
        guard case .complete(let head)? = parse("HTTP/1.1 200 OK\nA: one\n\ttwo\n").last else {
            Issue.record("no head")
            return
        }
        #expect(head.headers["a"] == "one two")
    }

    /// Bytes of an address that are no UTF-8 go back to the server as they came.
    @Test func anAddressInLatin1KeepsItsBytes() {
        var parser = ResponseHeadParser()
        _ = parser.append(Array("HTTP/1.1 302 Found\r\n".utf8))
        for name in ["Location: /m", "X-Other: /m"] {
            #expect(parser.append(Array(name.utf8) + [0xF3] + Array("d%2Fel x\r\n".utf8)) == .more)
        }
        guard case .complete(let head) = parser.append(Array("\r\n".utf8)) else {
            Issue.record("no head")
            return
        }
        #expect(head.headers["Location"] == "/m%F3d%2Fel x")
        #expect(head.headers["X-Other"] == "/m\u{FFFD}d%2Fel x")
    }

    @Test(arguments: [
        ("Content-Length: 5", "5"), ("Content-Length: 5\nContent-Length: 5", "5"),
        ("Content-Length: 5\nTransfer-Encoding: chunked", nil), ("X: y", nil),
    ])
    func theLengthIsTheOneThatCounts(lines: String, expected: String?) {
        guard case .complete(let head)? = parse("HTTP/1.1 200 OK\n\(lines)\n").last else {
            Issue.record("no head")
            return
        }
        #expect(head.headers["Content-Length"] == expected)
    }

    @Test(arguments: ["Content-Length: 5\nContent-Length: 6", "Content-Length: 5, 5", "Content-Length: 0x5"])
    func lengthsThatContradictAreRefused(lines: String) {
        guard case .refused? = parse("HTTP/1.1 200 OK\n\(lines)\n").last else {
            Issue.record("accepted")
            return
        }
    }

    @Test func headersHaveALimit() {
        var parser = ResponseHeadParser()
        let line = Array(("X: " + String(repeating: "x", count: 1000) + "\r\n").utf8)
        let outcomes = (0..<400).map { _ in parser.append(line) }
        let accepted = outcomes.prefix { $0 == .more }.count
        #expect(accepted == ResponseHeadParser.limit / line.count)
    }

    @Test(
        arguments: [
            ("bytes 0-9/10", 0, 10, 10), ("bytes 5-5/6", 5, 6, 6), ("Bytes 1-2/*", 1, 3, nil),
        ] as [(String, UInt64, UInt64, UInt64?)])
    func aContentRangeIsRead(header: String, start: UInt64, end: UInt64, size: UInt64?) {
        let read = ByteRange.response(header)
        #expect(read?.range == ByteRange(start: start, end: end))
        #expect(read?.size == size)
    }

    @Test(arguments: [
        "", "bytes", "bytes */10", "bytes 5-4/10", "bytes 0-10/10", "bytes -1/10", "bytes 0-9", "bytes 0-9/", "0-9/10",
        "bytes +0-9/10", "bytes 0-18446744073709551615/*", "bytes 0-99999999999999999999999/*", "items 0-9/10",
        "bytes 0-9/10/11", "bytes 0-9-10/11", "bytes 0 - 9/10",
    ])
    func aLyingContentRangeIsNone(header: String) { #expect(ByteRange.response(header) == nil) }

    @Test func headersCompareWithoutCase() {
        var headers: HTTPHeaders = ["A": "1"]
        headers.append("a", "2")
        #expect(headers["A"] == "2")
        #expect(headers.values("a") == ["1", "2"])
        headers["a"] = "3"
        #expect(headers.fields == [HTTPHeaders.Field(name: "a", value: "3")])
        headers["A"] = nil
        #expect(headers.fields.isEmpty)
    }
}
