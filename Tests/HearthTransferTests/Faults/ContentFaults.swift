import Foundation
import HearthHTTP
import HearthTestSupport

/// Bytes that are not the promised ones, and things that are not the file.
let contentFaults: [Fault] = [
    Fault(
        "another ETag mid-way", "keeps what has come, goes on without If-Range; the digest decides", .whole,
        aim: .afterCut(at: 50_000), reply: { $0.answer(etag: "\"v2\"") }
    ).with { $0.requests = 3 },
    Fault(
        "another ETag with each answer (machines that do not agree)", "the same", .whole,
        reply: { visit in
            let reply = visit.answer(etag: "\"v\(visit.turn)\"")
            return visit.turn == 0 ? reply.dropped(after: 20_000) : reply
        }
    ).with { $0.requests = 3 },
    Fault(
        "another ETag with each answer, If-Range ignored", "goes on; the digest decides", .whole,
        reply: { visit in
            let reply = visit.unconditional.header("ETag", "\"v\(visit.turn)\"")
            return visit.turn == 0 ? reply.dropped(after: 20_000) : reply
        }
    ).with { $0.requests = 2 },
    Fault(
        "another file mid-way (another ETag, other bytes)", "finds it by its digest, fetches all of it again", .whole,
        aim: .afterCut(at: 50_000), times: 2, reply: { $0.answer(with: anotherFile, etag: "\"v2\"") }
    ).with {
        $0.requests = 4
        $0.again = 300_000...300_000
        $0.waits = 1.5...3
        // Of several connections each may have asked with the old tag.
        $0.shapes = [.onePiece]
    },
    Fault(
        "a weak ETag", "goes on by range, without If-Range; the digest decides", .whole,
        reply: { visit in
            let reply = visit.answer(etag: "W/\"v1\"")
            return visit.turn == 0 ? reply.dropped(after: 20_000) : reply
        }
    ).with { $0.requests = 2 },
    Fault(
        "no ETag", "goes on by range; the digest decides", .whole,
        reply: { visit in
            let reply = visit.answer(etag: nil)
            return visit.turn == 0 ? reply.dropped(after: 20_000) : reply
        }
    ).with { $0.requests = 2 },
    Fault(
        "no digest, and another ETag mid-way", "takes the file from its first byte", .whole,
        aim: .afterCut(at: 50_000), reply: { $0.answer(etag: "\"v2\"") }
    ).with {
        $0.hasDigest = false
        $0.requests = 2
        $0.again = 50_000...50_000
        $0.againInPieces = 0...200_000
    },
    Fault(
        "no digest, and another ETag with each part", "begins again three times, then fails", .fails("entity-changed"),
        reply: { $0.unconditional.header("ETag", "\"v\($0.turn)\"") }
    ).with {
        $0.hasDigest = false
        $0.kept = .nothing
        $0.againInPieces = 0...600_000
        // The whole file in one answer is all of one kind.
        $0.shapes = [.pieces]
    },
    Fault(
        "no digest, and no ETag to go on by", "takes the file from its first byte", .whole,
        reply: { visit in
            let reply = visit.answer(etag: nil)
            return visit.turn == 0 ? reply.dropped(after: 20_000) : reply
        }
    ).with {
        $0.hasDigest = false
        $0.kept = .nothing
        $0.requests = 2
        $0.again = 20_000...20_000
        $0.againInPieces = 0...200_000
    },
    Fault(
        "no digest, no ETag, and another file from the second request on", "never mixes the two", .whole,
        reply: { $0.answer(with: $0.turn == 0 ? nil : anotherFile, etag: nil) }
    ).with {
        $0.hasDigest = false
        $0.other = anotherFile
        $0.kept = .nothing
        $0.requests = 1
        $0.againInPieces = 0...300_000
    },
    Fault(
        "another file mid-way, under the same ETag", "finds it by its digest, fetches all of it again", .whole,
        aim: .afterCut(at: 50_000), times: 1,
        reply: { $0.answer(with: anotherFile) }
    ).with {
        $0.requests = 3
        $0.again = 300_000...300_000
        $0.waits = 1.5...3
    },
    Fault(
        "one bit is flipped, once", "fetches the file again after 1.5 s", .whole, aim: .byte(123_456), times: 1,
        reply: { $0.answer(with: $0.flipped(at: 123_456)) }
    ).with {
        $0.requests = 2
        $0.again = 300_000...300_000
        $0.waits = 1.5...3
    },
    Fault(
        "bits are flipped all over, twice", "fetches the file a third time", .whole, aim: .byte(123_456), times: 2,
        reply: { $0.answer(with: $0.scrambled) }
    ).with {
        $0.requests = 3
        $0.again = 600_000...600_000
        $0.waits = 3...6
    },
    Fault(
        "one bit is flipped, always", "fails after three attempts, throws the bytes away",
        .fails("checksum-mismatch"), aim: .byte(123_456), reply: { $0.answer(with: $0.flipped(at: 123_456)) }
    ).with {
        $0.requests = 3
        $0.again = 600_000...600_000
        $0.kept = .nothing
    },
    Fault(
        "cut short first, wrong bits in the rest, then whole", "fetches all of it again", .whole,
        aim: .afterCut(at: 100_000), times: 1, reply: { $0.answer(with: $0.scrambled) }
    ).with {
        $0.requests = 3
        $0.again = 300_000...300_000
    },
    Fault(
        "a web page with status 200", "fails at once", .fails("web-page"), reply: { _ in .htmlPage }
    ).refusedAtOnce(),
    Fault(
        "a web page mid-way: the network wants a sign-in", "fails, keeps the bytes", .fails("web-page"),
        aim: .afterCut(at: 50_000), reply: { _ in .htmlPage }
    ).with { $0.requests = 2 },
    Fault(
        "a web page without a type, of the wrong length", "refuses it by its length", .fails("size-mismatch"),
        reply: { _ in Reply(body: .data(Data("<html>Sign in</html>".utf8))) }
    ).refusedAtOnce().with { $0.kept = .nothing },
    Fault(
        "a gzip body", "fails at once", .fails("content-encoded"),
        reply: { $0.proper.header("Content-Encoding", "gzip") }
    ).refusedAtOnce(),
    Fault(
        "a gzip body mid-way", "fails, keeps the bytes", .fails("content-encoded"), aim: .afterCut(at: 50_000),
        reply: { $0.proper.header("Content-Encoding", "gzip") }
    ).with { $0.requests = 2 },
    Fault(
        "an encoding that means nothing (`aws-chunked`)", "takes the bytes", .whole,
        reply: { $0.proper.header("Content-Encoding", "aws-chunked, binary") }
    ),
    Fault(
        "a pointer of Git LFS instead of the file", "fails at once", .fails("lfs-pointer"),
        reply: { _ in
            Reply(body: .data(Data("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 600000\n".utf8)))
        }
    ).refusedAtOnce().with { $0.kept = .nothing },
    Fault(
        "a transfer coding that does not exist", "fails at once", .fails("bad-response"),
        reply: { _ in .garbage(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\nxxxx".utf8)) }
    ).refusedAtOnce(),
    Fault(
        "ten thousand headers", "fails at once", .fails("bad-response"),
        reply: { _ in .garbage(Data("HTTP/1.1 200 OK\r\n".utf8) + flood(of: 10_000, length: 40)) }
    ).refusedAtOnce(),
    Fault(
        "one header of a megabyte", "fails at once", .fails("bad-response"),
        reply: { _ in .garbage(Data("HTTP/1.1 200 OK\r\n".utf8) + flood(of: 1, length: 1 << 20)) }
    ).refusedAtOnce(),
    Fault(
        "interim answers (103) without end", "fails at once", .fails("bad-response"),
        reply: { _ in
            let one = Data("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8)
            return .garbage((0..<20_000).reduce(into: Data()) { all, _ in all += one })
        }
    ).refusedAtOnce(),
    Fault(
        "something that is not HTTP", "fails at once", .fails("bad-response"),
        reply: { _ in .garbage(Data("SSH-2.0-OpenSSH_9.2\r\n".utf8)) }
    ).refusedAtOnce(),
    Fault(
        "a chunked body with nonsense for a length", "gives up after four attempts, keeps the bytes",
        .fails("connection-lost"),
        reply: { _ in .garbage(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".utf8)) }
    ).with { $0.requests = 4 },
]

private let anotherFile = Content.data(Data(repeating: 7, count: 300_000))

/// Header lines, and the end of the head.
private func flood(of count: Int, length: Int) -> Data {
    let line = Data("X-Flood: \(String(repeating: "x", count: length))\r\n".utf8)
    return (0..<count).reduce(into: Data()) { all, _ in all += line } + Data("\r\n".utf8)
}
