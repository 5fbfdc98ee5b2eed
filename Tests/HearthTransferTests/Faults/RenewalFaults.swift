import Foundation
import HearthHTTP
import HearthTestSupport

/// Signed addresses that expire: the first one is refused from some moment on.
let renewalFaults: [Fault] =
    [400, 401, 403].map { status in
        Fault(
            "a signed address expires mid-way (\(status))", "has it renewed once for all connections, goes on", .whole,
            aim: .afterCut(at: 50_000), reply: { $0.isFirstAddress ? Reply(status) : $0.proper }
        ).with {
            $0.provider = .works
            $0.addresses = 2...2
            $0.requests = 3
        }
    } + [
        Fault(
            "a signed address has expired before the first byte", "has it renewed, begins", .whole,
            reply: { $0.isFirstAddress ? Reply(403) : $0.proper }
        ).with {
            $0.provider = .works
            $0.addresses = 2...2
            $0.requests = 2
        },
        Fault(
            "each signed address is good for eight requests", "has it renewed as often as needed", .whole,
            reply: { $0.uses < 8 ? $0.proper.dropped(after: 12_000) : Reply(403) }
        ).with {
            $0.provider = .works
            $0.addresses = 4...8
        },
        Fault(
            "the renewed addresses are refused too", "fails after two of them, keeps the bytes",
            .fails("access-denied"), aim: .afterCut(at: 50_000), reply: { _ in Reply(403) }
        ).with {
            $0.provider = .works
            $0.addresses = 3...6
            $0.requests = 4
        },
        Fault(
            "the renewal fails twice", "asks for it again after a pause", .whole, aim: .afterCut(at: 50_000),
            reply: { $0.isFirstAddress ? Reply(403) : $0.proper }
        ).with {
            $0.provider = .fails(times: 2)
            $0.addresses = 4...4
            // On a clock that hurries, the one failure that four connections see counts as four.
            $0.shapes = [.onePiece]
        },
        Fault(
            "the renewal fails for ever", "gives up, keeps the bytes", .fails("cannot-connect"),
            aim: .afterCut(at: 50_000), reply: { $0.isFirstAddress ? Reply(403) : $0.proper }
        ).with {
            $0.provider = .fails(times: .max)
            $0.addresses = 2...8
        },
        Fault(
            "403 mid-way, without a service that renews addresses", "fails, keeps the bytes", .fails("access-denied"),
            aim: .afterCut(at: 50_000), reply: { _ in Reply(403) }
        ).with { $0.requests = 2 },
        Fault(
            "404 for a signed address", "fails at once, asks for no other", .fails("missing-at-origin"),
            reply: { _ in Reply(404) }
        ).with {
            $0.provider = .works
            $0.addresses = 1...1
            $0.requests = 1
        },
    ]

/// Wrong bytes where the digest of every part is known.
let indexFaults: [Fault] = [
    Fault(
        "one bit is flipped, once", "fetches that part again, and no other", .whole, aim: .byte(123_456), times: 1,
        reply: { $0.answer(with: $0.flipped(at: 123_456)) }
    ).indexed(again: 32_768...32_768).with { $0.againInPieces = 32_768...65_536 },
    Fault(
        "one bit is flipped, twice", "fetches that part twice again, and no other", .whole, aim: .byte(123_456),
        times: 2, reply: { $0.answer(with: $0.flipped(at: 123_456)) }
    ).indexed(again: 65_536...65_536).with { $0.againInPieces = 65_536...98_304 },
    Fault(
        "one bit is flipped, always", "fails after three attempts, keeps all other parts",
        .fails("checksum-mismatch"), aim: .byte(123_456), reply: { $0.answer(with: $0.flipped(at: 123_456)) }
    ).indexed(again: 65_536...65_536).with {
        $0.againInPieces = 65_536...98_304
        $0.kept = .allBut(98_304..<131_072)
    },
    Fault(
        "one bit is flipped, always, and there is a mirror", "fetches that part from the mirror", .whole,
        aim: .byte(123_456), reply: { $0.answer(with: $0.flipped(at: 123_456)) }
    ).indexed(again: 0...98_304).with { $0.hasMirror = true },
    Fault(
        "bits are flipped all over, always, and there is a mirror", "leaves that server after three parts", .whole,
        reply: { $0.answer(with: $0.scrambled) }
    ).indexed(again: 0...300_000).with { $0.hasMirror = true },
    Fault(
        "another ETag mid-way", "keeps what has come, goes on without If-Range", .whole, aim: .afterCut(at: 150_000),
        reply: { $0.answer(etag: "\"v2\"") }
    ).indexed(again: 0...0).with { $0.requests = 3 },
    Fault(
        "another file mid-way (another ETag, other bytes)", "fetches the wrong parts again, and no others", .whole,
        aim: .afterCut(at: 150_000), times: 2, reply: { $0.answer(with: $0.scrambled, etag: "\"v2\"") }
    ).indexed(again: 168_928...168_928).with {
        // Of several connections each may have asked with the old tag.
        $0.shapes = [.onePiece]
    },
    Fault(
        "416 to all that is missing, for ever", "gives up after four attempts, keeps the bytes",
        .fails("unexpected-status"), aim: .afterCut(at: 150_000), reply: { _ in Reply(416) }
    ).indexed(again: 0...0).with {
        $0.requests = 4
        $0.waits = 1...3.5
    },
]

extension Visit {
    /// Whether the request comes with the first address the provider gave.
    fileprivate var isFirstAddress: Bool { request.query("token") == "s3cret-1" }
}

extension Fault {
    fileprivate func indexed(again: ClosedRange<UInt64>) -> Fault {
        with {
            $0.hasIndex = true
            $0.again = again
        }
    }
}
