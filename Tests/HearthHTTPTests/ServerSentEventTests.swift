import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthHTTP

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
            let events = try parser.append(Array(Self.stream[..<cut])) + parser.append(Array(Self.stream[cut...]))
            #expect(events == Self.events, "cut at \(cut)")
        }
        var parser = ServerSentEventParser()
        #expect(try Self.stream.flatMap { try parser.append([$0]) } == Self.events)
    }

    @Test(arguments: ["\n", "\r", "\r\n"]) func everyLineBreakEndsALine(_ lineBreak: String) throws {
        let text = [": c", "event: e", "id: 1", "retry: 9", "data: a", "data: b", "", "data: c", "", ""]
        let bytes = Array(text.joined(separator: lineBreak).utf8)
        let expected = [
            ServerSentEvent(name: "e", data: "a\nb", id: "1"), ServerSentEvent(data: "c", id: "1"),
        ]
        for cut in 0...bytes.count {
            var parser = ServerSentEventParser()
            let events = try parser.append(Array(bytes[..<cut])) + parser.append(Array(bytes[cut...]))
            #expect(events == expected, "cut at \(cut)")
        }
    }

    /// The lines of a relay that sends no empty lines, and a last one without a line break.
    @Test(arguments: ["\n", "\r", "\r\n"]) func inLineModeEachDataLineIsAnEvent(_ lineBreak: String) throws {
        let lines = [
            "\u{FEFF}data: {\"a\":1}", "data:{\"b\":\"Grüße 🌍\"}", ": comment", "", "id: 4", "data: 3", "data",
            "event: last", "data: {}",
        ]
        let bytes = Array(lines.joined(separator: lineBreak).utf8)
        let expected = [
            ServerSentEvent(data: "{\"a\":1}"), ServerSentEvent(data: "{\"b\":\"Grüße 🌍\"}"),
            ServerSentEvent(data: "3", id: "4"), ServerSentEvent(data: "", id: "4"),
            ServerSentEvent(name: "last", data: "{}", id: "4"),
        ]
        for cut in 0...bytes.count {
            var parser = ServerSentEventParser(.lines)
            let events =
                try parser.append(Array(bytes[..<cut])) + parser.append(Array(bytes[cut...])) + parser.finish()
            #expect(events == expected, "cut at \(cut)")
        }
    }

    @Test func commentsAreNotPartOfAnEvent() throws {
        var parser = ServerSentEventParser(limit: 100)
        for _ in 0..<100 { #expect(try parser.append(Array(": keep-alive\n".utf8)).isEmpty) }
        #expect(try parser.append(Array("data: x\n\n".utf8)) == [ServerSentEvent(data: "x")])
    }

    @Test(arguments: [ServerSentEventParser.Mode.standard, .lines])
    func aLineOfAHundredMegabytesIsRefusedEarly(_ mode: ServerSentEventParser.Mode) throws {
        var parser = ServerSentEventParser(mode, limit: 1 << 20)
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
        var accepted = 0
        #expect {
            for _ in 0..<1600 {
                _ = try parser.append(piece)
                accepted += piece.count
            }
        } throws: {
            ($0 as? HTTPError)?.code == .tooLarge
        }
        #expect(accepted <= 1 << 20)
    }

    /// Ten times the bytes take about ten times as long, whatever the line breaks and the pieces are.
    @Test(.timeLimit(.minutes(10)), arguments: ["\n", "\r"], [1 << 10, 1 << 20])
    func theTimeIsLinear(_ lineBreak: String, _ pieceSize: Int) throws {
        let event = Array(("data: " + String(repeating: "x", count: 192) + lineBreak + lineBreak).utf8)
        func seconds(_ count: Int) throws -> Double {
            var bytes: [UInt8] = []
            for _ in 0..<count { bytes += event }
            let pieces = stride(from: 0, to: bytes.count, by: pieceSize).map {
                Array(bytes[$0..<min(bytes.count, $0 + pieceSize)])
            }
            var parser = ServerSentEventParser()
            var found = 0
            let time = try ContinuousClock().measure {
                for piece in pieces { found += try parser.append(piece).count }
            }
            #expect(found == count)
            return time.seconds
        }
        // The least of several runs: other work of the machine only makes a run longer. Quadratic time would be a hundredfold.
        let short = try (0..<5).map { _ in try seconds(2000) }.min() ?? 0
        let long = try (0..<3).map { _ in try seconds(20_000) }.min() ?? 0
        #expect(long < 50 * max(short, 0.002))
    }

    @Test func aListComesApartWhereverItIsCut() throws {
        let text = Array(" [{\"a\":\"]}\\\"\"}\r\n,\n{\"b\":[{},[1]],\"c\":\"🌍\"} , {}]\n".utf8)
        let expected = ["{\"a\":\"]}\\\"\"}", "{\"b\":[{},[1]],\"c\":\"🌍\"}", "{}"].map { Data($0.utf8) }
        for cut in 0...text.count {
            var list = JSONArrayStream()
            #expect(
                try list.append(Array(text[..<cut])) + list.append(Array(text[cut...])) == expected, "cut at \(cut)")
            #expect(list.hasEnded)
        }
        var list = JSONArrayStream(limit: 10)
        #expect { try list.append(Array("[{\"a\":\"0123456789\"}]".utf8)) } throws: {
            ($0 as? HTTPError)?.code == .tooLarge
        }
        for wrong in ["x", "[1]", "[]x", "{}"] {
            var list = JSONArrayStream()
            #expect { try list.append(Array(wrong.utf8)) } throws: { ($0 as? HTTPError)?.code == .badResponse }
        }
    }

    @Test func anEventMayNotGrowWithoutEnd() throws {
        var parser = ServerSentEventParser(limit: 100)
        #expect(try parser.append(Array("data: short\n\n".utf8)).count == 1)
        #expect(try parser.append(Array(("data: " + String(repeating: "x", count: 90) + "\n").utf8)).isEmpty)
        #expect { try parser.append(Array("data: more\n".utf8)) } throws: { ($0 as? HTTPError)?.code == .tooLarge }
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
        var parser = ServerSentEventParser()
        var events: [String] = []
        for try await chunk in response.body {
            events += try parser.append(chunk).map(\.data)
            if events == ["one"] { gate.open() }
        }
        #expect(events == ["one", "two"])
    }
}
