import Foundation
import HearthHTTP
import HearthTestSupport

/// Lengths and ranges that are not what was asked for.
let rangeFaults: [Fault] =
    [
        Fault(
            "a body that ends early, with a true length", "goes on at the next byte", .whole, aim: .byte(200_000),
            times: 1, reply: { $0.cut(at: 200_000) }
        ).with { $0.requests = 2 },
        Fault(
            "the catalog's size, but a shorter file", "refuses it before the body", .fails("size-mismatch"),
            reply: { $0.answer(with: .pattern(count: 299_999)) }
        ).refusedAtOnce(),
        Fault(
            "the catalog's size, but a longer file", "refuses it before the body", .fails("response-too-long"),
            reply: { $0.answer(with: .pattern(count: 300_001)) }
        ).refusedAtOnce(),
        Fault(
            "an empty file", "refuses it before the body", .fails("size-mismatch"),
            reply: { _ in Reply(headers: ["ETag": "\"v1\""]) }
        ).refusedAtOnce(),
        Fault(
            "a body without end and without length", "stops at the byte, keeps what belongs to the file",
            .fails("response-too-long"),
            reply: { _ in Reply(body: .pattern(count: 50_000_000)).framed(.untilClose) }
        ).with { $0.requests = 1 },
        Fault(
            "a Content-Length of less than is sent", "refuses it by its length", .fails("size-mismatch"),
            reply: { $0.whole.framed(.declared(1000)) }
        ).refusedAtOnce().with { $0.kept = .nothing },
        Fault(
            "a Content-Length of more than is sent", "refuses it before the body", .fails("response-too-long"),
            reply: { $0.whole.framed(.declared(400_000)) }
        ).refusedAtOnce(),
        Fault(
            "a Content-Length that is no number", "fails at once", .fails("bad-response"),
            reply: { _ in .garbage(Data("HTTP/1.1 200 OK\r\nContent-Length: twelve\r\n\r\nx".utf8)) }
        ).refusedAtOnce(),
        Fault(
            "two Content-Lengths that differ", "fails at once", .fails("bad-response"),
            reply: { _ in
                .garbage(Data("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nContent-Length: 5\r\n\r\nx".utf8))
            }
        ).refusedAtOnce(),
        Fault(
            "the end of the connection alone tells the length", "takes it, the size is known", .whole,
            reply: { $0.proper.framed(.untilClose) }
        ).with { $0.requests = 1 },
        Fault(
            "a chunked body", "takes it", .whole, reply: { $0.proper.framed(.chunked) }
        ).with { $0.requests = 1 },
    ]
    + lyingRanges.map { what, lie in
        Fault(
            "Content-Range: \(what)", "refuses the answer, keeps the bytes it has", .fails("bad-content-range"),
            aim: .afterCut(at: 50_000), reply: { $0.proper.header("Content-Range", lie($0.asked)) }
        ).with { $0.requests = 2 }
    } + [
        Fault(
            "Content-Range: another total", "refuses the answer, keeps the bytes it has",
            .fails("bad-content-range"), aim: .afterCut(at: 50_000),
            reply: {
                $0.proper.header("Content-Range", "bytes \($0.asked.lowerBound)-\($0.asked.upperBound - 1)/400000")
            }
        ).with { $0.requests = 2 },
        Fault(
            "a 206 without Content-Range", "refuses the answer, keeps the bytes it has", .fails("bad-content-range"),
            aim: .afterCut(at: 50_000), reply: { Reply(206, body: $0.proper.body) }
        ).with { $0.requests = 2 },
        Fault(
            "a 206 whose body is longer than its Content-Range", "stops at the byte, keeps the bytes it has",
            .fails("response-too-long"), aim: .afterCut(at: 50_000),
            reply: { visit in
                let proper = visit.proper
                return Reply(206, headers: proper.headers, body: .data(proper.body.bytes + Data(count: 1000)))
                    .framed(.chunked)
            }
        ).with {
            $0.requests = 2
            $0.kept = .before(50_000)
            $0.againInPieces = 0...4000
        },
        Fault(
            "a 206 without a range request", "refuses it", .fails("bad-content-range"),
            reply: { Reply(206, headers: ["Content-Range": "bytes 0-299999/300000"], body: $0.content) }
        ).refusedAtOnce(),
        Fault(
            "a 206 in several parts (multipart/byteranges)", "refuses it", .fails("bad-content-range"),
            aim: .afterCut(at: 50_000),
            reply: { Reply(206, headers: ["Content-Type": "multipart/byteranges; boundary=x"], body: $0.proper.body) }
        ).with { $0.requests = 2 },
        Fault(
            "a range is ignored: 200 with the whole file", "takes it from its first byte", .whole,
            aim: .afterCut(at: 50_000), reply: { $0.whole }
        ).with {
            // Asked once more without If-Range: its entity tag is gone.
            $0.requests = 3
            $0.again = 50_000...50_000
            $0.againInPieces = 0...200_000
        },
        Fault(
            "ranges are ignored and every connection breaks", "gives up after four attempts without progress",
            .fails("connection-lost"), reply: { $0.whole.dropped(after: 50_000) }
        ).with {
            $0.requests = 4
            $0.again = 150_000...150_000
        },
        Fault(
            "416 although bytes are missing",
            "asks again from the first byte, or, where parts have come from there, for that part after a pause",
            .whole, aim: .afterCut(at: 50_000),
            times: 1, reply: { _ in Reply(416, headers: ["Content-Range": "bytes */10"]) }
        ).with {
            $0.requests = 3
            $0.again = 50_000...50_000
            $0.againInPieces = 0...0
        },
        Fault(
            "416 without Content-Range", "the same", .whole, aim: .afterCut(at: 50_000),
            times: 1, reply: { _ in Reply(416) }
        ).with {
            $0.requests = 3
            $0.again = 50_000...50_000
            $0.againInPieces = 0...0
        },
        Fault(
            "416 to every part but the first, for ever", "begins again once at most, gives up after four attempts",
            .fails("unexpected-status"), reply: { $0.asked.lowerBound == 0 ? $0.cut(at: 20_000) : Reply(416) }
        ).with {
            $0.requests = 5
            $0.again = 20_000...20_000
            $0.againInPieces = 0...0
            $0.waits = 1...3.5
        },
        Fault(
            "no digest, and 416 to every part but the first, for ever", "the same", .fails("unexpected-status"),
            reply: { $0.asked.lowerBound == 0 ? $0.cut(at: 20_000) : Reply(416) }
        ).with {
            $0.hasDigest = false
            $0.requests = 5
            $0.again = 20_000...20_000
            $0.shapes = [.onePiece]
        },
        Fault(
            "416 to every request", "gives up", .fails("unexpected-status"), reply: { _ in Reply(416) }
        ).refusedAtOnce(),
    ]

/// What the header says, and its value for the bytes that were asked for.
private let lyingRanges: [(String, @Sendable (Range<UInt64>) -> String)] = [
    ("another start", { "bytes \($0.lowerBound + 1)-\($0.upperBound - 1)/300000" }),
    ("an earlier start", { "bytes 0-\($0.upperBound - 1)/300000" }),
    ("another end", { "bytes \($0.lowerBound)-\($0.upperBound - 2)/300000" }),
    ("no total (`*`)", { "bytes \($0.lowerBound)-\($0.upperBound - 1)/*" }),
    ("an end past the total", { "bytes \($0.lowerBound)-\($0.upperBound)/\($0.upperBound)" }),
    ("nonsense", { _ in "bites of a file" }),
    ("numbers that overflow", { "bytes \($0.lowerBound)-99999999999999999999/99999999999999999999" }),
]

extension Fault {
    /// A row in which nothing is taken of the only answer.
    func refusedAtOnce() -> Fault { with { $0.requests = 1 } }
}
