import Foundation
import HearthBase
import HearthHTTP

extension HTTPHeaders {
    /// All values of a field joined by commas, as RFC 9110 section 5.3 allows; `nil` without such a field.
    package func joined(_ name: String) -> String? {
        let values = fields.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// The other end of a connection.
package enum ServerPeer: Sendable, Hashable, CustomStringConvertible {
    /// A process of this machine over the unix socket, with its user's number.
    case local(user: UInt32)
    /// An address of the network.
    case network(host: String)

    /// The number that no user has.
    static let unknownUser = UInt32.max

    /// Whether the peer is on this machine.
    package var isLoopback: Bool {
        switch self {
        case .local: true
        case .network(let host):
            host.hasPrefix("127.") || host == "::1" || host.hasPrefix("::ffff:127.")
        }
    }

    /// The peer for which connections are counted. All processes of this machine over the network are one peer, and so
    /// are the addresses of an IPv6 network (/64), since one machine can have all of them.
    var counted: String {
        switch self {
        case .local: return description
        case .network(let host):
            if isLoopback { return "loopback" }
            var bytes = [UInt8](repeating: 0, count: 16)
            guard host.contains(":"), inet_pton(AF_INET6, host, &bytes) == 1 else { return host }
            // An IPv4 address in the form of an IPv6 one is one machine.
            return bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
                ? host : bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
        }
    }

    package var description: String {
        switch self {
        case .local(let user): "user-\(user)"
        case .network(let host): host
        }
    }
}

/// A right of a caller.
package enum ServerScope: String, Sendable, Hashable, CaseIterable, Codable {
    /// Asking models for answers.
    case chat
    /// Pulling, removing and choosing models.
    case models
    /// Everything else: transfers, settings, stopping the process.
    case admin
}

/// The identity that a request has proved.
package struct ServerCaller: Sendable, Hashable {
    /// The id of a key; `owner` for this machine's user over the unix socket; `page` for a signed-in page; `browser` for a
    /// browser that proves its cookie alone; `local` for any other process of this machine; `anonymous` for the rest.
    package var name: String
    package var scopes: Set<ServerScope>

    /// The owner of the process: every right.
    package static let owner = ServerCaller(name: "owner", scopes: Set(ServerScope.allCases))
    /// A page of this server whose session is whole: the rights of its owner, but no keys and codes without a code.
    package static let page = ServerCaller(name: "page", scopes: Set(ServerScope.allCases))
    /// A process of this machine without a key: it asks models, and nothing else.
    package static let thisMachine = ServerCaller(name: "local", scopes: [.chat])
    /// Without any right.
    package static let anonymous = ServerCaller(name: "anonymous", scopes: [])

    /// Whether a key, a session or the unix socket has proved the identity.
    var showedKey: Bool { self != .thisMachine && self != .anonymous }
    /// A browser with the cookie of a session alone, which programs on other ports of this host get as well: it gets the
    /// files of the page and the rights that it has without the cookie.
    package static func browser(_ scopes: Set<ServerScope>) -> ServerCaller {
        ServerCaller(name: "browser", scopes: scopes)
    }

    /// Whether the caller gets the files of the page.
    var getsPage: Bool { scopes.contains(.admin) || name == "browser" }
    /// Whether requests of the caller are counted: this machine's own programs and pages share it as they please.
    var isCounted: Bool { !["owner", "page", "browser", "local"].contains(name) }
}

/// A request whose header has arrived. Its task is cancelled within a second after the client has left.
package struct ServerRequest: Sendable {
    /// Identifies the request in the log and in `X-Request-Id`.
    package var id = ""
    /// `GET`, `HEAD`, …, as sent.
    package var method: String
    package var target: ServerTarget
    package var headers: HTTPHeaders
    package var peer: ServerPeer
    /// Set by the checks before the responder.
    package var caller: ServerCaller
    package var body: RequestBody
    /// Tells a task that is cancelled whether the server ends or the client has left.
    package var ending = ServerEnding()

    package init(
        method: String = "GET", target: String, headers: HTTPHeaders = [:],
        peer: ServerPeer = .network(host: "127.0.0.1"),
        caller: ServerCaller = .anonymous, body: RequestBody = RequestBody()
    ) {
        self.method = method
        self.target = ServerTarget(target)
        self.headers = headers
        self.peer = peer
        self.caller = caller
        self.body = body
    }

    /// Whether the client is on this machine.
    package var isLoopback: Bool { peer.isLoopback }
}

/// A reply. The listener adds `Date`, `Content-Length` and `Connection`. A reply to `HEAD` is built like one to `GET`;
/// the listener does not send its body.
package struct ServerReply: Sendable {
    /// The source of the bytes.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A part of an open file, sent by the kernel without a copy (`sendfile`).
        case file(OpenFile, offset: UInt64, count: UInt64)
        /// Bytes that the closure writes while they are sent. The body ends when the closure returns; if it throws, the
        /// connection breaks, so that the client notices.
        case stream(@Sendable (BodyWriter) async throws -> Void)
    }

    package var status: Int
    package var headers: HTTPHeaders
    package var body: Body
    /// The part of the file that is sent, for the access log.
    var range: ByteRange?
    /// A word about the reply for the server's log.
    package var note: String?

    package init(status: Int, headers: HTTPHeaders = [:], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The whole body, as a client would get it; for tests and for replies from inside the process. Blocks for a file.
    package func collectedBody() async throws -> [UInt8] {
        switch body {
        case .bytes(let bytes): return bytes
        case .file(let file, let offset, let count):
            var bytes = [UInt8](repeating: 0, count: Int(count))
            let read = try bytes.withUnsafeMutableBytes {
                try LocalFileSystem().read(file, into: $0, at: offset)
            }
            return Array(bytes.prefix(read))
        case .stream(let make):
            let collected = Locked<[UInt8]>([])
            let place = Locked<BodyWriter?>(nil)
            let writer = BodyWriter {
                guard let writer = place.withLock({ $0 }) else { return }
                while case .bytes(let bytes) = writer.take(upTo: .max) { collected.withLock { $0 += bytes } }
            }
            place.withLock { $0 = writer }
            defer { place.withLock { $0 = nil } }
            try await make(writer)
            return collected.withLock { $0 }
        }
    }
}

/// Makes the reply to a request. It runs in a task of its own, which is cancelled when the client leaves.
package typealias Responder = @Sendable (ServerRequest) async -> ServerReply

/// A request that has ended, with or without a complete reply.
package struct FinishedExchange: Sendable, Hashable {
    /// The request's id.
    package var id = ""
    package var method: String
    /// The target as the client sent it.
    package var target: String
    package var status: Int
    /// The bytes of body handed to the connection. After an abort: those the client has acknowledged.
    package var bodyBytes: UInt64
    /// The part of a file that was requested and sent.
    var range: ByteRange?
    /// Whether the whole reply was sent.
    package var isComplete = true
    /// The name of the caller.
    package var caller = ServerCaller.anonymous.name
    package var peer = ""
    /// From the header of the request to the end of the reply.
    package var duration = Duration.zero
    /// A word about the reply for the server's log.
    package var note: String?
}
