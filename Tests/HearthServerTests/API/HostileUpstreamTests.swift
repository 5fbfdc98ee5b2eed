import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// Other servers that send numbers, sizes and names that no honest one would.
@Suite(.timeLimit(.minutes(5))) struct HostileUpstreamTests {
    @Test(arguments: UpstreamKind.allCases) func hugeCountsOfTokensOverflowNothing(_ kind: UpstreamKind) async throws {
        let most = Int.max
        let lines: [String] =
            switch kind {
            case .openai:
                [
                    #"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
                    #"{"choices":[],"usage":{"prompt_tokens":\#(most),"completion_tokens":\#(most),"prompt_tokens_details":{"cached_tokens":\#(most)}}}"#,
                    "[DONE]",
                ]
            case .anthropic:
                [
                    #"{"type":"message_start","message":{"usage":{"input_tokens":\#(most),"cache_read_input_tokens":\#(most),"cache_creation_input_tokens":\#(most)}}}"#,
                    #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#,
                    #"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":\#(most)}}"#,
                    #"{"type":"message_stop"}"#,
                ]
            case .gemini:
                [
                    #"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":\#(most),"candidatesTokenCount":\#(most),"thoughtsTokenCount":\#(most)}}"#
                ]
            }
        let server = try FaultServer(UpstreamScript.handler(kind) { _ in UpstreamScript.stream(lines) })
        let api = try UpstreamFixture(server, kind)
        let chat = try await api.ask("far/big")
        #expect(chat.status == 200)
        #expect(try #require(try chat.json.number("usage/total_tokens")) > 0)
        let body = #"{"model":"far/big","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}"#
        #expect(try await api.post("/v1/messages", body).status == 200)
        #expect(try await api.post("/v1/responses", #"{"model":"far/big","input":"Hi"}"#).status == 200)
        #expect(try await api.post("/api/chat", body).status == 200)
        #expect(try await api.post("/completion", #"{"model":"far/big","prompt":"Hi"}"#).status < 500)
    }

    /// A call's fragments are an answer: its end may come later than the time in which an answer has to begin.
    @Test func aCallThatIsWrittenSlowlyIsNoSilence() async throws {
        let clock = ManualClock()
        let gate = HearthTestSupport.Gate()
        let begin =
            "data: "
            + #"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{"}}]}}]}"#
            + "\n\n"
        let end =
            "data: "
            + #"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}"#
            + "\n\ndata: [DONE]\n\n"
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in
                Reply(headers: ["Content-Type": "text/event-stream"], body: .data(Data((begin + end).utf8)))
                    .framed(.untilClose).stalled(after: UInt64(begin.utf8.count), at: gate)
            })
        let began = Locked(false)
        let api = try UpstreamFixture(server, time: clock.time)
        let engine = try #require(await api.upstreams.engine("far/big"))
        let tool = ToolDefinition(name: "look", description: "", parameters: #"{"type":"object"}"#)
        var options = GenerationOptions()
        options.tools = [tool]
        let answer = Task { [options] in
            try await engine.generate([ChatMessage(.user, "Hi")], options: options) { event in
                if event == .phase(.decode) { began.withLock { $0 = true } }
            }
        }
        while !began.withLock({ $0 }) { await Task.yield() }
        clock.advance(by: UpstreamSettings.defaultTimeout + .seconds(1))
        gate.open()
        #expect(try await answer.value.reason == .toolCalls)
        #expect(api.upstreams.all.map(\.isFailing) == [false])
    }

    /// A client with little time does not close a server to the others.
    @Test func aRequestWithLittleTimeTellsNothingAboutTheServer() async throws {
        let gate = HearthTestSupport.Gate()
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in UpstreamScript.answer(.openai).stalledBeforeHead(at: gate) })
        let api = try UpstreamFixture(server)
        let engine = try #require(await api.upstreams.engine("far/big"))
        let error = await #expect(throws: LLMError.self) {
            _ = try await engine.generate(
                [ChatMessage(.user, "Hi")], options: GenerationOptions(timeout: .milliseconds(50))
            ) { _ in }
        }
        #expect(error?.code == .timedOut)
        #expect(api.upstreams.all.map(\.isFailing) == [false])
    }

    @Test func anAnswerWithoutAnEndIsGivenUp() async throws {
        let piece = String(repeating: "x", count: 1 << 20)
        let fragment =
            #"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"look","arguments":"\#(piece)"}}]}}]}"#
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in
                UpstreamScript.stream(Array(repeating: fragment, count: 40) + ["[DONE]"])
            })
        let answer = try await UpstreamFixture(server).ask("far/big")
        #expect(answer.status == 502)
        #expect(try answer.json.text("error/code") == "unusable-answer")
    }

    @Test func idsOfCallsAreNew() async throws {
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in UpstreamScript.answer(.openai, calls: true) })
        let api = try UpstreamFixture(server)
        let tools =
            #","tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]"#
        var ids: Set<String> = []
        for _ in 0..<3 {
            let answer = try await api.ask("far/big", tools).json
            ids.insert(try #require(answer.text("choices/0/message/tool_calls/0/id")))
        }
        #expect(ids.count == 3 && !ids.contains("c1"))
    }
}
