import Foundation
import HearthBase
import HearthHTTP

/// A model origin: serves one folder, and nothing outside it, to every client.
///
/// ```swift
/// let server = try OriginServer(folder: Path("origin"))
/// print(server.url)      // http://127.0.0.1:40123
/// …
/// await server.stop()
/// ```
/// `GET` and `HEAD` with single ranges, conditions and strong entity tags. A file that is replaced while it is being
/// sent keeps its old bytes for that reply.
public final class OriginServer: Sendable {
    /// Receives a line for each exchange at its end, on a thread of the server: method, target, status, bytes of body,
    /// range. Must not block for long.
    public typealias AccessLog = @Sendable (String) -> Void

    package let address: ListeningAddress
    /// The address with the actual port: `http://host:port`, without a final slash.
    public var url: String { address.url }
    private let listener: HTTPListener

    /// Starts to listen and to reply. Blocks.
    /// - Parameters:
    ///   - folder: the folder to serve.
    ///   - address: an IPv4 or IPv6 literal; the default is reachable from this machine only.
    ///   - port: 0 takes a free one.
    ///   - accessLog: receives each exchange at its end; `nil` for none.
    /// - Throws: ``ServerError`` with `port-in-use`, `permission`, `address-unavailable`, `folder-missing` or
    ///   `cannot-listen`.
    public convenience init(
        folder: Path, address: String = "127.0.0.1", port: UInt16 = 0, accessLog: AccessLog? = nil
    ) throws {
        try self.init(
            folder: folder, address: address, port: port, finished: { accessLog?($0.accessLogLine) })
    }

    /// Starts with an observer of each exchange at its end.
    package init(
        folder: Path, address: String = "127.0.0.1", port: UInt16 = 0,
        finished: @escaping @Sendable (FinishedExchange) -> Void
    ) throws {
        let site = OriginSite(folder: try OriginFolder(folder))
        let socket = try ListeningSocket(host: address, port: port)
        self.address = socket.address ?? ListeningAddress(host: address, port: port)
        listener = try HTTPListener(
            [socket], limits: .origin, finished: finished, immediately: { site.reply(to: $0) },
            respond: { site.reply(to: $0) })
    }

    /// Stops listening, waits for unfinished replies for at most `grace`, then closes every connection.
    public func stop(grace: Duration = .seconds(5)) async { await listener.stop(grace: grace) }
}

/// Replies with the files of one folder.
struct OriginSite: Sendable {
    let folder: OriginFolder

    func reply(to request: ServerRequest) -> ServerReply {
        do throws(OriginRefusal) {
            let target = try OriginRouting.target(method: request.method, target: request.target.raw)
            let found = try folder.find(target)
            let decision = OriginRouting.reply(
                method: request.method, headers: request.headers, target: target, facts: found.facts)
            let body: ServerReply.Body =
                decision.content.map { .file(found.file, offset: $0.start, count: $0.count) } ?? .bytes([])
            var reply = ServerReply(status: decision.status, headers: decision.headers, body: body)
            if decision.status == 206 { reply.range = decision.content }
            return reply
        } catch {
            return error.reply
        }
    }
}
