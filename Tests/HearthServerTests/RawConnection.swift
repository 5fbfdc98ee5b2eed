import Foundation
import HearthBase

@testable import HearthServer

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A TCP connection that sends exactly the bytes it is given: a client library would correct what a test wants broken.
final class RawConnection: Sendable {
    private let descriptor: Int32

    struct Failure: Error { let number: Int32 }

    /// A response as it stood on the wire.
    struct Response {
        var status: Int
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    init(_ address: ListeningAddress, receiveBuffer: Int32? = nil, patience: Int = 20) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        // A test that waits for an answer in vain must fail instead of hanging.
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = address.port.bigEndian
        inet_pton(AF_INET, address.host, &target.sin_addr)
        let result = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(number: errno) }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        guard count == bytes.count else { throw Failure(number: errno) }
    }

    /// Sends a request with a `Host` field and an empty line.
    func send(_ method: String = "GET", _ target: String, _ fields: [String] = []) throws {
        try send(
            Array("\(method) \(target) HTTP/1.1\r\nHost: h\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n".utf8))
    }

    /// Up to `count` bytes; empty at the connection's end.
    func receive(upTo count: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &buffer, count, 0)
        guard received >= 0 else { throw Failure(number: errno) }
        return Array(buffer.prefix(received))
    }

    /// What still comes until the connection ends or breaks, or `limit` bytes are there.
    func receiveAll(upTo limit: Int = 1 << 20) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            do {
                let more = try receive(upTo: min(1 << 16, limit - bytes.count))
                guard !more.isEmpty else { break }
                bytes += more
            } catch {
                break  // a reset is an end too
            }
        }
        return bytes
    }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The head of a response, without its body.
    func head() throws -> Response {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            let byte = try receive(upTo: 1)
            guard !byte.isEmpty else { throw Failure(number: ECONNRESET) }
            head += byte
        }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() where line.contains(": ") {
            let parts = line.components(separatedBy: ": ")
            headers[parts[0].lowercased()] = parts.dropFirst().joined(separator: ": ")
        }
        return Response(status: status, headers: headers, body: [])
    }

    /// Exactly `count` bytes.
    func receive(exactly count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try receive(upTo: min(1 << 16, count - bytes.count))
            guard !more.isEmpty else { throw Failure(number: ECONNRESET) }
            bytes += more
        }
        return bytes
    }

    /// The next chunk of a chunked body; empty for the last.
    func chunk() throws -> [UInt8] {
        var line: [UInt8] = []
        while !line.suffix(2).elementsEqual([13, 10]) { line += try receive(exactly: 1) }
        guard let count = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) else {
            throw Failure(number: EINVAL)
        }
        let bytes = try receive(exactly: count)
        _ = try receive(exactly: 2)
        return bytes
    }

    /// One response; `hasBody` is false for `HEAD`.
    func response(hasBody: Bool = true) throws -> Response {
        var response = try head()
        let length = response.headers["content-length"].flatMap { Int($0) } ?? 0
        if hasBody && response.status != 304 { response.body = try receive(exactly: length) }
        return response
    }

    /// Closes with a reset, as a client that crashed.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// One request on a connection of its own.
    static func fetch(
        _ address: ListeningAddress, _ target: String, method: String = "GET", _ fields: [String] = []
    ) throws -> Response {
        let connection = try RawConnection(address)
        try connection.send(method, target, fields)
        return try connection.response(hasBody: method != "HEAD")
    }
}
