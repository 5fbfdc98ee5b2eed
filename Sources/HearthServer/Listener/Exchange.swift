#if Server
import CMicrohttpd
import Foundation
import HearthBase
import HearthHTTP

/// A connection of libmicrohttpd. Unchecked: the library permits resuming it from any thread until its request has
/// ended, and ``Exchange`` makes every other call on the library's own thread.
struct ConnectionPointer: @unchecked Sendable {
    let raw: OpaquePointer
}

/// One request and its reply, from the request line until the last byte.
///
/// The library's thread calls `handle` and `read`; the task of the request makes the reply. A connection that waits for
/// the task is suspended only under the lock of `state`, under which the task also resumes it: so no wake-up is lost. The
/// two calls take one lock of the library, which holds it during no callback.
final class Exchange: Sendable {
    enum Stage: Sendable { case begun, receiving, replied }

    struct State: Sendable {
        /// `nil` after the library has ended the request.
        var connection: ConnectionPointer?
        var stage = Stage.begun
        var isSuspended = false
        /// The client has left or the server ends: the connection is closed at the next call.
        var isBroken = false
        /// The connection ends with the reply.
        var isLast = false
        var request: ServerRequest
        /// The bytes of body that arrived.
        var received: UInt64 = 0
        var hasWholeBody = false
        var reply: ServerReply?
        var writer: BodyWriter?
        var task: Task<Void, Never>?
        var watched: PeerWatch.Watched?
        // For the log.
        var status = 0
        var headerBytes: UInt64 = 0
        var bodyBytes: UInt64 = 0
        var range: ByteRange?
        var acknowledgedBefore: UInt64 = 0

        /// Whether the library has to wait for the task.
        var mayWait: Bool { connection != nil && !isSuspended && !isBroken }
    }

    let core: ListenerCore
    let record: ConnectionRecord
    /// The bytes of the target as it arrived.
    let targetLength: Int
    let state: Locked<State>
    private let stopwatch: Stopwatch

    init(core: ListenerCore, connection: OpaquePointer, record: ConnectionRecord, target: String, targetLength: Int) {
        self.core = core
        self.record = record
        self.targetLength = targetLength
        stopwatch = core.time.stopwatch()
        let request = ServerRequest(method: "", target: target, peer: record.peer)
        state = Locked(State(connection: ConnectionPointer(raw: connection), request: request))
        record.enter(.header(since: core.now))
    }

    // MARK: The library's thread

    /// Handles a call of the library's access handler. `false` closes the connection.
    func handle(
        _ connection: OpaquePointer, method: String, version: String, upload: UnsafeRawBufferPointer
    ) -> Bool {
        let (stage, isBroken) = state.withLock { ($0.stage, $0.isBroken) }
        if isBroken { return false }
        switch stage {
        case .begun: return begin(connection, method: method, version: version)
        case .receiving: return upload.isEmpty ? endBody(on: connection) : receive(upload, on: connection)
        // The rest of a body whose request was refused.
        case .replied: return !upload.isEmpty
        }
    }

    /// Whether the header has not been read.
    var isNew: Bool { state.withLock { $0.stage == .begun } }

    /// Refuses a request whose header cannot be read. `false` closes the connection.
    func refuse(_ refusal: RequestFraming.Refusal, on connection: OpaquePointer) -> Bool {
        core.exchanges.began(self)
        if core.isClosed { return false }
        state.withLock { state in
            state.stage = .receiving
            state.request.id = core.nextID()
        }
        return send(refusal.reply(core.limits), on: connection)
    }

    /// Reads the header. A reply at this call lets the library close the connection, as needed for a refused body.
    private func begin(_ connection: OpaquePointer, method: String, version: String) -> Bool {
        core.exchanges.began(self)
        if core.isClosed { return false }
        let acknowledged = hearth_acknowledged_bytes(record.socket)
        let headers = readHeaders(of: connection)
        var request = state.withLock { state in
            state.stage = .receiving
            state.acknowledgedBefore = acknowledged
            state.request.id = core.nextID()
            state.request.ending = core.ending
            state.request.method = method
            state.request.headers = headers
            return state.request
        }
        let framing: RequestFraming
        do {
            framing = try RequestFraming(
                method: method, target: request.target.raw, version: version, headers: headers, limits: core.limits)
        } catch {
            // A server without bodies says what is wrong with the request itself.
            let reply = error == .bodyTooLarge ? core.immediately?(&request) : nil
            return send(reply ?? error.reply(core.limits), on: connection)
        }
        record.enter(framing.hasBody ? .body(since: core.now, received: 0) : .replying)
        var known = core.immediately?(&request)
        let caller = request.caller
        if caller.showedKey {
            record.noteKey()
        } else if core.connections.isCrowded(for: record, limits: core.limits) {
            known = .text(429, "too many requests without a key", headers: ["Retry-After": "1"])
        }
        // The library reads the lines between chunks less strictly than the header. What follows such a body is no
        // request, so that no proxy can take a part of it for one.
        let isLast = framing == .chunked
        state.withLock { ($0.request.caller, $0.isLast) = (caller, isLast) }
        if var reply = known {
            if framing.hasBody {
                // What follows on the connection is the refused body, not a request.
                reply.headers["Connection"] = "close"
                return send(reply, on: connection)
            }
            state.withLock { $0.reply = reply }
        } else {
            start(request, framing)
        }
        return true
    }

