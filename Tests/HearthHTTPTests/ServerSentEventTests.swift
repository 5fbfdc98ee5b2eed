import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

struct ServerSentEventTests {
    static let stream: [UInt8] = Array(
        """
        \u{FEFF}: a comment\r\n\r\nevent: greeting\r\ndata: Grüße 🌍\r\ndata:  two\r\nid: 7\r\n\r\n\
        data\rdata\r\rretry: 250\nretry: soon\nevent: lost\n\ndata:{\"a\":1}\n\nid\ndata: last\n\ndata: unfinished
        """.utf8)

    static let events = [
        ServerSentEvent(name: "greeting", data: "Grüße 🌍\n two", id: "7"),
        ServerSentEvent(data: "\n", id: "7"),
        ServerSentEvent(data: "{\"a\":1}", id: "7"),
        ServerSentEvent(data: "last", id: ""),
    ]

    @Test func aStreamComesApartWhereverItIsCut() throws {
        for cut in 0...Self.stream.count {
            var parser = ServerSentEventParser()
            let events = try parser.append(Self.stream[..<cut]) + parser.append(Self.stream[cut...])
            #expect(events == Self.events, "cut at \(cut)")
            #expect(parser.retryMilliseconds == 250)
        }
        var parser = ServerSentEventParser()
        #expect(try Self.stream.flatMap { try parser.append([$0]) } == Self.events)
    }

    @Test func anEventMayNotGrowWithoutEnd() throws {
        var parser = ServerSentEventParser(limit: 100)
        #expect(try parser.append(Array("data: short\n\n".utf8)).count == 1)
        #expect(try parser.append(Array(("data: " + String(repeating: "x", count: 90) + "\n").utf8)).isEmpty)
        #expect { try parser.append(Array("data: more".utf8)) } throws: { ($0 as? HTTPError)?.code == .tooLarge }
    }

    @Test func anIDWithAZeroByteIsNone() throws {
        var parser = ServerSentEventParser()
        #expect(try parser.append(Array("id: a\0b\ndata: x\n\n".utf8)) == [ServerSentEvent(data: "x")])
    }

    @Test(.timeLimit(.minutes(10))) func eventsArriveWhileTheStreamGoesOn() async throws {
        let gate = Gate()
        let text = Data("data: one\n\ndata: two\n\n".utf8)
        let server = try FaultServer { _ in
            Reply(body: .data(text)).framed(.chunked).stalled(after: 15, at: gate)
        }
        var request = HTTPRequest(try server.url("/"))
        // Beside all other tests it may take a while until the gate is opened.
        request.idleTimeout = .seconds(500)
        let response = try await CurlHTTPClient().execute(request)
        var events = ServerSentEvents(response.body).makeAsyncIterator()
        #expect(try await events.next()?.data == "one")
        gate.open()
        #expect(try await events.next()?.data == "two")
        #expect(try await events.next() == nil)
    }
}
