import Foundation
import HearthBase
import HearthHTTP

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// An HTTP/1.1 server inside the test process, on a free loopback port. It also sends replies that a correct server
/// never sends.
///
/// ```swift
/// let server = try FaultServer(FaultServer.file(Data("hello".utf8)))
/// let response = try await client.execute(HTTPRequest(try server.url("/file")))
/// let record = await server.wait { $0.requests.first?.outcome == .complete }
/// ```
/// It stops with its last reference.
package final class FaultServer: Sendable {
    /// Decides the answer to one request; called on a thread of the server.
    package typealias Handler = @Sendable (RecordedRequest) -> Reply

    package let port: UInt16
    let listener: Listener

    /// Starts to listen on 127.0.0.1, or on `::1`.
    ///
    /// - Parameters:
    ///   - greeting: bytes sent on every connection before a request is read, which no HTTP server does.
    ///   - blockedAfter: the time without a read by the client until ``RecordedRequest/isBlocked`` is set.
    ///   - isIPv6: whether the server listens on `::1` alone.
    package init(
        greeting: Data = Data(), blockedAfter: Duration = .milliseconds(250), isIPv6: Bool = false,
        _ handler: @escaping Handler
    ) throws {
        let milliseconds = Int32(blockedAfter.seconds * 1000)
        let listener = try Listener(
            ServerScript(greeting: greeting, blockedAfter: milliseconds, handler: handler), isIPv6: isIPv6)
        self.listener = listener
        port = listener.port
        listener.start()
    }

    deinit { stop() }

    /// The address of a path on this server.
    package func url(_ path: String, host: String = "127.0.0.1", scheme: String = "http") throws -> URL {
        guard let url = URL(address: "\(scheme)://\(host):\(port)\(path)") else {
            throw CocoaError(.fileReadInvalidFileName)
        }
        return url
    }

    /// The record so far.
    package var record: ServerRecord { listener.recorder.record }

    /// The received requests so far, in order of arrival.
    package var requests: [RecordedRequest] { record.requests }

    /// Returns the record as soon as `condition` holds for it.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (ServerRecord) -> Bool) async -> ServerRecord {
        await listener.recorder.wait(until: condition)
    }

    /// Closes every connection; returns when the port is free. Another process may then use the port: for an address
    /// without a server, use ``ClosedPort``.
    package func stop() { listener.stop() }
}

/// The settings of a server.
struct ServerScript: Sendable {
    let greeting: Data
    /// The milliseconds without a read until a client counts as blocked.
    let blockedAfter: Int32
    let handler: FaultServer.Handler
}

/// The listening socket and its thread.
final class Listener: Sendable {
    let port: UInt16
    let recorder = Recorder()
    /// Opened when the server stops. A thread that waits for a socket also waits for this gate.
    let end = Gate()
    private let script: ServerScript
    private let socket: Int32
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ script: ServerScript, isIPv6: Bool) throws {
        self.script = script
        (socket, port) = try isIPv6 ? boundIPv6Socket() : boundSocket()
        guard listen(socket, 512) == 0 else {
            let code = POSIXErrorCode(rawValue: errno) ?? .EIO
            close(socket)
            throw POSIXError(code)
        }
    }

    func start() { inThread("fault-server.accept") { [self] in acceptLoop() } }

    func stop() {
        end.open()
        hasEnded.wait()
        hasEnded.signal()
    }

    private func acceptLoop() {
        while waitForSocket(socket, Int16(POLLIN), or: [end.descriptor]) == .ready {
            let peer = accept(socket, nil, nil)
            guard peer >= 0 else { continue }
            let index = recorder.update { record in
                record.connectionsAccepted += 1
                return record.connectionsAccepted - 1
            }
            let connection = ServerConnection(peer, index: index, recorder: recorder, end: end, script: script)
            inThread("fault-server.connection") { [recorder] in
                connection.serve()
                recorder.update { $0.connectionsClosed += 1 }
            }
        }
        close(socket)
        hasEnded.signal()
    }
}

func inThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread { body() }
    thread.name = name
    thread.stackSize = 512 << 10
    thread.start()
}

/// A port of this machine without a server, which no other process can use while this value exists.
package final class ClosedPort: Sendable {
    package let port: UInt16
    private let socket: Int32

    /// Takes a free port without listening on it.
    package init() throws { (socket, port) = try boundSocket() }

    deinit { close(socket) }
}

/// A socket on a free loopback port.
private func boundSocket() throws -> (socket: Int32, port: UInt16) {
    #if canImport(Darwin)
    let socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
    #else
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(socket, address, length) == 0 && getsockname(socket, address, &length) == 0
        }
    }
    guard isBound else {
        let code = POSIXErrorCode(rawValue: errno) ?? .EIO
        close(socket)
        throw POSIXError(code)
    }
    return (socket, UInt16(bigEndian: address.sin_port))
}

/// A socket on a free port of `::1`.
private func boundIPv6Socket() throws -> (socket: Int32, port: UInt16) {
    #if canImport(Darwin)
    let socket = Darwin.socket(AF_INET6, SOCK_STREAM, 0)
    #else
    let socket = Glibc.socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #endif
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(socket, address, length) == 0 && getsockname(socket, address, &length) == 0
        }
    }
    guard isBound else {
        let code = POSIXErrorCode(rawValue: errno) ?? .EIO
        close(socket)
        throw POSIXError(code)
    }
    return (socket, UInt16(bigEndian: address.sin6_port))
}

/// The results of a wait for a socket.
enum WaitOutcome { case ready, peerClosed, other, timedOut }

#if canImport(Darwin)
private let peerClosedEvent: Int16 = 0
#else
private let peerClosedEvent = Int16(0x2000)  // POLLRDHUP, which needs _GNU_SOURCE
#endif

/// Waits until a socket is ready, its peer has closed it, or one of the `others` is ready.
func waitForSocket(_ socket: Int32, _ events: Int16, or others: [Int32], milliseconds: Int32 = -1) -> WaitOutcome {
    var polled = [pollfd(fd: socket, events: events | peerClosedEvent, revents: 0)]
    polled += others.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let count = poll(&polled, nfds_t(polled.count), milliseconds)
    if count == 0 { return .timedOut }
    if count < 0 { return errno == EINTR ? .timedOut : .other }
    if polled.dropFirst().contains(where: { $0.revents != 0 }) { return .other }
    if polled[0].revents & (peerClosedEvent | Int16(POLLHUP) | Int16(POLLERR)) != 0 { return .peerClosed }
    return .ready
}