    private func receive(_ upload: UnsafeRawBufferPointer, on connection: OpaquePointer) -> Bool {
        record.received(upload.count)
        let (body, received, hasReply, path) = state.withLock { state in
            state.received += UInt64(upload.count)
            return (state.request.body, state.received, state.reply != nil, state.request.target.path)
        }
        if received > core.limits.bodyBytes, received > core.limits.bodyBytes(at: path) { return false }
        // The reply is known, and the client still sends: it gets the reply after its body.
        if hasReply { return true }
        guard body.append(Array(upload)) else { return true }
        let isSuspended = state.withLock { state in
            guard state.mayWait, state.reply == nil, body.isFull else { return false }
            MHD_suspend_connection(connection)
            state.isSuspended = true
            return true
        }
        if isSuspended { record.enter(.replying) }
        return true
    }

    private func endBody(on connection: OpaquePointer) -> Bool {
        let (body, isFirst) = state.withLock { state in
            defer { state.hasWholeBody = true }
            return (state.request.body, !state.hasWholeBody)
        }
        if isFirst {
            body.finish()
            record.enter(.replying)
        }
        let reply = state.withLock { state -> ServerReply? in
            if state.reply == nil, state.mayWait {
                MHD_suspend_connection(connection)
                state.isSuspended = true
            }
            return state.reply
        }
        return reply.map { send($0, on: connection) } ?? true
    }

    /// Takes bytes of a streamed body for the library: their number, or one of its two marks.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let (endOfStream, endWithError) = (-1, -2)
        // A client that has left gets no end either, although its body may end well.
        guard let writer = state.withLock({ $0.isBroken ? nil : $0.writer }) else { return endWithError }
        while true {
            switch writer.take(upTo: buffer.count) {
            case .bytes(let bytes):
                buffer.copyBytes(from: bytes)
                state.withLock { $0.bodyBytes += UInt64(bytes.count) }
                return bytes.count
            case .end: return endOfStream
            case .failed: return endWithError
            case .wait: break
            }
            let (isReady, isBroken) = state.withLock { state in
                if writer.isReady || state.isBroken { return (true, state.isBroken) }
                if let connection = state.connection, state.mayWait {
                    MHD_suspend_connection(connection.raw)
                    state.isSuspended = true
                }
                return (false, false)
            }
            if isBroken { return endWithError }
            if !isReady { return 0 }
        }
    }

    /// Ends the request: its connection is not used afterwards.
    func complete(wasSent: Bool) {
        let end = state.withLock { state in
            let end = state
            (state.connection, state.task, state.watched, state.writer) = (nil, nil, nil, nil)
            return end
        }
        end.task?.cancel()
        end.writer?.leave()
        end.request.body.finish(.failure(ServerError.clientLeft))
        if let watched = end.watched { core.watch.remove(watched) }
        record.enter(.idle(since: core.now, isFirst: false))
        core.exchanges.ended(self)
        guard end.stage != .begun else { return }
        report(end, wasSent: wasSent)
    }

    /// Tells the log how the exchange ended.
    private func report(_ end: State, wasSent: Bool) {
        guard let finished = core.finished else { return }
        var sent = end.bodyBytes
        if !wasSent, case .file? = end.reply?.body {
            let acknowledged = hearth_acknowledged_bytes(record.socket)
            let bytes = acknowledged > end.acknowledgedBefore ? acknowledged - end.acknowledgedBefore : 0
            sent = min(sent, bytes > end.headerBytes ? bytes - end.headerBytes : 0)
        }
        // 499: the client left before the reply, as other servers write it.
        finished(
            FinishedExchange(
                id: end.request.id, method: end.request.method, target: end.request.target.raw,
                status: end.stage == .replied ? end.status : 499, bodyBytes: sent, range: end.range,
                isComplete: wasSent, caller: end.request.caller.name, peer: record.peer.description,
                duration: stopwatch.elapsed, note: end.reply?.note))
    }
}
#endif
