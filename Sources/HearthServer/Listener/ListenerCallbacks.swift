#if Server
import CMicrohttpd
import Foundation
import HearthBase
import HearthHTTP

/// The state that the C callbacks of one listener share.
final class ListenerCore: Sendable {
    /// Decides replies on the library's thread, `nil` for requests that need their body or a task. Sets the caller.
    typealias Immediately = @Sendable (inout ServerRequest) -> ServerReply?

    let limits: ListenerLimits
    let time: TimeSource
    let respond: Responder
    let immediately: Immediately?
    let finished: (@Sendable (FinishedExchange) -> Void)?
    let exchanges = ExchangeTable()
    let connections: ConnectionTable
    let ending = ServerEnding()
    let watch: PeerWatch
    /// Set before the library is stopped: no exchange begins after it.
    private let closing = Locked(false)
    private let started: Stopwatch
    private let lastID = Locked<UInt64>(.random(in: 0 ... .max))

    init(
        limits: ListenerLimits, time: TimeSource, finished: (@Sendable (FinishedExchange) -> Void)?,
        immediately: Immediately?, respond: @escaping Responder
    ) {
        self.limits = limits
        self.time = time
        self.finished = finished
        self.immediately = immediately
        self.respond = respond
        let started = time.stopwatch()
        self.started = started
        let connections = ConnectionTable()
        self.connections = connections
        watch = PeerWatch(hasConnections: { connections.count > 0 }) {
            connections.cutOffOverdue(at: started.elapsed, limits: limits)
        }
    }

    var isClosed: Bool { closing.withLock { $0 } }

    func close() { closing.withLock { $0 = true } }

    /// The time since the listener's start.
    var now: Duration { started.elapsed }

    /// A new request's id.
    func nextID() -> String {
        let number = lastID.withLock { last in
            last &+= 0x9E37_79B9_7F4A_7C15
            return last
        }
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

// The C callbacks. Plain functions: a closure could be inferred to be isolated to the main actor.

/// The header fields of a request. A field with a NUL keeps it, so that the check of the header sees it.
func readHeaders(of connection: OpaquePointer) -> HTTPHeaders {
    var headers = HTTPHeaders()
    withUnsafeMutablePointer(to: &headers) { headers in
        _ = MHD_get_connection_values_n(
            connection, .HEADER_KIND,
            { context, _, name, nameSize, value, valueSize in
                guard let context, let name else { return .NO }
                let text = { (start: UnsafePointer<CChar>, count: Int) in
                    String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
                }
                context.assumingMemoryBound(to: HTTPHeaders.self).pointee
                    .append(text(name, nameSize), value.map { text($0, valueSize) } ?? "")
                return .YES
            }, headers)
    }
    return headers
}

/// `MHD_OPTION_NOTIFY_CONNECTION`: the start and the end of every connection.
func notifyConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let slot else { return }
    let core = Unmanaged<ListenerCore>.fromOpaque(context).takeUnretainedValue()
    switch event {
    case .CONNECTION_NOTIFY_STARTED:
        let socket = hearth_mhd_socket(connection)
        let record = ConnectionRecord(socket: socket, peer: peer(of: connection, socket: socket), at: core.now)
        slot.pointee = Unmanaged.passRetained(record).toOpaque()
        if core.connections.add(record, limits: core.limits) { core.watch.wake() }
    case .CONNECTION_NOTIFY_CLOSED:
        guard let held = slot.pointee else { return }
        slot.pointee = nil
        core.connections.remove(Unmanaged<ConnectionRecord>.fromOpaque(held).takeRetainedValue())
    @unknown default: break
    }
}

private func peer(of connection: OpaquePointer, socket: Int32) -> ServerPeer {
    guard let address = hearth_mhd_peer(connection) else { return .network(host: "unknown") }
    let length: socklen_t
    switch Int32(address.pointee.sa_family) {
    case AF_UNIX: return .local(user: LocalUser.peer(of: socket) ?? ServerPeer.unknownUser)
    case AF_INET: length = socklen_t(MemoryLayout<sockaddr_in>.size)
    default: length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    }
    return .network(host: numericHost(address, length) ?? "unknown")
}

/// `MHD_OPTION_URI_LOG_CALLBACK`: the only callback with the target before the library decodes it. Its result
/// becomes the request's context.
func beginRequest(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let target, let connection, let record = hearth_mhd_socket_context(connection) else {
        return nil
    }
    let core = Unmanaged<ListenerCore>.fromOpaque(context).takeUnretainedValue()
    let exchange = Exchange(
        core: core, connection: connection,
        record: Unmanaged<ConnectionRecord>.fromOpaque(record).takeUnretainedValue(),
        target: String(cString: target), targetLength: strlen(target))
    return Unmanaged.passRetained(exchange).toOpaque()
}

/// `MHD_AccessHandlerCallback`: once for the header, once for each piece of body, and for the end until a reply is
/// queued.
func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let held = slot?.pointee, let connection, let method, let version, let uploadSize else { return .NO }
    let exchange = Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
    if exchange.isNew, let url,
        hearth_mhd_lines_are_plain(connection, method, url, exchange.targetLength, version) == 0
    {
        return exchange.refuse(.badHeader, on: connection) ? .YES : .NO
    }
    let bytes = UnsafeRawBufferPointer(start: upload, count: upload == nil ? 0 : uploadSize.pointee)
    let goesOn = exchange.handle(
        connection, method: String(cString: method), version: String(cString: version), upload: bytes)
    guard goesOn else { return .NO }
    uploadSize.pointee = 0
    return .YES
}

/// `MHD_ContentReaderCallback`: the next bytes of a streamed body.
func readBody(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let context, let buffer else { return -2 }
    return Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

/// `MHD_ContentReaderFreeCallback`: the end of a streamed body.
func releaseBody(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Exchange>.fromOpaque(context).release()
}

/// `MHD_OPTION_NOTIFY_COMPLETED`: the end of every request that began.
func completeRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let slot, let held = slot.pointee else { return }
    slot.pointee = nil
    Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue()
        .complete(wasSent: reason == .REQUEST_TERMINATED_COMPLETED_OK)
}

/// `MHD_OPTION_EXTERNAL_LOGGER`, formatted by the shim.
func takeMessage(_ text: UnsafePointer<CChar>?) {
    guard let text else { return }
    Log.write(.debug, String(cString: text).trimmingCharacters(in: .whitespacesAndNewlines))
}
#endif
