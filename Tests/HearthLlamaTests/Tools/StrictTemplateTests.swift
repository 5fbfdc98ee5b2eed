#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// Conversations that strict templates refuse as they are.
@Suite(.timeLimit(.minutes(5))) struct StrictTemplateTests {
    private static let conversations: [(name: String, messages: [ChatMessage])] = [
        ("user-user", [ChatMessage(.user, "Uone"), ChatMessage(.user, "Utwo")]),
        ("assistant-first", [ChatMessage(.assistant, "Aone"), ChatMessage(.user, "Uone")]),
        (
            "assistant-assistant",
            [
                ChatMessage(.user, "Uone"), ChatMessage(.assistant, "Aone"), ChatMessage(.assistant, "Atwo"),
                ChatMessage(.user, "Utwo"),
            ]
        ),
        ("system-first", [ChatMessage(.system, "Sone"), ChatMessage(.user, "Uone")]),
        ("system-twice", [ChatMessage(.system, "Sone"), ChatMessage(.system, "Stwo"), ChatMessage(.user, "Uone")]),
        (
            "system-middle",
            [
                ChatMessage(.user, "Uone"), ChatMessage(.assistant, "Aone"), ChatMessage(.system, "Sone"),
                ChatMessage(.user, "Utwo"),
            ]
        ),
        ("system-last", [ChatMessage(.user, "Uone"), ChatMessage(.system, "Sone")]),
        ("system-alone", [ChatMessage(.system, "Sone")]),
        (
            "system-assistant",
            [ChatMessage(.system, "Sone"), ChatMessage(.assistant, "Aone"), ChatMessage(.user, "Uone")]
        ),
        (
            "all-at-once",
            [
                ChatMessage(.system, "Sone"), ChatMessage(.assistant, "Aone"), ChatMessage(.assistant, "Atwo"),
                ChatMessage(.system, "Stwo"),
                ChatMessage(.user, "Uone"), ChatMessage(.user, "Utwo"),
            ]
        ),
    ]

    private func rendered(_ source: String, _ messages: [ChatMessage], tools: [ToolDefinition] = []) throws
        -> ChatTemplate.Rendered
    {
        let template = try ChatTemplate(model: nil, source: source)
        return try TurnRules().render(messages, hasTools: !tools.isEmpty) { try template.render($0, tools: tools) }
    }

    /// Each template takes each conversation: no text is lost, and texts of one role keep their order.
    @Test(arguments: StrictTemplates.all.map(\.name))
    func takesEveryConversation(name: String) throws {
        let source = try #require(StrictTemplates.all.first { $0.name == name }).source
        for conversation in Self.conversations {
            let result = try rendered(source, conversation.messages)
            var place = result.text.startIndex
            for role in [ChatRole.system, .user] {
                if role == .user { place = result.text.startIndex }
                for message in conversation.messages where message.role == role {
                    let found = result.text.range(of: message.content, range: place..<result.text.endIndex)
                    #expect(found != nil, "\(conversation.name): \(result.text)")
                    place = found?.upperBound ?? place
                }
            }
        }
    }

    /// A conversation that the template takes is not changed.
    @Test(arguments: StrictTemplates.all.map(\.name))
    func leavesOthersAlone(name: String) throws {
        let source = try #require(StrictTemplates.all.first { $0.name == name }).source
        let messages = [ChatMessage(.user, "Uone"), ChatMessage(.assistant, "Aone"), ChatMessage(.user, "Utwo")]
        let template = try ChatTemplate(model: nil, source: source)
        let result = try rendered(source, messages)
        #expect(try result.changes.isEmpty && result.text == template.render(messages).text)
    }

    @Test(
        arguments: [
            ("qwen-coder", 0, []), ("qwen-coder", 5, [TurnChange.systemFirst]), ("mistral", 0, [.merged]),
            ("mistral", 1, [.userFirst]),
            ("gemma", 2, [.merged]), ("llama-2", 5, [.systemFirst]), ("phi", 5, [.systemFirst]),
            ("qwen-coder", 7, [.userLast]),
            ("vicuna", 8, [.userFirst]),
        ] as [(String, Int, [TurnChange])])
    func changesTheLeast(name: String, conversation: Int, changes: [TurnChange]) throws {
        let source = try #require(StrictTemplates.all.first { $0.name == name }).source
        #expect(try Set(rendered(source, Self.conversations[conversation].messages).changes) == Set(changes))
    }

    /// Ids that a client made are shortened for a template that counts their letters.
    @Test func idsOfCallsAreShortened() throws {
        let call = ToolCall(id: "call_0a1b2c3d4e5f", name: "look", arguments: #"{"at":"sky"}"#)
        let tool = ToolDefinition(
            name: "look", description: "Looks.", parameters: #"{"type":"object","properties":{"at":{"type":"string"}}}"#
        )
        let messages = [
            ChatMessage(.user, "Uone"), ChatMessage(.assistant, "", toolCalls: [call]),
            ChatMessage(result: #""blue""#, of: call),
        ]
        let result = try rendered(StrictTemplates.mistralTools, messages, tools: [tool])
        #expect(
            result.changes == [.callIDs] && result.text.components(separatedBy: "call00000").count == 3,
            "\(result.text)")
    }

    /// The error of a template that takes nothing says what the template says.
    @Test func whatNoChangeHelpsIsRefusedInTheTemplatesWords() throws {
        let source = "{{ raise_exception('This model answers nobody.') }}"
        let error = #expect(throws: LLMError.self) {
            try rendered(source, [ChatMessage(.user, "a"), ChatMessage(.user, "b")])
        }
        #expect(
            error?.code == .templateFailed && error?.message.contains("This model answers nobody.") == true,
            "\(error?.message ?? "")")
        #expect(error?.message.contains("CallExpression") == false)
    }

    private static let folder = Path(TestModel.cache.string + "/llama-source-0.3.36/models/templates")

    /// The templates of real models in llama.cpp's own sources take the same conversations.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: folder.string), "llama.cpp was not built here"))
    func realTemplatesTakeThem() throws {
        var refused: [String] = []
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.string).sorted().filter {
            $0.hasSuffix(".jinja")
        }
        for (index, name) in names.enumerated() where TestExtent.isFull || index.isMultiple(of: 6) {
            let source = try String(contentsOf: Self.folder.url.appending(path: name), encoding: .utf8)
            for conversation in Self.conversations {
                do {
                    let result = try rendered(source, conversation.messages)
                    let last = conversation.messages.last { $0.role == .user }?.content ?? ""
                    if !result.text.contains(last) { refused.append("\(name) \(conversation.name): lost") }
                } catch {
                    refused.append("\(name) \(conversation.name): \(error)")
                }
            }
        }
        #expect(refused.isEmpty, "\(refused.joined(separator: "\n"))")
    }
}
#endif
