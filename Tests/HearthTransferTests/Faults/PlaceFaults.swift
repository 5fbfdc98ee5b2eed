import Foundation
import HearthHTTP
import HearthTestSupport

/// Servers whose certificates do not hold, and one that leads away from `https`.
let tlsFaults: [Fault] = [
    Fault("a certificate of an unknown issuer", "fails at once", .fails("tls-failure"))
        .at(.https(.proper, isTrusted: false, path: "/m.gguf")),
    Fault("a certificate that has expired", "fails at once", .fails("tls-failure"))
        .at(.https(.expired, isTrusted: true, path: "/m.gguf")),
    Fault("a certificate of another machine", "fails at once", .fails("tls-failure"))
        .at(.https(.ofAnotherMachine, isTrusted: true, path: "/m.gguf")),
    Fault("a redirect from https to http", "does not follow it, not even to this machine", .fails("insecure-redirect"))
        .at(.https(.proper, isTrusted: true, path: "/moved")),
]

/// Two places, of which the first is no good.
let mirrorFaults: [Fault] = [
    Fault(
        "the first mirror is dead", "takes all from the second, at once", .whole
    ).mirrored(requests: 2).with { $0.origin = .closedPort },
    Fault(
        "the first mirror has no such file", "takes all from the second, at once", .whole, reply: { _ in Reply(404) }
    ).mirrored(requests: 2),
    Fault(
        "the first mirror answers Retry-After: 300 s", "takes all from the second, at once", .whole,
        reply: { _ in Reply(503, headers: ["Retry-After": "300"]) }
    ).mirrored(requests: 2),
    Fault(
        "the first mirror breaks at byte 50 000, and for ever", "goes on at that byte from the second", .whole,
        aim: .afterCut(at: 50_000), reply: { _ in .hangUp }
    ).mirrored(requests: 2),
    Fault(
        "no digest, and the first mirror breaks at byte 50 000, and for ever",
        "takes the file from its first byte from the second", .whole, aim: .afterCut(at: 50_000),
        reply: { _ in .hangUp }
    ).mirrored(requests: 6, waits: 1...4).with {
        $0.hasDigest = false
        $0.again = 50_000...50_000
        $0.againInPieces = 50_000...200_000
        $0.kept = .nothing
    },
    Fault(
        "the first mirror ends at byte 50 000 (416)", "goes on at that byte from the second", .whole,
        aim: .afterCut(at: 50_000), reply: { _ in Reply(416) }
    ).mirrored(requests: 2),
    Fault(
        "no digest, and the first mirror has another ETag with each part", "leaves it after three new beginnings",
        .whole, reply: { $0.unconditional.header("ETag", "\"v\($0.turn)\"") }
    ).mirrored(requests: 2).with {
        $0.hasDigest = false
        $0.kept = .nothing
        $0.requests = nil
        $0.waits = nil
        $0.againInPieces = 0...600_000
        $0.shapes = [.pieces]
    },
    Fault(
        "the first mirror all but stops", "goes on at the next byte from the second", .whole,
        reply: { $0.proper.paced(bytesPerSecond: 50_000).header(FaultRun.pace, "5") }
    ).mirrored(requests: 2, waits: 15...60),
    Fault(
        "the first mirror has another file, of another length", "takes all from the second", .whole,
        reply: { $0.answer(with: .pattern(count: 200_000), etag: "\"other\"") }
    ).mirrored(requests: 2),
    Fault(
        "the first mirror has wrong bits", "throws its bytes away, takes all from the second", .whole,
        aim: .byte(123_456), reply: { $0.answer(with: $0.flipped(at: 123_456)) }
    ).mirrored(requests: 2, waits: 1.5...2).with { $0.again = 300_000...300_000 },
    Fault(
        "the first mirror has wrong bits everywhere", "finds it by the digest, asks one mirror at a time from then on",
        .whole, reply: { $0.answer(with: $0.scrambled) }
    ).mirrored(requests: 2, waits: 1.5...2).with { $0.again = 300_000...300_000 },
    Fault(
        "the second mirror has wrong bits everywhere", "the same; the first is asked alone in the third attempt",
        .whole, reply: { $0.answer(with: $0.scrambled) }
    ).mirrored(requests: 1).with {
        $0.isMirrorFirst = true
        $0.againInPieces = 0...600_000
        $0.requests = nil
        $0.waits = nil
    },
]

/// A disk without room.
let diskFaults: [Fault] = [
    Fault(
        "the disk has no room for the file", "fails before the first byte", .fails("disk-full")
    ).with {
        $0.disk = { $0.fillDisk(after: 200_000) }
        $0.requests = 1
    },
    Fault(
        "the disk is full at byte 200 000, when 150 000 are recorded", "fails, keeps what was recorded",
        .fails("disk-full"), aim: .afterCut(at: 150_000)
    ).with {
        $0.fullAt = 200_000
        $0.kept = .before(150_000)
        $0.requests = 2
    },
    Fault(
        "the disk is full when progress is to be recorded", "fails; what could not be recorded comes again",
        .fails("disk-full")
    ).with {
        $0.disk = { $0.fail(call: 1, of: .rename, errno: ENOSPC, stays: true) }
        $0.kept = .nothing
        $0.requests = 1
    },
]

extension Fault {
    fileprivate func at(_ origin: Origin) -> Fault {
        with {
            $0.origin = origin
            $0.requests = 1
        }
    }

    fileprivate func mirrored(requests: Int, waits: ClosedRange<Double> = 0...1) -> Fault {
        with {
            $0.hasMirror = true
            $0.requests = requests
            $0.waits = waits
        }
    }
}
