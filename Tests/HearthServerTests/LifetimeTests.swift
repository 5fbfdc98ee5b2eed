#if Server
    import Foundation
    import HearthBase
    import HearthServer
    import HearthTestSupport
    import Testing

    @Suite(.timeLimit(.minutes(10)))
    struct LifetimeTests {
        @Test func saysThatThePortIsTaken() async throws {
            try await OriginFixture.with { origin in
                let other = OriginServer(folder: origin.folder, port: origin.address.port)
                let error = #expect(throws: ServerError.self) { try other.start() }
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
                    try OriginServer(folder: folder.path, address: address).start()
                }
                #expect(error?.code == .addressUnavailable)
            }
        }

        @Test func needsAFolder() async throws {
            try await BlockingExecutor.run {
                let root = try TemporaryFolder()
                try root.write("file", Data())
                for path in [root.path("absent"), root.path("file")] {
                    let error = #expect(throws: ServerError.self) { try OriginServer(folder: path).start() }
                    #expect(error?.code == .folderMissing)
                    #expect(error?.context.file == path.string)
                }
            }
        }

        @Test func startsOnceAtATimeAndAgainAfterAStop() async throws {
            try await BlockingExecutor.run {
                let root = try TemporaryFolder()
                try root.write("m.txt", Data("here".utf8))
                let server = OriginServer(folder: root.path)
                let address = try server.start()
                let error = #expect(throws: ServerError.self) { try server.start() }
                #expect(error?.code == .alreadyRunning)
                await server.stop()
                await server.stop()
                #expect(throws: RawConnection.Failure.self) { try RawConnection.fetch(address, "/m.txt") }
                let again = OriginServer(folder: root.path, port: address.port)
                #expect(try again.start() == address)
                #expect(try RawConnection.fetch(address, "/m.txt").text == "here")
                await again.stop()
            }
        }

        @Test func servesOnSixToo() async throws {
            try await BlockingExecutor.run {
                let root = try TemporaryFolder()
                let server = OriginServer(folder: root.path, address: "::1")
                do {
                    #expect(try server.start().url.hasPrefix("http://[::1]:"))
                } catch let error as ServerError where error.code == .addressUnavailable {
                    return  // this machine has no IPv6
                }
                await server.stop()
            }
        }

        @Test func finishesRepliesBeforeItStops() async throws {
            try await BlockingExecutor.run {
                let root = try TemporaryFolder()
                try root.write("large.gguf", Data(repeating: 7, count: 12 << 20))
                let log = ExchangeLog()
                let server = OriginServer(folder: root.path) { log.append($0) }
                let address = try server.start()
                let connection = try RawConnection(address, receiveBuffer: 65_536)
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
                let server = OriginServer(folder: root.path) { log.append($0) }
                let connection = try RawConnection(try server.start(), receiveBuffer: 4096)
                try connection.send("GET", "/large.gguf")
                _ = try connection.receive(upTo: 1)
                await server.stop(grace: .zero)
                #expect(log.entries.count == 1)
                #expect(log.entries.first?.isComplete == false)
            }
        }

        /// Requests the library refuses by itself never reach the handler; what was kept for them must go all the same.
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
            let server = OriginServer(folder: root.path) { _ in sentinel.touch() }
            let address = try server.start()
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
#endif
