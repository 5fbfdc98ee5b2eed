import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Replies that are written while they are sent.
@Suite(.timeLimit(.minutes(10)))
struct StreamingTests {
    private static func events(_ make: @escaping @Sendable (BodyWriter) async throws -> Void) -> ServerReply {
        ServerReply(status: 200, headers: ["Content-Type": "text/event-stream"], body: .stream(make))
    }

    @Test func sendsEachPieceBeforeTheNextIsMade() async throws {
        let gates = (0..<3).map { _ in Signal() }
        let respond: Responder = { _ in
            Self.events { writer in
                for (index, gate) in gates.enumerated() {
                    try await writer.write("piece \(index)\n")
                    await gate.wait()
                }
            }
        }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address)
            for _ in 0..<1 {
                try connection.send("GET", "/")
                let head = try connection.head()
                #expect(head.status == 200)
                #expect(head.headers["transfer-encoding"] == "chunked")
                #expect(head.headers["x-request-id"]?.count == 16)
                for (index, gate) in gates.enumerated() {
                    #expect(try connection.chunk() == Array("piece \(index)\n".utf8))
                    gate.send()
                }
                #expect(try connection.chunk().isEmpty)
            }
            // The connection serves the next request.
            try connection.send("HEAD", "/")
            #expect(try connection.response(hasBody: false).status == 200)
        }
    }

    @Test func waitsForAClientThatReadsNothing() async throws {
        let written = Locked(0)
        let cancelled = Signal()
        let respond: Responder = { _ in
            Self.events { writer in
                do {
                    while true {
                        try await writer.write([UInt8](repeating: 7, count: 64 << 10))
                        written.withLock { $0 += 64 << 10 }
                    }
                } catch {
                    cancelled.send()
                    throw error
                }
            }
        }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address, receiveBuffer: 4096)
            try connection.send("GET", "/")
            #expect(try connection.receive(upTo: 1).count == 1)
            connection.reset()
            await cancelled.wait()
            // The window, and what the system buffers of a socket.
            #expect(written.withLock { $0 } < 16 << 20)
            let entries = await server.log.entries(atLeast: 1)
            #expect(entries[0].isComplete == false)
        }
    }

    @Test func sendsEveryByteInOrder() async throws {
        let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let respond: Responder = { _ in
            Self.events { writer in
                var index = 0
                var count = 1
                while index < bytes.count {
                    let end = min(bytes.count, index + count)
                    try await writer.write(Array(bytes[index..<end]))
                    (index, count) = (end, count % 60_000 + 997)
                }
            }
        }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address)
            try connection.send("GET", "/")
            _ = try connection.head()
            var received: [UInt8] = []
            while case let chunk = try connection.chunk(), !chunk.isEmpty { received += chunk }
            #expect(received == bytes)
            #expect(await server.log.entries(atLeast: 1)[0].bodyBytes == UInt64(bytes.count))
        }
    }

    /// Each request of a connection is watched, not the first alone.
    @Test(arguments: [1, 3])
    func cancelsALaterTaskOfAClientThatLeaves(earlier: Int) async throws {
        let (started, ended) = (Signal(), Signal())
        let respond: Responder = { request in
            guard request.target.path == "/long" else { return .text(200, "here") }
            started.send()
            await Signal().wait()
            if Task.isCancelled { ended.send() }
            return .text(200, "late")
        }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address)
            for _ in 0..<earlier {
                try connection.send("GET", "/")
                #expect(try connection.response().status == 200)
            }
            try connection.send("GET", "/long")
            await started.wait()
            let clock = ContinuousClock()
            let leaving = clock.now
            connection.reset()
            await ended.wait()
            #expect(leaving.duration(to: clock.now) < .seconds(1))
        }
    }

    /// The phases in which a client can leave: the reply is computed, or written and waited for.
    @Test(arguments: [false, true], ["GET", "POST"])
    func cancelsTheTaskOfAClientThatLeaves(streams: Bool, method: String) async throws {
        let (started, ended) = (Signal(), Signal())
        let wait: @Sendable () async -> Void = {
            started.send()
            await Signal().wait()
            if Task.isCancelled { ended.send() }
        }
        let respond: Responder = { _ in
            if streams { return Self.events { _ in await wait() } }
            await wait()
            return .text(200, "late")
        }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address)
            try connection.send(method, "/", method == "POST" ? ["Content-Length: 0"] : [])
            await started.wait()
            let clock = ContinuousClock()
            let leaving = clock.now
            connection.reset()
            await ended.wait()
            #expect(leaving.duration(to: clock.now) < .seconds(1))
            #expect(await server.log.entries(atLeast: 1)[0].isComplete == false)
        }
    }

    @Test func breaksTheConnectionWhenTheStreamFails() async throws {
        let arrived = Signal()
        let respond: Responder = { _ in
            Self.events { writer in
                try await writer.write("beginning")
                // What the client has not yet received goes with the connection.
                await arrived.wait()
                throw ServerError.clientLeft
            }
        }
        try await ServerFixture.with(respond: respond) { server in
            let connection = try RawConnection(server.address)
            try connection.send("GET", "/")
            _ = try connection.head()
            #expect(try connection.chunk() == Array("beginning".utf8))
            arrived.send()
            // The last chunk of a whole body would end it.
            #expect(connection.receiveAll().isEmpty)
        }
    }

    @Test func servesManyStreamsAtOnce() async throws {
        let respond: Responder = { _ in
            Self.events { writer in
                for index in 0..<50 {
                    try await writer.write("data: \(index)\n\n")
                    await Task.yield()
                }
            }
        }
        let whole = (0..<50).map { "data: \($0)\n\n" }.joined()
        try await ServerFixture.with(respond: respond) { server in
            let connections = try (0..<200).map { _ in
                let connection = try RawConnection(server.address)
                try connection.send("GET", "/")
                return connection
            }
            for connection in connections {
                _ = try connection.head()
                var text: [UInt8] = []
                while case let chunk = try connection.chunk(), !chunk.isEmpty { text += chunk }
                #expect(String(decoding: text, as: UTF8.self) == whole)
            }
        }
    }

    /// A stream and the comments between its events write at the same time.
    @Test func everyWriterGoesOnWhenThereIsRoom() async throws {
        let writer = BodyWriter {}
        try await writer.write([UInt8](repeating: 7, count: BodyWriter.window - 1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { try await writer.write([1, 2]) } }
            // Time for both to wait.
            for _ in 0..<1000 { await Task.yield() }
            var count = 0
            while count < BodyWriter.window + 3 {
                if case .bytes(let bytes) = writer.take(upTo: .max) { count += bytes.count }
                await Task.yield()
            }
            try await group.waitForAll()
        }
    }

    @Test func tellsStreamsThatTheServerEnds() async throws {
        let started = Signal()
        let respond: Responder = { request in
            Self.events { writer in
                try await writer.write("beginning\n")
                started.send()
                await Signal().wait()
                writer.writeLast(Array((request.ending.hasBegun ? "the server ends\n" : "left\n").utf8))
            }
        }
        try await BlockingExecutor.run {
            let server = try ServerFixture(respond: respond)
            let connection = try RawConnection(server.address)
            try connection.send("GET", "/")
            await started.wait()
            await server.listener.stop(grace: .zero)
            let text = String(decoding: connection.receiveAll(), as: UTF8.self)
            #expect(text.contains("the server ends\n"))
            #expect(text.hasSuffix("0\r\n\r\n"))
        }
    }
}
