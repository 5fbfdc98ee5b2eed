import Foundation
import HearthTestSupport

/// Connections that break, fall silent, or are never made.
let connectionFaults: [Fault] =
    [
        Fault(
            "no answer's body begins: cut before byte 0", "goes on at once, nothing lost", .whole, aim: .byte(0),
            times: 1, reply: { $0.cut(at: 0) }
        ).with { $0.requests = 2 }
    ]
    + ([1, 65_536, 150_001, 299_999] as [UInt64]).map { offset in
        Fault(
            "the connection is cut at byte \(offset)", "goes on at that byte", .whole, aim: .byte(offset), times: 1,
            reply: { $0.cut(at: offset) }
        ).with { $0.requests = 2 }
    } + [
        Fault(
            "every connection is cut after 10 007 bytes", "goes on each time, without limit while bytes come", .whole,
            reply: { $0.proper.dropped(after: 10_007) }
        ).with { $0.requests = 30 },
        Fault(
            "the server ends the connection after each answer, unannounced", "makes a new one for the next request",
            .whole, reply: { $0.proper.dropped(after: .max) }
        ).with { $0.requests = 1 },
        Fault(
            "the connection is reset (RST) at byte 150 000", "goes on after the received bytes", .whole,
            aim: .byte(150_000), times: 1, reply: { $0.proper.reset(after: 150_000 - $0.asked.lowerBound) }
        ).with { $0.requests = 2 },
        Fault(
            "connections are cut before the body, for ever, once 50 000 bytes are there",
            "gives up after four fruitless attempts, keeps the bytes", .fails("connection-lost"),
            aim: .afterCut(at: 50_000), reply: { $0.cut(at: $0.asked.lowerBound) }
        ).with { $0.requests = 4 },
        Fault(
            "the server hangs up instead of answering, three times", "asks again after a pause", .whole, times: 3,
            reply: { _ in .hangUp }
        ).with {
            $0.requests = 4
            $0.waits = 1.5...4
        },
        Fault(
            "the server hangs up instead of answering, for ever", "gives up after four attempts",
            .fails("connection-lost"), reply: { _ in .hangUp }
        ).with { $0.requests = 4 },
        Fault(
            "no answer comes: silence before the head, once", "ends the connection after 15 s, asks on another",
            .whole, times: 1, reply: { $0.proper.stalledBeforeHead(at: Gate()) }
        ).impatient(requests: 2),
        Fault(
            "silence after the head, once", "ends the connection after 15 s, asks on another", .whole, times: 1,
            reply: { $0.stalled(at: $0.asked.lowerBound) }
        ).impatient(requests: 2),
        Fault(
            "silence at byte 150 000, once", "goes on at that byte on another connection", .whole,
            aim: .byte(150_000), times: 1, reply: { $0.stalled(at: 150_000) }
        ).impatient(requests: 2),
        Fault(
            "silence before the last byte", "fetches the last byte on another connection", .whole,
            aim: .byte(299_999), times: 1, reply: { $0.stalled(at: 299_999) }
        ).impatient(requests: 2),
        Fault(
            "silence for ever", "gives up after four attempts, keeps the bytes", .fails("timed-out"),
            aim: .byte(100_000), reply: { $0.stalled(at: 100_000) }
        ).impatient(requests: 4),
        Fault(
            "a trickle of less than 64 KiB in 15 s, twice", "goes on at the next byte on another connection", .whole,
            times: 2, reply: { $0.proper.paced(bytesPerSecond: 50_000).header(FaultRun.pace, "5") }
        ).with {
            // Another connection helps the slow one, which may have taken the beginning of that share.
            $0.againInPieces = 0...65_536
        },
        Fault(
            "the port is closed", "gives up after four attempts", .fails("cannot-connect")
        ).with {
            $0.origin = .closedPort
            $0.requests = 4
        },
        Fault(
            "the host name does not resolve", "gives up after four attempts", .fails("host-not-found")
        ).with {
            $0.origin = .unknownName
            $0.requests = 4
        },
        Fault(
            "the address says https, the server does not", "fails at once", .fails("tls-failure")
        ).with {
            $0.origin = .withoutTLS
            $0.requests = 1
        },
        Fault(
            "a TLS handshake that never ends", "gives up after four attempts of 10 s", .fails("timed-out")
        ).with { $0.origin = .silentTLS }.impatient(requests: 4),
    ]

extension Fault {
    /// A row whose silence is waited for no longer than a test may take.
    fileprivate func impatient(requests: Int) -> Fault {
        with {
            $0.silenceLimit = .seconds(1)
            $0.requests = requests
        }
    }
}
