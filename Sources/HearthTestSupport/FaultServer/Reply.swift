import Foundation
import HearthHTTP

/// The reply of a ``FaultServer``: an ordinary response, and its faults.
///
/// ```swift
/// let server = try FaultServer { _ in
///     Reply(body: .pattern(count: 1 << 20)).dropped(after: 1000)
/// }
/// ```
package struct Reply: Sendable {
    /// How the end of the body is marked.
    package enum Framing: Sendable {
        /// With a correct `Content-Length`.
        case length
        /// With this `Content-Length`, independently of the sent bytes.
        case declared(UInt64)
        case chunked
        /// With the end of the connection.
        case untilClose
    }

    enum Event: Sendable {
        case wait(Gate)
        case drop
        case reset
    }

    package var status: Int
    package var headers: HTTPHeaders
    package var body: Content
    package var framing = Framing.length
    var events: [(offset: UInt64, event: Event)] = []
    var gateBeforeHead: Gate?
    var raw: Data?
    var bytesPerSecond: Int?

    /// Makes a response.
    package init(_ status: Int = 200, headers: HTTPHeaders = [:], body: Content = .data(Data())) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A short text, which a client must not cache, because tests change the replies of their servers.
    package static func text(_ text: String, status: Int = 200) -> Reply {
        Reply(
            status, headers: ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-cache"],
            body: .data(Data(text.utf8)))
    }

    /// The page of a captive portal or a proxy in place of the requested resource.
    package static var htmlPage: Reply {
        let page = "<!doctype html><title>Sign in</title><p>Sign in to use this network."
        return Reply(headers: ["Content-Type": "text/html"], body: .data(Data(page.utf8)))
    }

    /// A redirect to an address, absolute or relative.
    package static func redirect(_ location: String, status: Int = 302) -> Reply {
        Reply(status, headers: ["Location": location])
    }

    /// Raw bytes, then the end of the connection: a reply that is not HTTP.
    package static func garbage(_ bytes: Data) -> Reply {
        var reply = Reply()
        reply.raw = bytes
        return reply
    }

    /// The end of the connection instead of a reply.
    package static var hangUp: Reply { garbage(Data()) }

    /// Ends the connection after `count` bytes of the body.
    package func dropped(after count: UInt64) -> Reply { with(.drop, at: count) }

    /// Resets the connection (`RST`) after `count` bytes of the body.
    package func reset(after count: UInt64) -> Reply { with(.reset, at: count) }

    /// Waits at the gate after the head and `count` bytes of the body.
    package func stalled(after count: UInt64 = 0, at gate: Gate) -> Reply { with(.wait(gate), at: count) }

    /// Waits at the gate before the first byte.
    package func stalledBeforeHead(at gate: Gate) -> Reply { with { $0.gateBeforeHead = gate } }

    /// Sets a header.
    package func header(_ name: String, _ value: String) -> Reply { with { $0.headers[name] = value } }

    /// Marks the end of the body in another way.
    package func framed(_ framing: Framing) -> Reply { with { $0.framing = framing } }

    /// Limits the speed of the body.
    package func paced(bytesPerSecond: Int) -> Reply { with { $0.bytesPerSecond = bytesPerSecond } }

    private func with(_ event: Event, at offset: UInt64) -> Reply {
        with { reply in
            reply.events.append((offset, event))
            reply.events.sort { $0.offset < $1.offset }
        }
    }

    private func with(_ change: (inout Reply) -> Void) -> Reply {
        var copy = self
        change(&copy)
        return copy
    }
}

extension FaultServer {
    /// Serves one file correctly at every path: `GET` and `HEAD`, ranges, `If-Range`, `If-None-Match`.
    package static func file(_ data: Data, etag: String? = "\"v1\"") -> Handler { file(.data(data), etag: etag) }

    /// Serves one file correctly at every path.
    package static func file(_ content: Content, etag: String? = "\"v1\"") -> Handler {
        { request in answer(request, with: content, etag: etag) }
    }

    /// The correct reply to a request for a file, for handlers that add faults to it.
    package static func answer(_ request: RecordedRequest, with content: Content, etag: String? = "\"v1\"") -> Reply {
        var headers: HTTPHeaders = ["Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"]
        if let etag { headers["ETag"] = etag }
        if let etag, request.headers["If-None-Match"] == etag { return Reply(304, headers: headers) }
        let condition = request.headers["If-Range"]
        let range = condition == nil || condition == etag ? request.headers["Range"] : nil
        switch ByteRange.request(range, size: content.count) {
        case .whole: return Reply(headers: headers, body: content)
        case .unsatisfiable:
            headers["Content-Range"] = "bytes */\(content.count)"
            return Reply(416, headers: headers)
        case .part(let part):
            headers["Content-Range"] = part.responseHeader(size: content.count)
            return Reply(206, headers: headers, body: content.slice(part.start..<part.end))
        }
    }
}
