#if Server
    import CMicrohttpd
    import Foundation
    import HearthBase
    import HearthHTTP

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// The state that the C callbacks of one listener share.
    final class ListenerCore: Sendable {
        let respond: HTTPListener.Responder
        let finished: (@Sendable (FinishedExchange) -> Void)?
        let activity = Activity()

        init(respond: @escaping HTTPListener.Responder, finished: (@Sendable (FinishedExchange) -> Void)?) {
            self.respond = respond
            self.finished = finished
        }
    }

    /// One request and its reply, from the request line until the last byte. Lives on its connection's thread.
    final class Exchange {
        private enum Phase { case begun, reading, replied }

        private let core: ListenerCore
        private let connection: OpaquePointer
        private var request: ServerRequest
        private var phase = Phase.begun
        private var acknowledgedBefore: UInt64 = 0
        private var status = 0
        private var headerBytes: UInt64 = 0
        private var bodyBytes: UInt64 = 0
        private var range: ByteRange?

        init(core: ListenerCore, connection: OpaquePointer, target: String) {
            self.core = core
            self.connection = connection
            request = ServerRequest(method: "", target: target)
        }

        /// Handles a call of the library's access handler. `false` closes the connection.
        ///
        /// A reply at the first call lets the library close the connection, as needed for a request with a body.
        func handle(method: String) -> Bool {
            switch phase {
            case .begun:
                core.activity.began()
                phase = .reading
                acknowledgedBefore = hearth_acknowledged_bytes(hearth_mhd_socket(connection))
                request.method = method
                request.headers = readHeaders(of: connection)
                let length = request.headers.joined("Content-Length")
                let hasBody = request.headers.joined("Transfer-Encoding") != nil || (length ?? "0") != "0"
                return hasBody ? send(core.respond(request)) : true
            case .reading:
                return send(core.respond(request))
            case .replied:
                return false
            }
        }

        private func send(_ reply: ServerReply) -> Bool {
            phase = .replied
            guard let (response, count) = makeResponse(reply.body) else {
                return reply.status == 503
                    ? false : send(.text(503, "too many requests at once", headers: ["Retry-After": "1"]))
            }
            defer { MHD_destroy_response(response) }
            headerBytes = 64
            for field in reply.headers.fields {
                headerBytes += UInt64(field.name.utf8.count + field.value.utf8.count + 4)
                guard MHD_add_response_header(response, field.name, field.value) == .YES else { return false }
            }
            status = reply.status
            // Of these the library sends the length alone (RFC 9110, section 6.4.1).
            let hasBody = request.method != "HEAD" && status != 304 && status != 204
            bodyBytes = hasBody ? count : 0
            range = reply.range
            return MHD_queue_response(connection, UInt32(reply.status), response) == .YES
        }

        /// The library's response, with the bytes it will send if nothing goes wrong.
        private func makeResponse(_ body: ServerReply.Body) -> (OpaquePointer, UInt64)? {
            switch body {
            case .bytes(let bytes):
                let response = bytes.withUnsafeBytes { buffer in
                    MHD_create_response_from_buffer(
                        buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress), .RESPMEM_MUST_COPY)
                }
                return response.map { ($0, UInt64(bytes.count)) }
            case .stream:
                return nil
            case .file(_, _, 0):
                return makeResponse(.bytes([]))
            case .file(let file, let offset, let count):
                // The library closes the descriptor it is given, whenever it has sent the last byte.
                let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
                guard descriptor >= 0 else { return nil }
                guard let response = MHD_create_response_from_fd_at_offset64(count, descriptor, offset) else {
                    close(descriptor)
                    return nil
                }
                return (response, count)
            }
        }

        /// Tells the log how the exchange ended.
        func complete(wasSent: Bool) {
            guard phase != .begun else { return }
            if phase == .replied {
                var sent = bodyBytes
                if !wasSent {
                    let acknowledged = hearth_acknowledged_bytes(hearth_mhd_socket(connection))
                    let bytes = acknowledged > acknowledgedBefore ? acknowledged - acknowledgedBefore : 0
                    sent = min(bodyBytes, bytes > headerBytes ? bytes - headerBytes : 0)
                }
                core.finished?(
                    FinishedExchange(
                        method: request.method, target: request.target.raw, status: status, bodyBytes: sent,
                        range: range,
                        isComplete: wasSent))
            }
            core.activity.ended()
        }
    }

    private func readHeaders(of connection: OpaquePointer) -> HTTPHeaders {
        var headers = HTTPHeaders()
        withUnsafeMutablePointer(to: &headers) { headers in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { context, _, name, value in
                    guard let context, let name else { return .NO }
                    context.assumingMemoryBound(to: HTTPHeaders.self).pointee
                        .append(String(cString: name), value.map { String(cString: $0) } ?? "")
                    return .YES
                }, headers)
        }
        return headers
    }

    // The four C callbacks. Plain functions: a closure could be inferred to be isolated to the main actor.

    /// `MHD_OPTION_URI_LOG_CALLBACK`: the only callback with the target before the library decodes it. Its result
    /// becomes the request's context.
    func beginRequest(
        _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
    ) -> UnsafeMutableRawPointer? {
        guard let context, let target, let connection else { return nil }
        let core = Unmanaged<ListenerCore>.fromOpaque(context).takeUnretainedValue()
        let exchange = Exchange(core: core, connection: connection, target: String(cString: target))
        return Unmanaged.passRetained(exchange).toOpaque()
    }

    /// `MHD_AccessHandlerCallback`: once for the header, once for each piece of body, once for the end.
    func handleRequest(
        _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
        _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
        _ uploadSize: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result {
        guard let held = slot?.pointee, let method, let uploadSize else { return .NO }
        let exchange = Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
        guard exchange.handle(method: String(cString: method)) else { return .NO }
        uploadSize.pointee = 0
        return .YES
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
