import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport

@testable import HearthRouting

/// The streams of the three vendors' servers for one answer: thinking "Hm", text "Grüße 🌍!", 7 prompt tokens, 3 of them
/// cached, 5 generated.
enum CloudScript {
    static let text = "Grüße 🌍!"

    static func stream(_ kind: CloudKind) -> String {
        switch kind {
        case .gemini: geminiPieces.map { "data: \($0)\r\n\r\n" }.joined()
        case .geminiRelay: geminiPieces.map { "data: \($0)" }.joined(separator: "\n")
        case .openai:
            """
            data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

            data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm"}}]}

            data: {"choices":[{"index":0,"delta":{"content":"Grüße "}}]}

            data: {"choices":[{"index":0,"delta":{"content":"🌍!"}}]}

            data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

            data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":3}}}

            data: [DONE]


            """
        case .anthropic:
            [
                (
                    "message_start",
                    #""message":{"id":"m","content":[],"usage":{"input_tokens":4,"cache_read_input_tokens":3,"output_tokens":1}}"#
                ),
                ("content_block_start", #""index":0,"content_block":{"type":"thinking","thinking":""}"#),
                ("ping", #""x":0"#),
                ("content_block_delta", #""index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}"#),
                ("content_block_delta", #""index":0,"delta":{"type":"signature_delta","signature":"abc"}"#),
                ("content_block_stop", #""index":0"#),
                ("content_block_start", #""index":1,"content_block":{"type":"text","text":""}"#),
                ("content_block_delta", #""index":1,"delta":{"type":"text_delta","text":"Grüße "}"#),
                ("content_block_delta", #""index":1,"delta":{"type":"text_delta","text":"🌍!"}"#),
                ("content_block_stop", #""index":1"#),
                ("message_delta", #""delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}"#),
                ("message_stop", #""x":0"#),
            ].map { "event: \($0.0)\ndata: {\"type\":\"\($0.0)\",\($0.1)}\n\n" }.joined()
        }
    }

    static let geminiPieces = [
        #"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm","thought":true}]}}]}"#,
        #"{"usageMetadata":{"promptTokenCount":7,"cachedContentTokenCount":3}}"#,
        #"{"candidates":[{"content":{"parts":[{"text":"Grüße "}]}}]}"#,
        #"{"candidates":[{"content":{"parts":[{"text":"🌍!"}]},"finishReason":"STOP"}],"#
            + #""usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3,"thoughtsTokenCount":2}}"#,
    ]

    /// One call of `weather` with `{"city":"Köln"}`, in fragments where the dialect has them.
    static func call(_ kind: CloudKind) -> String {
        switch kind {
        case .gemini, .geminiRelay:
            #"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"weather","args":{"city":"Köln"}}}]},"#
                + "\"finishReason\":\"STOP\"}]}\n\n"
        case .openai:
            [
                #"{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":""}}]}"#,
                #"{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}"#,
                #"{"tool_calls":[{"index":0,"function":{"arguments":"\"Köln\"}"}}]}"#,
            ].map { "data: {\"choices\":[{\"delta\":\($0)}]}\n\n" }.joined()
                + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"
        case .anthropic:
            [
                #"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"weather"}}"#,
                #"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}"#,
                #"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"Köln\"}"}}"#,
                #"{"type":"content_block_stop","index":0}"#,
                #"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#, #"{"type":"message_stop"}"#,
            ].map { "event: x\ndata: \($0)\n\n" }.joined()
        }
    }

    static func settings(_ kind: CloudKind, url: URL? = nil, key: String = "k3y-of-the-cloud") throws -> CloudSettings {
        var settings = try CloudSettings(kind, url: url ?? URL(string: "https://cloud.example"), key: key)
        settings.idleTimeout = .seconds(300)
        settings.firstByteTimeout = .seconds(300)
        return settings
    }

    static let tool = ToolDefinition(
        name: "weather", description: "Tells the weather.",
        parameters: #"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#)
}

/// The events of an answer, in order.
final class CloudEvents: Sendable {
    private let events = Locked<[GenerationEvent]>([])

    func append(_ event: GenerationEvent) { events.withLock { $0.append(event) } }
    var all: [GenerationEvent] { events.withLock { $0 } }
    var text: String { all.text }
}

extension [GenerationEvent] {
    var text: String { reduce(into: "") { if case .text(let piece) = $1 { $0 += piece } } }
    var thinking: String { reduce(into: "") { if case .thinking(let piece) = $1 { $0 += piece } } }
    var calls: [ToolCall] { compactMap { if case .toolCall(let call) = $0 { call } else { nil } } }
    var dropped: [Int] { compactMap { if case .truncated(let dropped) = $0 { dropped } else { nil } } }
}

extension CloudScript {
    /// Makes the engine of a server of the test process.
    static func engine(
        _ kind: CloudKind, _ server: FaultServer, _ change: (inout CloudSettings) -> Void = { _ in },
        onCredits: (@Sendable (Int) -> Void)? = nil
    ) throws -> CloudEngine {
        var settings = try Self.settings(kind, url: server.url(""))
        change(&settings)
        return CloudEngine(settings, onCredits: onCredits)
    }

    /// The answer of the vendor's server.
    static func reply(_ kind: CloudKind) -> Reply {
        Reply(headers: ["Content-Type": "text/event-stream"], body: .data(Data(stream(kind).utf8)))
            .framed(.chunked)
    }

    /// The error of a question; `nil` if it is answered.
    static func failure(
        _ engine: CloudEngine, _ events: CloudEvents = CloudEvents(), options: GenerationOptions = GenerationOptions()
    ) async -> LLMError? {
        do {
            _ = try await engine.generate([ChatMessage(.user, "Hi")], options: options) { events.append($0) }
            return nil
        } catch {
            return error as? LLMError
        }
    }
}
