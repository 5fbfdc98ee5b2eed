import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// Conversations in, request bodies out.
struct CloudRequestTests {
    private func body(
        _ kind: CloudKind, _ messages: [ChatMessage], _ options: GenerationOptions = GenerationOptions(),
        url: String = "https://cloud.example", model: String? = nil
    ) throws -> String {
        var settings = try CloudScript.settings(kind, url: URL(string: url))
        if let model { settings.model = model }
        let data = Data(try settings.dialect.body(CloudRequest(messages, options: options)).bytes)
        _ = try JSONValue(parsing: data)
        return String(decoding: data, as: UTF8.self)
    }

    static let conversation: [ChatMessage] = [
        ChatMessage(.system, "Be \"brief\"."), ChatMessage(.user, "Weather?\n"),
        ChatMessage(.assistant, "", toolCalls: [ToolCall(id: "c1", name: "weather", arguments: #"{"city":"Köln"}"#)]),
        ChatMessage(result: "sunny", of: ToolCall(id: "c1", name: "weather", arguments: "")),
        ChatMessage(.assistant, "Sunny."), ChatMessage(.user, "Thanks"),
    ]

    @Test func gemini() throws {
        let options = GenerationOptions(stopStrings: ["END"], tools: [CloudScript.tool])
        let text = try body(.gemini, Self.conversation, options, model: "gemini-2.5-flash")
        #expect(
            text == #"{"contents":[{"role":"user","parts":[{"text":"Weather?\n"}]},"#
                + #"{"role":"model","parts":[{"functionCall":{"id":"c1","name":"weather","args":{"city":"Köln"}}}]},"#
                + #"{"role":"user","parts":[{"functionResponse":{"name":"weather","id":"c1","response":{"result":"sunny"}}}]},"#
                + #"{"role":"model","parts":[{"text":"Sunny."}]},{"role":"user","parts":[{"text":"Thanks"}]}],"#
                + #""systemInstruction":{"parts":[{"text":"Be \"brief\"."}]},"#
                + #""tools":[{"functionDeclarations":[{"name":"weather","description":"Tells the weather.","#
                + #""parametersJsonSchema":\#(CloudScript.tool.parameters)}]}],"#
                + #""generationConfig":{"temperature":0.35,"maxOutputTokens":768,"stopSequences":["END"],"#
                + #""thinkingConfig":{"includeThoughts":true,"thinkingBudget":512}}}"#)
    }

    @Test func openAI() throws {
        let options = GenerationOptions(stopStrings: ["END"], tools: [CloudScript.tool])
        let text = try body(.openai, Self.conversation, options, model: "m")
        #expect(
            text == #"{"model":"m","messages":[{"role":"system","content":"Be \"brief\"."},"#
                + #"{"role":"user","content":"Weather?\n"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","#
                + #""type":"function","function":{"name":"weather","arguments":"{\"city\":\"Köln\"}"}}]},"#
                + #"{"role":"tool","tool_call_id":"c1","content":"sunny"},{"role":"assistant","content":"Sunny."},"#
                + #"{"role":"user","content":"Thanks"}],"stream":true,"stream_options":{"include_usage":true},"#
                + #""max_tokens":768,"temperature":0.35,"stop":["END"],"tools":[{"type":"function","function":"#
                + #"{"name":"weather","description":"Tells the weather.","parameters":\#(CloudScript.tool.parameters)}}]}"#
        )
    }

    @Test func anthropic() throws {
        let options = GenerationOptions(stopStrings: ["END"], tools: [CloudScript.tool])
        let text = try body(.anthropic, Self.conversation, options, model: "claude-haiku-4-5")
        #expect(
            text == #"{"model":"claude-haiku-4-5","max_tokens":768,"stream":true,"messages":["#
                + #"{"role":"user","content":[{"type":"text","text":"Weather?\n"}]},"#
                + #"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Köln"}}]},"#
                + #"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"sunny"}]},"#
                + #"{"role":"assistant","content":[{"type":"text","text":"Sunny."}]},"#
                + #"{"role":"user","content":[{"type":"text","text":"Thanks"}]}],"system":"Be \"brief\".","#
                + #""stop_sequences":["END"],"tools":[{"name":"weather","description":"Tells the weather.","#
                + #""input_schema":\#(CloudScript.tool.parameters)}],"temperature":0.35}"#)
    }

    @Test func picturesComeBeforeTheText() throws {
        let messages = [ChatMessage(.user, "What?", images: [try ChatImage(TestPictures.png)])]
        let base64 = Data(TestPictures.png).base64EncodedString()
        #expect(
            try body(.gemini, messages).contains(
                #"[{"inlineData":{"mimeType":"image/png","data":"\#(base64)"}},{"text":"What?"}]"#))
        #expect(
            try body(.openai, messages).contains(
                #"[{"type":"image_url","image_url":{"url":"data:image/png;base64,\#(base64)"}},"#))
        #expect(
            try body(.anthropic, messages).contains(
                #"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"\#(base64)"}}"#))
    }

    /// The longest answer is the server's affair unless it is set.
    @Test func noLengthIsSentUnlessItIsSet() throws {
        let messages = [ChatMessage(.user, "Why?")]
        let free = GenerationOptions(maximumNewTokens: GenerationOptions.windowLength)
        #expect(try !body(.openai, messages, free).contains("max_"))
        #expect(try !body(.openai, messages, free, url: "https://api.openai.com", model: "gpt-6").contains("max_"))
        let gemini = try body(.gemini, messages, free, model: "gemini-2.5-flash")
        #expect(!gemini.contains("maxOutputTokens") && gemini.contains(#""thinkingBudget":-1"#))
        // This API takes no request without one.
        #expect(try body(.anthropic, messages, free, model: "claude-sonnet-5").contains(#""max_tokens":8192"#))
        #expect(try body(.anthropic, messages, free, model: "claude-3-haiku").contains(#""max_tokens":4096"#))
    }

    @Test func thinkingIsBounded() throws {
        let messages = [ChatMessage(.user, "Why?")]
        let long = GenerationOptions(maximumNewTokens: 4096)
        let short = GenerationOptions(maximumNewTokens: 4096, thinking: ThinkingOptions(maximumTokens: 100))
        let none = GenerationOptions(thinking: .disabled)
        #expect(try body(.gemini, messages, short, model: "gemini-2.5-flash").contains(#""thinkingBudget":100"#))
        #expect(try body(.gemini, messages, none, model: "gemini-2.5-flash").contains(#""thinkingBudget":0"#))
        #expect(try !body(.gemini, messages, none, model: "gemini-2.5-pro").contains("thinkingBudget"))
        let later = try body(.gemini, messages, none, model: "gemini-3.5-flash")
        #expect(later.contains(#""thinkingConfig":{"includeThoughts":false,"thinkingLevel":"LOW"}"#))
        #expect(try !body(.gemini, messages, long, model: "gemini-2.0-flash").contains("thinking"))
        let thinking = try body(.anthropic, messages, long)
        #expect(thinking.contains(#""thinking":{"type":"enabled","budget_tokens":3840}"#))
        #expect(!thinking.contains("temperature"))
        let adaptive = try body(.anthropic, messages, long, model: "claude-sonnet-5")
        #expect(adaptive.contains(#""thinking":{"type":"adaptive","display":"summarized"}"#))
        #expect(try !body(.anthropic, messages, none, model: "claude-sonnet-5").contains("temperature"))
        // Fewer than the API takes, and after a tool's result.
        #expect(try !body(.anthropic, messages, GenerationOptions()).contains("thinking"))
        #expect(try !body(.anthropic, Array(Self.conversation.prefix(4)), long).contains("budget_tokens"))
        #expect(try body(.openai, messages, none).contains(#""enable_thinking":false"#))
    }

    @Test func schemasAreSent() throws {
        let options = GenerationOptions(constraint: .jsonSchema(#"{"type":"object"}"#))
        let messages = [ChatMessage(.user, "x")]
        #expect(try body(.gemini, messages, options).contains(#""responseJsonSchema":{"type":"object"}"#))
        #expect(
            try body(.openai, messages, options).contains(
                #""response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}"#)
        )
        #expect(
            try body(.anthropic, messages, options).contains(#""tool_choice":{"type":"tool","name":"answer"}"#))
    }

    @Test func theVendorsOwnServerHasItsOwnNames() throws {
        let text = try body(
            .openai, [ChatMessage(.user, "x")], GenerationOptions(thinking: .disabled),
            url: "https://api.openai.com/v1", model: "gpt-5-mini")
        #expect(text.contains("max_completion_tokens"))
        #expect(!text.contains("temperature") && !text.contains("chat_template_kwargs"))
    }

    @Test func argumentsThatAreNoObjectAreSentAsAnEmptyOne() throws {
        let calls = [ToolCall(id: "c", name: "f", arguments: "{broken"), ToolCall(id: "d", name: "f", arguments: "[]")]
        let messages = [ChatMessage(.user, "x"), ChatMessage(.assistant, "", toolCalls: calls)]
        #expect(try body(.gemini, messages).components(separatedBy: #""args":{}"#).count == 3)
        #expect(try body(.anthropic, messages).components(separatedBy: #""input":{}"#).count == 3)
    }

    @Test func resultsOfOneAnswerAreOneTurn() throws {
        let calls = [ToolCall(id: "c", name: "f", arguments: "{}"), ToolCall(id: "d", name: "g", arguments: "{}")]
        let messages =
            [ChatMessage(.user, "x"), ChatMessage(.assistant, "", toolCalls: calls)]
            + calls.map { ChatMessage(result: "ok", of: $0) }
        #expect(try body(.anthropic, messages).components(separatedBy: #""role":"user""#).count == 3)
        #expect(try body(.gemini, messages).components(separatedBy: #""role":"user""#).count == 3)
    }

    // MARK: History

    @Test func theLastMessagesAreKeptFromAQuestionOn() {
        let turns = (0..<40).flatMap { [ChatMessage(.user, "q\($0)"), ChatMessage(.assistant, "a\($0)")] }
        let messages = [ChatMessage(.system, "s")] + turns + [ChatMessage(.user, "last")]
        var history = CloudHistory(messages, limit: 50)
        #expect(history.dropped == 32)
        #expect(history.messages.count == 50)
        #expect(history.messages.prefix(2).map(\.content) == ["s", "q16"])
        let isCut = history.cut()
        #expect(isCut)
        #expect(history.messages.prefix(2).map(\.content) == ["s", "q28"])
        while history.cut() {}
        #expect(history.messages.map(\.content) == ["s", "last"])
        #expect(CloudHistory(Array(messages.prefix(5)), limit: 50).dropped == 0)
        #expect(CloudHistory([], limit: 50).messages.isEmpty)
    }

    // MARK: Keys

    @Test func keysComeFromTheEnvironmentFirst() throws {
        let both = ["HEARTH_CLOUD_KEY": "one", "GEMINI_API_KEY": "two"]
        #expect(try CloudKey.find(.gemini, environment: both, file: nil)?.value == "one")
        #expect(try CloudKey.find(.gemini, environment: ["GEMINI_API_KEY": "two"], file: nil)?.value == "two")
        #expect(try CloudKey.find(.openai, environment: ["GEMINI_API_KEY": "two"], file: nil) == nil)
        #expect(try CloudKey.find(.openai, environment: ["OPENAI_API_KEY": "x"], file: nil)?.value == "x")
        #expect(try CloudKey.find(.anthropic, environment: ["ANTHROPIC_API_KEY": "x"], file: nil)?.value == "x")
        #expect(try CloudKey.find(.geminiRelay, environment: ["GEMINI_API_KEY": "x"], file: nil) == nil)
        #expect { try CloudKey.find(.gemini, environment: ["GEMINI_API_KEY": "two words"], file: nil) } throws: {
            ($0 as? LLMError)?.message == "the variable GEMINI_API_KEY holds no key"
        }
    }

    @Test func aKeyFileIsForItsOwnerOnly() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("key", Data("s3cret\n".utf8))
        func permit(_ permissions: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.string)
        }
        func message(_ path: Path) -> String? {
            do {
                _ = try CloudKey.find(.gemini, environment: [:], file: path)
                return nil
            } catch {
                let error = error as? LLMError
                #expect(error?.code == .cloudKeyUnusable)
                return error?.message
            }
        }
        try permit(0o600)
        #expect(try CloudKey.find(.gemini, environment: [:], file: file)?.value == "s3cret")
        for permissions in [0o640, 0o604, 0o620] {
            try permit(permissions)
            #expect(message(file) == "other users may read the key file \(file)")
        }
        #expect(message(folder.path("none")) == "the key file \(folder.path("none")) cannot be read")
        let empty = try folder.write("empty", Data("\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: empty.string)
        #expect(message(empty) == "the key file \(empty) holds no key")
    }
}
