import Foundation
import Hearth
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// What a balancer asks, and the end of a server behind one.
@Suite(.timeLimit(.minutes(5))) struct DrainTests {
    @Test func aBalancersQuestionNeedsNoHost() async throws {
        try await ResidentFixture.with { fixture in
            for path in ["/ready", "/health"] {
                let plain = try status(fixture.address, "GET \(path) HTTP/1.0")
                #expect(plain == 200)
                #expect(try status(fixture.address, "GET \(path) HTTP/1.0\r\nHost: 127.0.0.1") == 200)
                #expect(try status(fixture.address, "GET \(path) HTTP/1.0\r\nHost: evil.example") == 421)
                // A page of another site gets no answer without a host either.
                let foreign = "GET \(path) HTTP/1.0\r\nOrigin: https://evil.example"
                #expect(try status(fixture.address, foreign) == 403)
            }
            for path in ["/", "/v1/models", "/metrics", "/hearth/state"] {
                #expect(try status(fixture.address, "GET \(path) HTTP/1.0") == 421)
            }
        }
    }

    @Test func aServerThatEndsSaysSoAndAnswersFurtherOn() async throws {
        try await ResidentFixture.with { fixture in
            let kept = try RawConnection(fixture.address)
            try kept.send(Array("GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
            #expect(try kept.response(hasBody: true).status == 200)
            fixture.server.beginEnding()
            try kept.send(Array("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
            let last = try kept.response(hasBody: true)
            #expect(last.status == 200 && last.headers["connection"] == "close")
            #expect(try fixture.get("/ready").status == 503)
            #expect(try fixture.get("/v1/models").status == 200)
            await fixture.server.stop(grace: .zero)
            #expect(throws: RawConnection.Failure.self) { try RawConnection.fetch(fixture.address, "/ready") }
        }
    }

    /// Told to end, it waits for balancers by its clock, and is unreachable afterwards.
    @Test func theDelayIsWaitedFor() async throws {
        let folder = try TemporaryFolder()
        try await SettingsFile(home: folder.path("home")).change {
            try $0.set("serve.drain", to: "300")
            try $0.set("serve.drainDelay", to: "7")
        }
        let clock = ManualClock()
        var surroundings = Surroundings()
        (surroundings.time, surroundings.engines) = (clock.time, EngineRegistry())
        surroundings.environment = ["HEARTH_NETWORK": "unmetered"]
        let home = folder.path("home")
        let hearth = try Hearth(home: home, configuration: Configuration.load(home: home), surroundings)
        let (ready, source) = AsyncStream<URL>.makeStream()
        var options = HearthServer.Options()
        options.port = 0
        options.report = { if case .ready(let address, _) = $0 { source.yield(address) } }
        let server = HearthServer(hearth, options)
        let task = Task { try await server.run() }
        var addresses = ready.makeAsyncIterator()
        let url = try #require(await addresses.next())
        let address = ListeningAddress(host: "127.0.0.1", port: UInt16(try #require(url.port)))
        task.cancel()
        try await blocking {
            while try status(address, "GET /ready HTTP/1.0") != 503 {}
            let health = try status(address, "GET /health HTTP/1.0")
            #expect(health == 200)
        }
        let isOver = Locked(false)
        let ended = Task {
            defer { isOver.withLock { $0 = true } }
            try await task.value
        }
        while !isOver.withLock({ $0 }) {
            clock.advance(by: .seconds(7))
            await Task.yield()
        }
        try await ended.value
        await blocking {
            _ = #expect(throws: RawConnection.Failure.self) { try RawConnection.fetch(address, "/health") }
        }
        await hearth.close()
    }
}

/// The status of the answer to a request, given as its header.
private func status(_ address: ListeningAddress, _ head: String) throws -> Int {
    let connection = try RawConnection(address)
    try connection.send(Array((head + "\r\n\r\n").utf8))
    return try connection.response(hasBody: true).status
}
