import Foundation
import HearthBase

#if Server
import CMicrohttpd
#endif

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Asks a home's resident process over its unix socket.
///
/// Requests are HTTP/1.0, whose replies end with the connection: no chunks to decode.
package struct ResidentClient: Sendable {
    /// The longest wait for the head of a reply: the routes that take longer stream.
    private let longestWait: Int

    private let place: ResidentPlace
    private var socket: Path { place.socket }

    /// - Parameter longestWait: the seconds to wait for the head of a reply.
    package init(_ place: ResidentPlace, longestWait: Int = 30) {
        (self.place, self.longestWait) = (place, longestWait)
    }

    /// A reply's status and its body as it arrives.
    package struct Reply: Sendable {
        package let status: Int
        /// The id of the job that was begun; `nil` for other replies.
        package let job: String?
        fileprivate let connection: UnixConnection

        /// The next line of the body without its end, `nil` at the end of the connection.
        package func line() async throws -> String? {
            await withTaskCancellationHandler {
                await blocking { connection.line() }
            } onCancel: {
                connection.shut()
            }
        }

        /// The rest of the body.
        package func rest() async throws -> [UInt8] { await blocking { connection.rest() } }

        /// Ends the connection.
        package func close() { connection.shut() }
    }

    /// Sends a request; `nil` if no process listens. Nothing is sent before the socket's folder and the user of the process
    /// that listens are known to be this user's.
    /// - Throws: ``ServerError`` with `foreign-socket`; `no-answer` if the process accepts the connection and sends no reply.
    package func send(_ method: String, _ path: String, body: [UInt8] = []) async throws -> Reply? {
        try await blocking {
            guard try place.hasOwnFolder(), let connection = UnixConnection(socket) else { return nil }
            try connection.requireTrustedPeer(at: socket)
            let fields = ["Host: localhost", "Content-Type: application/json", "Content-Length: \(body.count)"]
            connection.send(
                Array("\(method) \(path) HTTP/1.0\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n".utf8) + body)
            connection.limitWait(seconds: longestWait)
            let head = connection.head()
            connection.limitWait(seconds: 0)
            guard let (status, job) = head else {
                throw ServerError(
                    .noAnswer, "the process that serves this home does not answer",
                    context: ErrorContext(
                        file: socket.string, remedy: "Stop it, or end the process and start it anew."),
                    disposition: .tryLater)
            }
            return Reply(status: status, job: job, connection: connection)
        }
    }

    /// Whether a process answers.
    package func isServing() async -> Bool {
        // A process that does not answer is not serving.
        guard let reply = try? await send("GET", "/ready") else { return false }
        reply.close()
        return reply.status == 200
    }
}

extension ResidentClient {
    /// Asks for a JSON object; `nil` if no process listens.
    /// - Throws: `ServerError` with `no-answer` for any other reply.
    package func object(_ method: String, _ path: String) async throws -> JSONMembers? {
        guard let reply = try await send(method, path) else { return nil }
        let body = try await reply.rest()
        // A reply that is no object is reported with its status.
        guard (200..<300).contains(reply.status), let object = try? JSONValue(parsing: Data(body)).members else {
            throw ServerError(
                .noAnswer, "the process that serves this home answered with status \(reply.status)",
                context: ErrorContext(found: "\(reply.status)", remedy: "Stop it and start it anew."))
        }
        return object
    }
}

/// A connection to a unix socket, closed with its last reference. All calls but ``shut()`` block; one at a time.
private final class UnixConnection: Sendable {
    private let descriptor: Int32
    private let buffer = Locked<[UInt8]>([])

    /// Connects; `nil` if no process listens.
    init?(_ path: Path) {
        descriptor = openSocket(AF_UNIX)
        guard descriptor >= 0, (try? withUnixAddress(path) { connect(descriptor, $0, $1) }) == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// - Throws: ``ServerError`` with `foreign-socket` if a process of another user listens.
    func requireTrustedPeer(at path: Path) throws {
        let user = LocalUser.peer(of: descriptor)
        guard let user, LocalUser.isTrusted(user) else {
            throw ServerError.foreignSocket(
                "a process of \(user.map { "user \($0)" } ?? "an unknown user") listens at \(path)", at: path)
        }
    }

    /// Bounds the time of each receive; 0 for no bound.
    func limitWait(seconds: Int) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    func shut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func send(_ bytes: [UInt8]) {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                guard let base = buffer.baseAddress else { return 0 }
                #if canImport(Darwin)
                return Darwin.send(descriptor, base + start, bytes.count - start, flags)
                #else
                return Glibc.send(descriptor, base + start, bytes.count - start, flags)
                #endif
            }
            // The reply, or its absence, tells of a connection that broke.
            guard count > 0 || errno == EINTR else { return }
            start += max(0, count)
        }
    }

    /// Reads more bytes; `false` at the end.
    private func fill() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            buffer.withLock { $0 += bytes[..<count] }
            return true
        }
    }

    /// A line without its end; at the end of the connection, what is left.
    func line() -> String? {
        while true {
            let line = buffer.withLock { buffer -> [UInt8]? in
                guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                defer { buffer.removeFirst(end + 1) }
                return Array(buffer[..<end])
            }
            if let line { return String(decoding: line.last == 13 ? line.dropLast() : line[...], as: UTF8.self) }
            guard fill() else {
                let left = rest()
                return left.isEmpty ? nil : String(decoding: left, as: UTF8.self)
            }
        }
    }

    /// Reads the head of a reply and returns its status, and the job that it names.
    func head() -> (status: Int, job: String?)? {
        guard let first = line(), let status = first.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        var job: String?
        while let line = line() {
            if line.isEmpty { return (status, job) }
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == "x-hearth-job" {
                job = parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }

    func rest() -> [UInt8] {
        while fill() {}
        return buffer.withLock { buffer in
            defer { buffer = [] }
            return buffer
        }
    }
}
