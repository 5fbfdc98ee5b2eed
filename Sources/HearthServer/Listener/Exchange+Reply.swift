#if Server
import CMicrohttpd
import Foundation
import HearthBase
import HearthHTTP

/// The side of the task that makes the reply.
extension Exchange {
    /// Starts the task of the request.
    func start(_ head: ServerRequest, _ framing: RequestFraming) {
        var request = head
        request.body = RequestBody(declaredLength: framing.declaredLength) { [weak self] in self?.wake() }
        if !framing.hasBody { request.body.finish() }
        let body = request.body
        state.withLock { $0.request.body = body }
        let task = Task { [request] in await answer(request) }
        let watched = core.watch.add(self, socket: record.socket)
        state.withLock { ($0.task, $0.watched) = (task, watched) }
    }

    private func answer(_ request: ServerRequest) async {
        let reply = await core.respond(request).finished(for: request)
        guard case .stream(let make) = reply.body, request.method != "HEAD", reply.hasBody else {
            _ = deliver(reply, writer: nil)
            return
        }
        let writer = BodyWriter { [weak self] in self?.wake() }
        guard deliver(reply, writer: writer) else { return }
        do {
            try await make(writer)
            writer.finish(hasFailed: false)
        } catch {
            if !(error is CancellationError) {
                Log.write(.info, "a streamed reply broke off", [.text("request", request.id), .error(error)])
            }
            writer.finish(hasFailed: true)
        }
    }

    /// Hands the reply to the library's thread.
    /// - Returns: `false` if the client has left.
    private func deliver(_ reply: ServerReply, writer: BodyWriter?) -> Bool {
        let isConnected = state.withLock { state in
            guard state.connection != nil, !state.isBroken else { return false }
            state.reply = reply
            state.writer = writer
            return true
        }
        wake()
        return isConnected
    }

    /// Resumes a suspended connection: the reply, bytes of it, or room for the body's next bytes are there.
    func wake() {
        let receivesBody = state.withLock { state in
            guard state.isSuspended, let connection = state.connection else { return false }
            state.isSuspended = false
            MHD_resume_connection(connection.raw)
            return state.stage == .receiving && !state.hasWholeBody
        }
        if receivesBody { record.enter(.body(since: core.now, received: 0)) }
    }

    /// Cancels the task of the request, which may still end its reply with a reason.
    /// - Returns: whether there is a task.
    func cancelTask() -> Bool {
        let task = state.withLock { $0.task }
        task?.cancel()
        return task != nil
    }

    /// Ends the exchange from outside: the client has left, or the server ends. The library closes the connection.
    func breakOff() {
        let (task, writer, body) = state.withLock { state in
            state.isBroken = true
            return (state.task, state.writer, state.request.body)
        }
        task?.cancel()
        writer?.leave()
        body.finish(.failure(ServerError.clientLeft))
        wake()
    }

    // MARK: The library's thread

    /// Queues the reply. `false` closes the connection.
    func send(_ reply: ServerReply, on connection: OpaquePointer) -> Bool {
        state.withLock { state in
            state.stage = .replied
            state.reply = reply
        }
        record.enter(.replying)
        guard let (response, count) = makeResponse(reply) else {
            return reply.status == 503
                ? false
                : send(.text(503, "too many requests at once", headers: ["Retry-After": "1"]), on: connection)
        }
        defer { MHD_destroy_response(response) }
        var headerBytes: UInt64 = 64
        for field in reply.headers.fields {
            headerBytes += UInt64(field.name.utf8.count + field.value.utf8.count + 4)
            guard MHD_add_response_header(response, field.name, field.value) == .YES else {
                Log.write(.error, "a reply has a header field that cannot be sent", [.text("name", field.name)])
                return false
            }
        }
        if core.ending.hasBegun || state.withLock({ $0.isLast }), reply.headers["Connection"] == nil {
            _ = MHD_add_response_header(response, "Connection", "close")
        }
        state.withLock { state in
            state.status = reply.status
            state.headerBytes = headerBytes
            // Of these the library sends the length alone (RFC 9110, section 6.4.1).
            state.bodyBytes = state.request.method != "HEAD" && reply.hasBody ? count : 0
            state.range = reply.range
        }
        return MHD_queue_response(connection, UInt32(reply.status), response) == .YES
    }

    /// The library's response, with the bytes it will send if nothing goes wrong; 0 for a stream, which counts its own.
    private func makeResponse(_ reply: ServerReply) -> (OpaquePointer, UInt64)? {
        switch reply.body {
        case .bytes(let bytes): return Self.response(bytes)
        case .file(_, _, 0): return Self.response([])
        case .file(let file, let offset, let count):
            // The library closes the descriptor it is given, whenever it has sent the last byte.
            let descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return nil }
            guard let response = MHD_create_response_from_fd_at_offset64(count, descriptor, offset) else {
                close(descriptor)
                return nil
            }
            return (response, count)
        case .stream:
            guard state.withLock({ $0.writer != nil }) else { return Self.response([]) }
            let context = Unmanaged.passRetained(self).toOpaque()
            guard
                let response = MHD_create_response_from_callback(
                    UInt64.max, 16 << 10, readBody, context, releaseBody)
            else {
                releaseBody(context)
                return nil
            }
            return (response, 0)
        }
    }

    private static func response(_ bytes: [UInt8]) -> (OpaquePointer, UInt64)? {
        let response = bytes.withUnsafeBytes { buffer in
            MHD_create_response_from_buffer(
                buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress), .RESPMEM_MUST_COPY)
        }
        return response.map { ($0, UInt64(bytes.count)) }
    }
}
#endif
