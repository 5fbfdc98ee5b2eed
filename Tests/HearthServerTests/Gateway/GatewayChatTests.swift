import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// The relay of the cloud model: bytes, credits and failures.
@Suite(.timeLimit(.minutes(2)))
struct GatewayChatTests {
    private static let events = [GatewayFixture.token, GatewayFixture.end].map { "data: \($0)\r\n\r\n" }
    private static let list = ["[\(GatewayFixture.token)\n", ",\n\(GatewayFixture.end)", "]"]

    @Test(
        arguments: [
            (nil, events, "text/event-stream; charset=utf-8"), ("*/*", events, "text/event-stream; charset=utf-8"),
            ("text/event-stream, application/json", events, "text/event-stream; charset=utf-8"),
            ("application/json", list, "application/json"),
        ] as [(String?, [String], String)])
    func bothStreamsPassUnchanged(accept: String?, pieces: [String], type: String) async throws {
        let fixture = try await GatewayFixture { _ in .init(pieces: pieces) }
        let key = try await fixture.key(credits: 5)
        let reply = try await fixture.chat(key: key, turn: "t", accept: accept)
        #expect(reply.status == 200 && reply.body == pieces.joined())
        #expect(reply.headers["Content-Type"] == type && reply.headers["X-Hearth-Credits"] == "4")
        let request = try required(fixture.cloud.requests.withLock { $0.first })
        #expect(request.body == Data(GatewayFixture.question.utf8))
        #expect(request.headers["x-goog-api-key"] == GatewayFixture.cloudKey)
        #expect(request.headers["Authorization"] == nil && request.authorization == nil)
        let query = type == "application/json" ? "" : "?alt=sse"
        #expect(
            request.url.absoluteString
                == "https://cloud.example/v1beta/models/gemini-2.5-flash:streamGenerateContent\(query)")
    }

    @Test func aTurnCostsOnceAndCreditsEnd() async throws {
        let fixture = try await GatewayFixture { _ in .init(pieces: Self.events) }
        let key = try await fixture.key(credits: 2)
        let credits = try await ["a", "a", "b", "a"].asyncMap { turn in
            try await fixture.chat(key: key, turn: turn).headers["X-Hearth-Credits"]
        }
        #expect(credits == ["1", "1", "0", "0"])
        let reply = try await fixture.chat(key: key, turn: "c")
        #expect(reply.status == 402 && errorCode(reply.body) == "no-credits")
        #expect(reply.headers["X-Hearth-Credits"] == "0")
        let free = try await fixture.key()
        let uncounted = try await fixture.chat(key: free, turn: "a")
        #expect(uncounted.status == 200 && uncounted.headers["X-Hearth-Credits"] == nil)
    }

    private typealias Answer = ScriptedCloud.Answer

    /// Failures before the first token: the client's status, and the credit is given back.
    @Test(
        arguments: [
            (Answer(status: 500), 503, "cloud-unavailable"), (Answer(status: 503), 503, "cloud-unavailable"),
            (Answer(status: 401), 502, "cloud-unavailable"), (Answer(status: 403), 502, "cloud-unavailable"),
            (Answer(status: 404), 502, "cloud-unavailable"), (Answer(status: 302), 502, "cloud-unavailable"),
            (Answer(status: 429, headers: ["Retry-After": "17"]), 429, "cloud-busy"),
            (Answer(status: 400, pieces: [#"{"error":{"message":"too long"}}"#]), 400, "cloud-refused"),
            (
                Answer(status: 400, pieces: [#"[{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}]"#]), 502,
                "cloud-unavailable"
            ),
            (Answer(pieces: [#"data: {"error":{"code":503,"message":"x"}}"# + "\n\n"]), 503, "cloud-unavailable"),
            (Answer(pieces: ["data: {}\n"], breaks: true), 502, "cloud-unavailable"),
            (Answer(breaks: true), 502, "cloud-unavailable"),
        ] as [(ScriptedCloud.Answer, Int, String)])
    func aFailureGivesTheCreditBack(answer: ScriptedCloud.Answer, status: Int, code: String) async throws {
        let fixture = try await GatewayFixture { _ in answer }
        let key = try await fixture.key(credits: 3)
        let reply = try await fixture.chat(key: key, turn: "t")
        #expect(reply.status == status && errorCode(reply.body) == code, "\(reply.body)")
        #expect(reply.headers["X-Hearth-Credits"] == "3")
        if status == 429 { #expect(reply.headers["Retry-After"] == "17") }
        if status == 400 { #expect(reply.body.contains("too long")) }
        #expect(!reply.body.contains(GatewayFixture.cloudKey))
        #expect(
            try fixture.audit().compactMap { $0.members?["outcome"] } == [.string("allowed"), .string("returned")])
    }

    @Test func anAnswerWithoutATokenCostsNothing() async throws {
        let piece = "data: \(GatewayFixture.blocked)\n\n"
        let fixture = try await GatewayFixture { _ in .init(pieces: [piece]) }
        let key = try await fixture.key(credits: 3)
        let reply = try await fixture.chat(key: key, turn: "t")
        #expect(reply.status == 200 && reply.body == piece)
        #expect(reply.headers["X-Hearth-Credits"] == "3")
    }

    @Test func aBreakAfterATokenBreaksTheReplyAndCosts() async throws {
        let fixture = try await GatewayFixture { _ in .init(pieces: [Self.events[0]], breaks: true) }
        let key = try await fixture.key(credits: 3)
        await #expect(throws: HTTPError.self) { try await fixture.chat(key: key, turn: "t") }
        let entry = try required(try await fixture.store.key(key))
        #expect(try await fixture.store.creditsLeft(of: entry, at: fixture.clock.time.now) == 2)
    }

    @Test func aClientThatLeavesBeforeATokenPaysNothing() async throws {
        let fixture = try await GatewayFixture { _ in .init(pieces: ["data: {}\n"], hangs: true) }
        let key = try await fixture.key(credits: 3)
        let asking = Task { try await fixture.chat(key: key, turn: "t") }
        let entry = try required(try await fixture.store.key(key))
        func left() async throws -> Int? {
            try await fixture.store.creditsLeft(of: entry, at: fixture.clock.time.now)
        }
        while try await left() == 3 { await Task.yield() }
        asking.cancel()
        // The device has closed the connection: no reply is read, and only the credit counts.
        _ = await asking.result
        #expect(try await left() == 3)
    }

    @Test func progressIsReadInPiecesOfAnySize() throws {
        let whole = Array(Self.events.joined().utf8)
        for size in [1, 2, 7, 64, whole.count] {
            var progress = ChatProgress(.events)
            for start in stride(from: 0, to: whole.count, by: size) {
                try progress.append(Array(whole[start..<min(start + size, whole.count)]))
            }
            try progress.finish()
            #expect(progress.hasToken && progress.hasEnded)
        }
        let empty = [
            "data: \n\n", "data: [DONE]\n\n", "data: {\"candidates\":[]}\n\n", "data: {\"candidates\":[1]}\n\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}]}}]}\n\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"thought\":true}]}}]}\n\n", ": comment\n\n",
            "\u{0}\n",
        ]
        for text in empty {
            var progress = ChatProgress(.events)
            try progress.append(Array(text.utf8))
            #expect(!progress.hasToken, "\(text)")
        }
        var call = ChatProgress(.list)
        try call.append(Array(#"[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"x"}}]}}]}"#.utf8))
        #expect(call.hasToken && !call.hasEnded)
        var other = ChatProgress(.list)
        #expect(throws: HTTPError.self) { try other.append(Array("<html>".utf8)) }
    }
}

extension Array where Element: Sendable {
    /// The results of an asynchronous step for each element, one after the other.
    fileprivate func asyncMap<Result>(_ step: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await step(element)) }
        return results
    }
}
