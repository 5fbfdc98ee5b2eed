import Foundation
import HearthBase
import HearthHTTP

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// One accepted connection: reads requests and sends scripted replies. Only its own thread uses it.
final class ServerConnection: Sendable {
    private let socket: Int32
    private let index: Int
    private let recorder: Recorder
    private let end: Gate
    private let script: ServerScript

    init(_ socket: Int32, index: Int, recorder: Recorder, end: Gate, script: ServerScript) {
        self.socket = socket
        self.index = index
        self.recorder = recorder
        self.end = end
        self.script = script
        // Otherwise a child process that another test starts would keep the connection open after this end has closed
        // it.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        var size: Int32 = 1 << 20
        setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        recorder.update { $0.sockets[index] = socket }
    }

    func serve() {
        _ = send(.data(script.greeting), number: nil)
        var received = Data()
        while let request = readRequest(&received) {
            let number = recorder.update { record in
                record.requests.append(request.numbered(record.requests.count, connection: index))
                return record.requests.count - 1
            }
            let reply = script.handler(request.numbered(number, connection: index))
            let outcome = perform(reply, number: number, isHead: request.method == "HEAD")
            recorder.update { $0.requests[number].outcome = outcome.outcome }
            guard outcome.isReusable else { break }
        }
        recorder.update { record in
            record.sockets[index] = nil
            close(socket)
        }
    }

    // MARK: Requests

    private func readRequest(_ received: inout Data) -> ParsedRequest? {
        while true {
            if let request = ParsedRequest(&received) { return request }
            guard waitForSocket(socket, Int16(POLLIN), or: [end.descriptor]) == .ready else { return nil }
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(socket, &buffer, buffer.count, 0)
            if count > 0 {
                received.append(contentsOf: buffer[..<count])
            } else if count == 0 || errno != EAGAIN {
                return nil
            }
        }
    }

    // MARK: Replies

    private func perform(
        _ reply: Reply, number: Int, isHead: Bool
    ) -> (outcome: RecordedRequest.Outcome, isReusable: Bool) {
        if let gate = reply.gateBeforeHead, let interruption = wait(at: gate) { return (interruption, false) }
        if let raw = reply.raw { return (send(.data(raw), number: nil) ?? .dropped, false) }
        if let interruption = send(.data(head(reply)), number: nil) { return (interruption, false) }
        if isHead || reply.status == 304 || reply.status == 204 { return (.complete, true) }
        var done: UInt64 = 0
        for (offset, event) in reply.events {
            let stop = min(max(offset, done), reply.body.count)
            if let interruption = sendBody(reply, done..<stop, number) { return (interruption, false) }
            done = stop
            switch event {
            case .wait(let gate):
                if let interruption = wait(at: gate) { return (interruption, false) }
            case .drop: return (.dropped, false)
            case .reset:
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
                return (.dropped, false)
            }
        }
        if let interruption = sendBody(reply, done..<reply.body.count, number) { return (interruption, false) }
        switch reply.framing {
        case .length: return (.complete, true)
        case .chunked:
            let interruption = send(.data(Data("0\r\n\r\n".utf8)), number: nil)
            return (interruption ?? .complete, interruption == nil)
        case .declared(let length): return (.complete, length == reply.body.count)
        case .untilClose: return (.complete, false)
        }
    }

    private func head(_ reply: Reply) -> Data {
        var text = "HTTP/1.1 \(reply.status) Scripted\r\n"
        for field in reply.headers.fields { text += "\(field.name): \(field.value)\r\n" }
        switch reply.framing {
        case .length where reply.status != 204 && reply.status != 304: text += "Content-Length: \(reply.body.count)\r\n"
        case .length: break
        case .declared(let length): text += "Content-Length: \(length)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .untilClose: text += "Connection: close\r\n"
        }
        return Data((text + "\r\n").utf8)
    }

