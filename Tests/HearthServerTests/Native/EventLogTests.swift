import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// The events for clients that come back.
@Suite struct EventLogTests {
    private func names(_ reading: EventLog.Reading) -> [String]? {
        if case .events(let events) = reading { events.map(\.name) } else { nil }
    }

    @Test func aClientReadsOnFromItsLastEvent() {
        let log = EventLog(epoch: "e")
        #expect(log.lastID == "e-0")
        for name in ["a", "b", "c"] { log.add(name, data: []) }
        #expect(log.lastID == "e-3")
        #expect(names(log.events(after: 0)) == ["a", "b", "c"])
        #expect(names(log.events(after: 2)) == ["c"])
        #expect(names(log.events(after: 3)) == [])
    }

    @Test(
        arguments: [
            ("e-2", 2), ("e-0", 0), ("e-", nil), ("e", nil), ("", nil), ("f-2", nil), ("e--1", nil), ("e-x", nil),
            ("e-99999999999999999999999", nil), ("-2", nil),
        ] as [(String, Int?)])
    func onlyIdsOfThisProcessHaveANumber(id: String, number: Int?) {
        let log = EventLog(epoch: "e")
        #expect(log.number(id) == number)
    }

    @Test func whatIsTooOldOrFromTheFutureIsMissed() {
        let log = EventLog(epoch: "e", bounds: EventLog.Bounds(events: 3, bytes: 1 << 20))
        for name in ["a", "b", "c", "d", "e"] { log.add(name, data: [1]) }
        #expect(log.events(after: 1) == .missed(since: 5))
        #expect(names(log.events(after: 2)) == ["c", "d", "e"])
        #expect(log.events(after: 6) == .missed(since: 5))
    }

    @Test func memoryIsBoundedByBytesToo() {
        let log = EventLog(epoch: "e", bounds: EventLog.Bounds(events: 1000, bytes: 100))
        for _ in 0..<50 { log.add("a", data: [UInt8](repeating: 1, count: 30)) }
        #expect(log.events(after: 40) == .missed(since: 50))
        #expect(names(log.events(after: 47))?.count == 3)
        // An event that is larger than all the room is missed by every client, which then reads everything anew.
        log.add("huge", data: [UInt8](repeating: 1, count: 200))
        #expect(log.events(after: 50) == .missed(since: 51))
    }

    /// Dropped events leave memory at once.
    @Test func droppedEventsTakeNoMemory() throws {
        let log = EventLog(epoch: "e", bounds: EventLog.Bounds(events: 1000, bytes: 4 << 20))
        let before = try #require(SystemMemory.residentBytes)
        for number in 0..<600 { log.add("a", data: [UInt8](repeating: UInt8(number % 250 + 1), count: 1 << 20)) }
        let after = try #require(SystemMemory.residentBytes)
        #expect(names(log.events(after: 596))?.count == 4)
        #expect(after < before + 300 << 20)
    }

    @Test func thousandsOfEventsStayInOrder() {
        let log = EventLog(epoch: "e", bounds: EventLog.Bounds(events: 2000, bytes: 1 << 20))
        for number in 1...10_000 { log.add("\(number)", data: []) }
        var last = 8000
        var found: [String] = []
        while case .events(let events) = log.events(after: last), let end = events.last {
            #expect(events.count <= 256)
            found += events.map(\.name)
            last = end.number
        }
        #expect(found == (8001...10_000).map(String.init))
    }

    /// The text of a stream up to and including a word.
    /// - Parameter meanwhile: called once the stream has begun.
    private func stream(
        _ log: EventLog, after id: String?, until word: String, _ meanwhile: @Sendable () -> Void = {}
    ) async throws -> String {
        let feed = EventFeed(log: log, version: "1", time: .system)
        guard case .stream(let make) = feed.reply(after: id).body else { return "" }
        let text = Locked("")
        let place = Locked<BodyWriter?>(nil)
        let (ends, source) = AsyncStream<Void>.makeStream()
        let writer = BodyWriter {
            guard let writer = place.withLock({ $0 }) else { return }
            while case .bytes(let bytes) = writer.take(upTo: .max) {
                let isEnd = text.withLock { text in
                    text += String(decoding: bytes, as: UTF8.self)
                    return text.contains(word)
                }
                if isEnd { source.finish() } else { source.yield() }
            }
        }
        place.withLock { $0 = writer }
        let task = Task { try await make(writer) }
        var hasBegun = false
        for await _ in ends {
            let isBegun = text.withLock { $0.contains("event: hello") || $0.contains("event: reset") }
            guard isBegun, !hasBegun else { continue }
            hasBegun = true
            meanwhile()
        }
        task.cancel()
        _ = await task.result
        place.withLock { $0 = nil }
        return text.withLock { $0 }
    }

    @Test func aStreamBeginsAnewOrGoesOn() async throws {
        let log = EventLog(epoch: "e")
        for name in ["a", "b"] { log.add(name, data: Array("{}".utf8)) }
        let fresh = try await stream(log, after: nil, until: "event: c") { log.add("c", data: Array("{}".utf8)) }
        #expect(fresh.hasPrefix("retry: 1000\n\nid: e-2\nevent: hello\ndata: {\"version\":\"1\"}\n\n"))
        #expect(fresh.hasSuffix("id: e-3\nevent: c\ndata: {}\n\n"))
        let resumed = try await stream(log, after: "e-1", until: "event: c")
        #expect(resumed == "retry: 1000\n\nid: e-2\nevent: b\ndata: {}\n\nid: e-3\nevent: c\ndata: {}\n\n")
    }

    @Test(arguments: ["f-1", "garbage\r\nid: e-1", "e-400"])
    func aStreamOfUnknownIdsBeginsWithAReset(id: String) async throws {
        let log = EventLog(epoch: "e")
        log.add("a", data: Array("{}".utf8))
        let text = try await stream(log, after: id, until: "event: b") {
            log.add("b", data: Array("{}".utf8))
        }
        #expect(text.contains("id: e-1\nevent: reset\n"))
        #expect(!text.contains("event: a"))
        #expect(text.components(separatedBy: "event: b").count == 2)
    }
}
