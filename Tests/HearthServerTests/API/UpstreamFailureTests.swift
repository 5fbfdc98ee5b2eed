import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// Other servers that fail, are silent, or send something that is no answer.
@Suite(.timeLimit(.minutes(5))) struct UpstreamFailureTests {
    /// Answers that are none, the status of the reply, and its code.
    @Test(
        arguments: [
            (.htmlPage, 502, "unusable-answer"), (.redirect("/v1/again"), 502, "unusable-answer"),
            (.hangUp, 502, "unreachable"),
            (UpstreamScript.json("{", status: 200), 502, "unusable-answer"),
            (UpstreamScript.json(#"{"error":{"message":"no"}}"#, status: 401), 502, "unauthorised"),
            (UpstreamScript.json(#"{"error":{"message":"no"}}"#, status: 500), 502, "unreachable"),
            (UpstreamScript.json(#"{"error":{"message":"`x` is wrong"}}"#, status: 400), 400, "generation-failed"),
            (UpstreamScript.json(#"{"detail":"Not Found"}"#, status: 404), 404, "model_not_found"),
            (UpstreamScript.json("{}", status: 429).header("Retry-After", "17"), 429, "rate_limit_exceeded"),
            (UpstreamScript.json("{}", status: 504), 504, "timed-out"),
            (UpstreamScript.stream(["{\"choices\":"]), 502, "unusable-answer"),
            (UpstreamScript.stream([]), 502, "unusable-answer"),
            (UpstreamScript.bytes((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 197) }), 502, "unusable-answer"),
        ] as [(Reply, Int, String)])
    func anAnswerThatIsNoneHasAStatusAndACode(_ reply: Reply, _ status: Int, _ code: String) async throws {
        let server = try FaultServer(UpstreamScript.handler(.openai) { _ in reply })
        // The rest of a pause does not depend on the machine.
        let api = try UpstreamFixture(server, time: ManualClock().time)
        for more in ["", #","stream":true"#] {
            let answer = try await api.ask("far/big", more)
            #expect(answer.status == status)
            #expect(try answer.json.text("error/code") == code)
            if status == 429 { #expect(answer.headers["Retry-After"] == "17") }
        }
        // A redirect is not followed.
        #expect(!server.requests.contains { $0.target.contains("again") })
    }

    @Test func halfAStreamEndsWithACode() async throws {
        let text = UpstreamScript.answer(.openai)
        let server = try FaultServer(UpstreamScript.handler(.openai) { _ in text.dropped(after: 130) })
        let api = try UpstreamFixture(server)
        let stream = try await api.ask("far/big", #","stream":true"#)
        #expect(stream.status == 200)
        #expect(try stream.events.compactMap { $0.text("choices/0/delta/content") }.joined() == "Grüße")
        #expect(try stream.events.last?.text("error/code") == "answer-interrupted")
        let whole = try await api.ask("far/big")
        #expect(whole.status == 502)
        #expect(try whole.json.text("error/code") == "answer-interrupted")
    }

    @Test(arguments: [true, false]) func itsKeyIsInNoReply(_ isList: Bool) async throws {
        let leak = UpstreamScript.json(
            #"{"error":{"message":"bad key \#(UpstreamScript.key)","type":"\#(UpstreamScript.key)"}}"#, status: 403)
        let server = try FaultServer { request in
            request.method == "GET" && !isList ? UpstreamScript.list(.openai) : leak
        }
        let api = try UpstreamFixture(server)
        for answer in [try await api.ask("far/big"), try await api.send("GET", "/v1/models")] {
            #expect(!answer.text.contains(UpstreamScript.key))
        }
        #expect(await api.upstreams.rows().allSatisfy { $0.problem?.contains(UpstreamScript.key) != true })
    }

    @Test func aServerThatNeverAnswersIsGivenUp() async throws {
        let gate = HearthTestSupport.Gate()
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in UpstreamScript.answer(.openai).stalledBeforeHead(at: gate) })
        let api = try UpstreamFixture(server) { $0.timeout = .milliseconds(200) }
        let answer = try await api.ask("far/big")
        #expect(answer.status == 504)
        #expect(try answer.json.text("error/code") == "timed-out")
    }

    /// A server that says again and again that it still works, and never answers.
    @Test func signsOfLifeAreNoAnswer() async throws {
        let clock = ManualClock()
        let gate = HearthTestSupport.Gate()
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in
                Reply(headers: ["Content-Type": "text/event-stream"], body: .data(Data(": ping\n\n: ping\n\n".utf8)))
                    .framed(.untilClose).stalled(after: 8, at: gate)
            })
        let api = try UpstreamFixture(server, time: clock.time)
        let answer = Task { try await api.ask("far/big") }
        await server.wait { $0.requests.contains { $0.method == "POST" && $0.bytesSent > 0 } }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: UpstreamSettings.defaultTimeout)
        #expect(try await answer.value.status == 504)
    }

    @Test func aTooLongConversationSaysHowLong() async throws {
        let texts = [
            "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens.",
            "prompt is too long: 9000 tokens > 8192 maximum",
        ]
        for text in texts {
            let server = try FaultServer(
                UpstreamScript.handler(.openai) { _ in
                    UpstreamScript.json(#"{"error":{"message":"\#(text)"}}"#, status: 400)
                })
            let answer = try await UpstreamFixture(server).ask("far/big")
            #expect(answer.status == 400)
            #expect(try answer.json.text("error/code") == "context_length_exceeded")
            #expect(try answer.json.number("error/n_prompt_tokens") == 9000)
            #expect(try answer.json.number("error/n_ctx") == 8192)
            // The conversation is not shortened behind the client's back.
            #expect(server.requests.filter { $0.method == "POST" }.count == 1)
        }
    }

    // MARK: Circles

    @Test func serversOfHearthDoNotAskInACircle() async throws {
        let server = try FaultServer(UpstreamScript.handler(.openai) { _ in UpstreamScript.answer(.openai) })
        let api = try UpstreamFixture(server)
        let list = try await api.send("GET", "/v1/models", headers: ["X-Hearth-Hops": "1"])
        #expect(try list.json.count("data") == 0)
        let body = #"{"model":"far/big","messages":[{"role":"user","content":"Hi"}]}"#
        let passed = try await api.send("POST", "/v1/chat/completions", body, headers: ["X-Hearth-Hops": "2"])
        #expect(passed.status == 200)
        #expect(server.requests.last?.headers["X-Hearth-Hops"] == "3")
        for hops in ["4", "99", "-1", "x"] {
            let answer = try await api.send("POST", "/v1/chat/completions", body, headers: ["X-Hearth-Hops": hops])
            #expect(answer.status == 400, "\(hops)")
        }
    }
}
