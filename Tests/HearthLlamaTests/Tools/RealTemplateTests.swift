#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

private let folder = Path(TestModel.cache.string + "/llama-source-0.3.36/models/templates")

/// The templates of real models in llama.cpp's own sources, if the set-up has built them here.
@Suite(
    .enabled(if: FileManager.default.fileExists(atPath: folder.string), "llama.cpp was not built here"),
    .timeLimit(.minutes(5)))
struct RealTemplateTests {
    private static let tools = [
        ToolDefinition(
            name: "weather", description: "Tells the weather.",
            parameters: JSONSchema.object([.init("city", .string), .init("days", .integer)]).json)
    ]
    private static let call = ToolCall(
        id: "call00000", name: "weather", arguments: #"{"city":"São Tomé","days":2}"#)

    private static func sources() throws -> [(name: String, source: String)] {
        try FileManager.default.contentsOfDirectory(atPath: folder.string).sorted().filter {
            $0.hasSuffix(".jinja")
        }
        .map { ($0, try String(contentsOf: folder.url.appending(path: $0), encoding: .utf8)) }
    }

    /// The marks of models whose thinking would be shown as the answer if only `<think>` were known.
    @Test(arguments: [
        ("openai-gpt-oss-120b", "<|channel|>analysis<|message|>", "<|end|>", "<|channel|>final<|message|>"),
        ("google-gemma-4-31B-it", "<|channel>thought", "<channel|>", ""),
        ("Kimi-K3", "<|open|>think<|sep|>", "<|close|>think<|sep|>", "<|open|>response<|sep|>"),
        ("MiniMax-M3", "<mm:think>", "</mm:think>", ""),
        (
            "CohereForAI-c4ai-command-r7b-12-2024-tool_use", "<|START_THINKING|>", "<|END_THINKING|>",
            "<|START_RESPONSE|>"
        ),
        ("Cohere2MoE", "<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>"),
        ("Qwen3.5-4B", "<think>", "</think>", ""), ("Qwen-Qwen3-0.6B", "<think>", "</think>", ""),
    ])
    func theTemplateTellsTheMarksOfItsThinking(
        name: String, opening: String, closing: String, lead: String
    ) throws {
        let source = try #require(Self.sources().first { $0.name == name + ".jinja" }).source
        let facts = try ChatTemplate(model: nil, source: source).facts()
        #expect(facts.opening == opening && facts.closing == closing && facts.lead == lead)
        if name.hasPrefix("openai") { #expect(facts.turn == "<|start|>assistant") }
    }

    @Test func aTemplateWithoutThinkingTellsNoMarks() throws {
        let source = try #require(Self.sources().first { $0.name == "Qwen-Qwen2.5-7B-Instruct.jinja" }).source
        #expect(try ChatTemplate(model: nil, source: source).facts() == ChatTemplate.Facts())
    }

    /// The grammar allows a call in the template's format, and the call is read back unchanged. The short extent takes
    /// every fifth template.
    @Test func aCallInTheHistoryIsWrittenAsItIsRead() throws {
        var supported: [String] = []
        var others: [String] = []
        var problems: [String] = []
        for (index, (name, source)) in try Self.sources().enumerated() {
            guard TestExtent.isFull || index.isMultiple(of: 5) else { continue }
            do {
                let template = try ChatTemplate(model: nil, source: source)
                guard template.callsTools() else {
                    others.append(name)
                    continue
                }
                let question = [ChatMessage(.user, "How is the weather?")]
                let prompt = try template.render(question, tools: Self.tools)
                let format = try #require(prompt.calls)
                let whole = try template.render(
                    question + [
                        ChatMessage(.assistant, "", toolCalls: [Self.call]),
                        ChatMessage(result: "sunny", of: Self.call),
                    ], tools: Self.tools
                ).text
                // A prompt that ends with an opening of thinking can share some text with a call.
                let common = prompt.text.commonPrefix(with: whole).count - (format.words.map(\.count).max() ?? 0)
                let said = whole[whole.index(whole.startIndex, offsetBy: common)...]
                let places = format.words.compactMap { said.firstRange(of: $0)?.lowerBound }
                guard let start = places.min() else {
                    problems.append("\(name): none of \(format.words) in \(said.debugDescription)")
                    continue
                }
                var matcher = GrammarMatcher(format.grammar)
                var taken: [UInt8] = []
                var complete: [UInt8] = []
                for byte in said[start...].utf8 {
                    guard matcher.take(CollectionOfOne(byte)) else { break }
                    taken.append(byte)
                    if matcher.isComplete { complete = taken }
                }
                let text = String(decoding: complete, as: UTF8.self)
                let tags = ThinkingTags.named(in: source)
                let closing = ThinkingTags.opened(by: prompt.text, among: tags)?.closing ?? ""
                let calls = try format.calls(in: text, after: closing + "\n\n" + text)
                let arguments = try calls.first.map {
                    try JSONSerialization.jsonObject(with: Data($0.arguments.utf8))
                }
                guard calls.count == 1, calls[0].name == "weather", let values = arguments as? [String: Any],
                    values["city"] as? String == "São Tomé", values["days"] as? Int == 2
                else {
                    problems.append(
                        "\(name): \(calls) of \(text.debugDescription), written \(said[start...].debugDescription)")
                    continue
                }
                supported.append(name)
            } catch {
                problems.append("\(name): \(error)")
            }
        }
        print("\(supported.count) templates call tools in their own way, not \(others.joined(separator: ", "))")
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        #expect(supported.count >= (TestExtent.isFull ? 45 : 7), "\(others)")
    }
}
#endif
