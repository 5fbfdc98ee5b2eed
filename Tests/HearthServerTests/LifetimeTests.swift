import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite(.timeLimit(.minutes(10)))
struct LifetimeTests {
    @Test func saysThatThePortIsTaken() async throws {
        try await OriginFixture.with { origin in
            let error = #expect(throws: ServerError.self) {
                try OriginServer(folder: origin.folder, port: origin.address.port)
            }
            #expect(error?.code == .portInUse)
            #expect(error?.message.contains("port \(origin.address.port) is in use") == true)
            #expect(error?.context.remedy?.isEmpty == false)
        }
    }

    @Test(arguments: [("300.1.1.1"), ("example"), (""), ("192.0.2.1"), ("1.2.3"), ("::g")])
    func refusesAddressesOfOthers(address: String) async throws {
        try await BlockingExecutor.run {
            let folder = try TemporaryFolder()
            let error = #expect(throws: ServerError.self) {
                try OriginServer(folder: folder.path, address: address)
            }
            #expect(error?.code == .addressUnavailable)
        }
    }

    @Test func needsAFolder() async throws {
        try await BlockingExecutor.run {
            let root = try TemporaryFolder()
            try root.write("file", Data())
            for path in [root.path("absent"), root.path("file")] {
                let error = #expect(throws: ServerError.self) { try OriginServer(folder: path) }
                #expect(error?.code == .folderMissing)
                #expect(error?.context.file == path.string)
            }
        }
    }

    @Test func freesThePortWhenItStops() async throws {
        try await BlockingExecutor.run {
            let root = try TemporaryFolder()
            try root.write("m.txt", Data("here".utf8))
            let server = try OriginServer(folder: root.path)
            let address = server.address
            await server.stop()
            await server.stop()
            #expect(throws: RawConnection.Failure.self) { try RawConnection.fetch(address, "/m.txt") }
            let again = try OriginServer(folder: root.path, port: address.port)
            #expect(again.address == address)
            #expect(try RawConnection.fetch(address, "/m.txt").text == "here")
            await again.stop()
        }
    }

    @Test func servesOnSixToo() async throws {
        try await BlockingExecutor.run {
            let root = try TemporaryFolder()
            do {
                let server = try OriginServer(folder: root.path, address: "::1")
                #expect(server.address.url.hasPrefix("http://[::1]:"))
                await server.stop()
            } catch let error as ServerError where error.code == .addressUnavailable {
                return  // this machine has no IPv6
            }
        }
    }

    @Test func finishesRepliesBeforeItStops() async throws {
        try await BlockingExecutor.run {
            let root = try TemporaryFolder()
            try root.write("large.gguf", Data(repeating: 7, count: 12 << 20))
            let log = ExchangeLog()
            let server = try OriginServer(folder: root.path, finished: { log.append($0) })
            let connection = try RawConnection(server.address, receiveBuffer: 65_536)
            try connection.send("GET", "/large.gguf")
            _ = try connection.receive(upTo: 1)
            async let stopped: Void = server.stop(grace: .seconds(30))
            let rest = connection.receiveAll(upTo: 13 << 20)
            await stopped
            #expect(rest.count > 12 << 20)
            #expect(log.entries.first?.isComplete == true)
            #expect(log.entries.first?.bodyBytes == 12 << 20)
        }
    }

    @Test func cutsOffThoseWhoTakeTooLong() async throws {
        try await BlockingExecutor.run {
            let root = try TemporaryFolder()
            try root.write("large.gguf", Data(repeating: 7, count: 24 << 20))
            let log = ExchangeLog()
            let server = try OriginServer(folder: root.path, finished: { log.append($0) })
            let connection = try RawConnection(server.address, receiveBuffer: 4096)
            try connection.send("GET", "/large.gguf")
            _ = try connection.receive(upTo: 1)
            await server.stop(grace: .zero)
            #expect(log.entries.count == 1)
            #expect(log.entries.first?.isComplete == false)
        }
    }

    /// Requests that the library refuses never reach the handler; what was kept for them must go all the same.
    /// The test ends when the last reference to the log's owner is gone, or never.
    @Test func keepsNothingOfBrokenRequests() async throws {
        try await BlockingExecutor.run {
            let (ended, end) = AsyncStream.makeStream(of: Void.self)
            try await provokeAndStop(Sentinel(end))
            for await _ in ended {}
        }
    }

    private func provokeAndStop(_ sentinel: Sentinel) async throws {
        let root = try TemporaryFolder()
        let server = try OriginServer(folder: root.path, finished: { _ in sentinel.touch() })
        let address = server.address
        for request in [
            "GET /x HTTP/1.1\r\n\r\n", "GET /x HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "a", count: 30_000))\r\n\r\n",
        ] {
            let connection = try RawConnection(address)
            try connection.send(Array(request.utf8))
            _ = connection.receiveAll()
        }
        let unfinished = try RawConnection(address)
        try unfinished.send(Array("GET /x HTTP/1.1\r\nHost".utf8))
        await server.stop()
    }
}

/// Says when it goes.
private final class Sentinel: Sendable {
    private let end: AsyncStream<Void>.Continuation

    init(_ end: AsyncStream<Void>.Continuation) { self.end = end }

    deinit { end.finish() }

    func touch() {}
}