    private func sendBody(_ reply: Reply, _ range: Range<UInt64>, _ number: Int) -> RecordedRequest.Outcome? {
        var limit = 1 << 20
        if case .chunked = reply.framing { limit = 64 << 10 }
        if let pace = reply.bytesPerSecond { limit = max(1, min(limit, pace / 50)) }
        var done = range.lowerBound
        while done < range.upperBound {
            let piece = reply.body.slice(done..<min(done + UInt64(limit), range.upperBound))
            if case .chunked = reply.framing {
                let size = Data("\(String(piece.count, radix: 16))\r\n".utf8)
                if let interruption = send(.data(size), number: nil) { return interruption }
            }
            if let interruption = send(piece, number: number) { return interruption }
            if case .chunked = reply.framing, let interruption = send(.data(Data("\r\n".utf8)), number: nil) {
                return interruption
            }
            done += piece.count
            if let pace = reply.bytesPerSecond, let interruption = wait(milliseconds: Int32(limit * 1000 / pace)) {
                return interruption
            }
        }
        return nil
    }

    /// Sends all bytes; returns the outcome if another event ended the sending. Body bytes are counted for request
    /// `number`.
    private func send(_ content: Content, number: Int?) -> RecordedRequest.Outcome? {
        var done: UInt64 = 0
        while done < content.count {
            let (count, error) = content.withBytes(from: done, upTo: 1 << 20) { bytes in
                // Sending and counting are one step: a test that asks for the unread bytes sees both or neither.
                recorder.update { record in
                    #if canImport(Darwin)
                    let count = Darwin.send(socket, bytes.baseAddress, bytes.count, 0)
                    #else
                    let count = Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                    #endif
                    let error = errno
                    if count > 0, let number { record.requests[number].bytesSent += UInt64(count) }
                    return (count, error)
                }
            }
            if count > 0 {
                done += UInt64(count)
                continue
            }
            guard error == EAGAIN || error == EINTR else { return .peerClosed }
            if let interruption = waitForRoom(number) { return interruption }
        }
        return nil
    }

    private func waitForRoom(_ number: Int?) -> RecordedRequest.Outcome? {
        var isBlocked = false
        defer { if isBlocked, let number { recorder.update { $0.requests[number].isBlocked = false } } }
        while true {
            switch waitForSocket(
                socket, Int16(POLLOUT), or: [end.descriptor], milliseconds: isBlocked ? -1 : script.blockedAfter)
            {
            case .ready: return nil
            case .peerClosed: return .peerClosed
            case .other: return .stopped
            case .timedOut:
                isBlocked = true
                if let number { recorder.update { $0.requests[number].isBlocked = true } }
            }
        }
    }

    private func wait(at gate: Gate) -> RecordedRequest.Outcome? {
        gate.arrive()
        switch waitForSocket(socket, 0, or: [gate.descriptor, end.descriptor]) {
        case .peerClosed: return .peerClosed
        case .ready, .timedOut, .other:
            return waitForSocket(socket, 0, or: [end.descriptor], milliseconds: 0) == .other ? .stopped : nil
        }
    }

    private func wait(milliseconds: Int32) -> RecordedRequest.Outcome? {
        switch waitForSocket(socket, 0, or: [end.descriptor], milliseconds: milliseconds) {
        case .peerClosed: .peerClosed
        case .other: .stopped
        case .ready, .timedOut: nil
        }
    }
}

/// A request parsed from the bytes of a connection.
private struct ParsedRequest {
    let method: String
    let target: String
    let headers: HTTPHeaders
    let body: Data

    /// Parses a request; `nil` while bytes are missing.
    init?(_ received: inout Data) {
        guard let end = received.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        method = words.first.map(String.init) ?? ""
        target = words.dropFirst().first.map(String.init) ?? ""
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers.append(
                String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        self.headers = headers
        let length = headers["Content-Length"].flatMap { Int($0) } ?? 0
        guard received[end.upperBound...].count >= length else { return nil }
        body = Data(received[end.upperBound...].prefix(length))
        received = Data(received[end.upperBound...].dropFirst(length))
    }

    func numbered(_ index: Int, connection: Int) -> RecordedRequest {
        RecordedRequest(
            index: index, connection: connection, method: method, target: target, headers: headers, body: body)
    }
}
