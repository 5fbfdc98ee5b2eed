import Foundation
import HearthHTTP
import HearthTestSupport

/// Servers that say no, later, or somewhere else.
let statusFaults: [Fault] =
    [
        (404, "missing-at-origin"), (410, "missing-at-origin"), (401, "access-denied"), (403, "access-denied"),
        (400, "unexpected-status"), (204, "unexpected-status"), (304, "unexpected-status"),
        (300, "unexpected-status"), (451, "unexpected-status"), (999, "unexpected-status"),
    ].map { status, code in
        Fault("status \(status)", "fails at once", .fails(code), reply: { _ in Reply(status) }).refusedAtOnce()
    } + [
        Fault(
            "404 mid-way", "fails, keeps the bytes", .fails("missing-at-origin"), aim: .afterCut(at: 50_000),
            reply: { _ in Reply(404) }
        ).with { $0.requests = 2 },
        Fault(
            "three times 500", "asks again, with growing pauses", .whole, times: 3, reply: { _ in Reply(500) }
        ).with {
            $0.requests = 4
            $0.waits = 1.5...4
        },
        Fault(
            "500, 502, 503 and 504 without end", "gives up after four attempts", .fails("server-busy"),
            reply: { Reply([500, 502, 503, 504][$0.turn % 4]) }
        ).with { $0.requests = 4 },
        Fault(
            "500 mid-way without end", "gives up after four attempts, keeps the bytes", .fails("server-busy"),
            aim: .afterCut(at: 50_000), reply: { _ in Reply(500) }
        ).with { $0.requests = 4 },
        Fault(
            "408", "asks again", .whole, times: 1, reply: { _ in Reply(408) }
        ).with { $0.requests = 2 },
    ]
    + [
        (429, "7", "Retry-After of 7 s", 7.0...8), (503, "7", "Retry-After of 7 s", 7...8),
        (429, "Fri, 15 Jan 2027 08:00:09 GMT", "Retry-After as a date 9 s ahead", 9...10),
        (503, "Friday, 15-Jan-27 08:00:09 GMT", "Retry-After as an old date 9 s ahead", 9...10),
        (503, "Sat, 15 Jan 2022 08:00:09 GMT", "Retry-After in the past", 0.25...0.5),
        (429, "100000000", "Retry-After of three years", 300...301),
        (503, "Fri, 31 Dec 9999 23:59:59 GMT", "Retry-After in the year 9999", 300...301),
        (429, "-5", "a negative Retry-After", 0.25...0.5), (503, "soon", "a Retry-After in words", 0.25...0.5),
        (429, "99999999999999999999", "a Retry-After that overflows", 0.25...0.5),
    ].map { status, value, what, waits in
        Fault(
            "\(status) with \(what)",
            "waits \(waits.lowerBound < 1 ? "as after any failure" : "that long, at most 5 min")",
            .whole, times: 1, reply: { _ in Reply(status, headers: ["Retry-After": value]) }
        ).with {
            $0.requests = 2
            $0.waits = waits
        }
    } + [
        Fault(
            "429 with Retry-After of 7 s, without end", "asks four times, as it is told, and gives up",
            .fails("server-busy"), reply: { _ in Reply(429, headers: ["Retry-After": "7"]) }
        ).with {
            $0.requests = 4
            $0.waits = 21...25
        }
    ]

/// Redirects, good and bad.
let redirectFaults: [Fault] =
    [301, 302, 303, 307, 308].map { status in
        Fault(
            "three redirects (\(status)) in a row", "follows them", .whole,
            reply: { $0.chain(of: 3, status: status) }
        ).with { $0.requests = 1 }
    } + [
        Fault(
            "a redirect, and the connection is cut after it", "goes on at that byte, through the redirect", .whole,
            reply: { visit in
                let isFirst = visit.request.path == "/hop1" && visit.asked.lowerBound == 0
                return isFirst ? visit.cut(at: 20_000) : visit.chain(of: 1, status: 302)
            }
        ).with { $0.requests = 2 },
        Fault(
            "a redirect to itself", "fails at once", .fails("too-many-redirects"),
            reply: { .redirect($0.request.path) }
        ).refusedAtOnce(),
        Fault(
            "two addresses that redirect to each other", "fails at once", .fails("too-many-redirects"),
            reply: { .redirect($0.request.path == "/a" ? "/b" : "/a", status: 307) }
        ).refusedAtOnce(),
        Fault(
            "eleven redirects", "fails after ten", .fails("too-many-redirects"),
            reply: { $0.chain(of: 11, status: 302) }
        ).refusedAtOnce(),
        Fault(
            "a redirect without Location", "fails at once", .fails("unexpected-status"), reply: { _ in Reply(302) }
        ).refusedAtOnce(),
        Fault(
            "a redirect to http on another machine", "does not follow it", .fails("insecure-redirect"),
            reply: { _ in .redirect("http://models.example.org/m.gguf?token=s3cret") }
        ).refusedAtOnce(),
        Fault(
            "a redirect to file:", "does not follow it", .fails("bad-response"),
            reply: { _ in .redirect("file:///etc/passwd") }
        ).refusedAtOnce(),
        Fault(
            "a redirect to an address with a password", "does not follow it", .fails("bad-response"),
            reply: { _ in .redirect("https://user:s3cret@models.example.org/m.gguf") }
        ).refusedAtOnce(),
    ]

extension Visit {
    /// Redirects so often, each time to another path, then the file.
    fileprivate func chain(of count: Int, status: Int) -> Reply {
        let hop = request.path.hasPrefix("/hop") ? Int(request.path.dropFirst(4)) ?? 0 : 0
        return hop < count ? .redirect("/hop\(hop + 1)", status: status) : proper
    }
}
