import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BackPressureTests {
    let client = CurlHTTPClient()

    @Test func aConsumerWhoWaitsBlocksTheServer() async throws {
        let size: UInt64 = 256 << 20
        let server = try FaultServer(FaultServer.file(.pattern(count: size)))
        let response = try await client.execute(HTTPRequest(try server.url("/")))
        let record = await server.wait { $0.requests.first.map { $0.isBlocked || $0.outcome != nil } ?? false }
        #expect(record.requests.first?.isBlocked == true)
        // Two megabytes in the client at most; the rest is in the system's socket buffers.
        #expect(record.requests.first?.bytesSent ?? .max < 24 << 20)

        var iterator = response.body.makeAsyncIterator()
        var received: UInt64 = 0
        var hasher = SHA256Hasher()
        while let chunk = try await iterator.next() {
            #expect(chunk.count <= 2 << 20)
            received += UInt64(chunk.count)
            chunk.withUnsafeBytes { hasher.update($0) }
        }
        #expect(received == size)
        #expect(hasher.finalize() == patternDigest(size))
    }

    @Test func lettingGoOfTheResponseClosesTheConnection() async throws {
        let server = try FaultServer(FaultServer.file(.pattern(count: 256 << 20)))
        var response: HTTPResponse? = try await client.execute(HTTPRequest(try server.url("/")))
        #expect(response?.status == 200)
        response = nil
        let record = await server.wait { $0.connectionsClosed == 1 }
        #expect(record.requests.first?.outcome == .peerClosed)
    }

    @Test func lettingGoInTheMiddleClosesTheConnection() async throws {
        let server = try FaultServer(FaultServer.file(.pattern(count: 256 << 20)))
        do {
            let response = try await client.execute(HTTPRequest(try server.url("/")))
            for try await chunk in response.body where !chunk.isEmpty { break }
        }
        let record = await server.wait { $0.connectionsClosed == 1 }
        #expect(record.requests.first?.outcome == .peerClosed)
    }

    @Test func cancellingWhileTheHeadIsAwaitedClosesTheConnection() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in Reply.text("late").stalledBeforeHead(at: gate) }
        let url = try server.url("/")
        let task = Task { try await client.execute(HTTPRequest(url)).status }
        await gate.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await server.wait { $0.requests.first?.outcome == .peerClosed && $0.connectionsOpen == 0 }
    }

    @Test func cancellingInTheBodyClosesTheConnection() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in Reply(body: .pattern(count: 100)).stalled(after: 10, at: gate) }
        let url = try server.url("/")
        let task = Task {
            var count = 0
            for try await chunk in try await client.execute(HTTPRequest(url)).body { count += chunk.count }
            return count
        }
        await gate.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await server.wait { $0.requests.first?.outcome == .peerClosed && $0.connectionsOpen == 0 }
    }

    @Test func cancellingBeforeTheStartSendsNothing() async throws {
        let server = try FaultServer { _ in Reply.text("x") }
        let url = try server.url("/")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.execute(HTTPRequest(url)).status
        }
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(server.requests.isEmpty)
    }

    @Test func aClientIsFitForMoreAfterManyCancellations() async throws {
        let gate = Gate()
        let server = try FaultServer { request in
            request.path == "/ok" ? .text("fine") : Reply(body: .pattern(count: 100)).stalled(after: 10, at: gate)
        }
        let url = try server.url("/stall")
        let tasks = (0..<50).map { _ in
            Task { try await client.execute(HTTPRequest(url)).body.collect(upTo: 100).count }
        }
        await gate.reached(50)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { _ = try await task.value } }
        let response = try await client.execute(HTTPRequest(try server.url("/ok")))
        #expect(try await response.body.collect(upTo: 10) == Data("fine".utf8))
        await server.wait { $0.connectionsOpen == 1 }
    }

    private func patternDigest(_ size: UInt64) -> SHA256Digest {
        var hasher = SHA256Hasher()
        var done: UInt64 = 0
        while done < size {
            let piece = Content.pattern(offset: done, count: min(4 << 20, size - done)).bytes
            piece.withUnsafeBytes { hasher.update($0) }
            done += UInt64(piece.count)
        }
        return hasher.finalize()
    }
}
