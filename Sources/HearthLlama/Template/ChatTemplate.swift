#if Llama
import CLlamaShim
import Foundation
import HearthBase
import HearthInference

/// Owns the chat template of a model. The model must outlive it.
struct ChatTemplate: ~Copyable {
    private let raw: OpaquePointer
    private let formats = CallFormatTable()

    /// Reads `source`, or the model's own template without one; ChatML if the model has none.
    /// - Throws: `chat-template-failed`, with the place of a syntax error. No other template takes the place of a broken
    ///   one: answers would be worse without a visible reason.
    init(model: OpaquePointer?, source: String? = nil) throws {
        var reason: UnsafeMutablePointer<CChar>?
        let source = source.flatMap { $0.isEmpty ? nil : $0 }
        precondition(model != nil || source != nil)
        guard let templates = CallWatch.shared.during(.template, { hearth_chat_templates_new(model, source, &reason) })
        else {
            throw Self.broken(String(taking: reason).map(Self.flaw) ?? "there is no memory for it")
        }
        raw = templates
        Handles.take(.template)
    }

    deinit {
        hearth_chat_templates_free(raw)
        Handles.give(.template)
    }

    /// A conversation as text.
    struct Rendered {
        let text: String
        /// The end of the text, with which the template begins the answer; empty if it cannot be determined.
        let opening: String
        /// The format of the offered tools' calls; `nil` without tools.
        let calls: CallFormat?
        /// The changes of the conversation that the template wanted.
        var changes: [TurnChange] = []
    }

    /// Whether the template describes tools in a usable call format: the grammar allows a call from a rendered
    /// history, and the call is read back unchanged.
    borrowing func callsTools() -> Bool {
        guard CallWatch.shared.during(.template, { hearth_chat_templates_know_tools(raw) }) else { return false }
        let tool = ToolDefinition(
            name: "look", description: "Looks.",
            parameters: JSONSchema.object([.init("at", .string)]).json)
        let call = ToolCall(id: "call00000", name: tool.name, arguments: #"{"at":"the sky"}"#)
        let question = ChatMessage(.user, "Look up.")
        do {
            let prompt = try render([question], tools: [tool])
            let history = [
                question, ChatMessage(.assistant, "", toolCalls: [call]),
                ChatMessage(result: "It is blue.", of: call),
            ]
            let told = try render(history, tools: [tool]).text
            if try prompt.calls?.reads(call, in: told, after: prompt.text) == true { return true }
            Log.write(
                .info, "tools", "the template's own way of calling tools is not what its grammar allows")
            return false
        } catch {
            Log.write(.info, "tools", "the template's own way of calling tools is not used: \(error)")
            return false
        }
    }

    /// The texts around thinking and answer that llama.cpp finds in the template.
    struct Facts: Decodable, Hashable {
        var opening: String?
        var closing: String?
        var turn: String?
        var lead: String?
        var trail: String?
    }

    /// The template's texts around thinking; empty where llama.cpp finds no thinking in it.
    borrowing func facts() throws -> Facts {
        var reason: UnsafeMutablePointer<CChar>?
        guard
            let text = String(
                taking: CallWatch.shared.during(.template) { hearth_chat_templates_frame(raw, &reason) })
        else {
            throw Self.failure(reason)
        }
        return try JSON.value(Facts.self, Data(text.utf8))
    }

    /// The marks of the model's thinking, and the template's text between them and the answer. `nil` where
    /// llama.cpp finds no thinking in the template.
    borrowing func frame(_ vocabulary: Vocabulary) throws -> AnswerFrame? {
        let found: Facts
        do {
            found = try facts()
        } catch {
            Log.write(.info, "template", "the template's thinking is not known: \(error)")
            return nil
        }
        guard let opening = found.opening, let closing = found.closing else { return nil }
        var frame = AnswerFrame(tags: [ThinkingTags(opening: opening, closing: closing)])
        let lead = found.lead ?? ""
        // Letters alone could also be the model's own text, and control tokens alone are never shown.
        if try vocabulary.mixesControlTokens(lead) { (frame.lead, frame.turn) = (lead, found.turn ?? "") }
        frame.end = try vocabulary.framedEnd(found.trail ?? "")
        return frame
    }

    /// The tokens that the template writes for a question and an answer without text; 2 if they vary.
    borrowing func tokensOfTurn(_ vocabulary: Vocabulary) -> Int {
        func tokens(turns: Int) throws -> Int {
            let messages = (0..<2 * turns).map { ChatMessage($0.isMultiple(of: 2) ? .user : .assistant, "") }
            let text = try render(messages + [ChatMessage(.user, "a")]).text
            return try vocabulary.tokens(of: text, addSpecial: false, parseSpecial: true).count
        }
        // Some templates refuse messages without text.
        guard let few = try? tokens(turns: 1), let more = try? tokens(turns: 2), let many = try? tokens(turns: 4),
            many - more == 2 * (more - few)
        else { return 2 }
        return max(2, more - few)
    }

    /// The prompt of a conversation, with the beginning of the model's answer.
    /// - Throws: `chat-template-failed`; `grammar-unusable` for tools whose calls cannot be constrained.
    borrowing func render(
        _ messages: [ChatMessage], tools: [ToolDefinition] = [], enableThinking: Bool = true
    ) throws -> Rendered {
        try ToolDefinition.check(tools)
        let turns = try ChatTurns(messages)
        let bytes = messages.textBytes + tools.textBytes
        var length = 0
        var opening = 0
        var reason: UnsafeMutablePointer<CChar>?
        let prompt = try turns.withRequest(offering: tools, enableThinking: enableThinking) { request in
            CallWatch.shared.during(.template, bytes: bytes) {
                hearth_chat_templates_apply(raw, request, &length, &opening, &reason)
            }
        }
        guard let prompt else { throw Self.failure(reason) }
        defer { hearth_string_free(prompt) }
        let letters = UnsafeRawBufferPointer(start: prompt, count: length)
        let text = String(decoding: letters, as: UTF8.self)
        let beginning = String(decoding: letters.suffix(opening), as: UTF8.self)
        guard !tools.isEmpty else { return Rendered(text: text, opening: beginning, calls: nil) }
        let calls = try formats.format(
            CallFormatTable.Key(tools: tools, enableThinking: enableThinking, opening: beginning)
        ) { shapes in
            let format = try turns.withRequest(offering: shapes, enableThinking: enableThinking) { request in
                CallWatch.shared.during(.template, bytes: bytes) { hearth_call_format_new(raw, request, &reason) }
            }
            guard let format else { throw Self.failure(reason) }
            return CallFormat.Raw(format)
        }
        return Rendered(text: text, opening: beginning, calls: calls)
    }

    private static func failure(_ reason: UnsafeMutablePointer<CChar>?) -> LLMError {
        failure(String(taking: reason).map(said) ?? "there is no memory for the chat template")
    }

    /// What a template says by `raise_exception`, without the place in its source; otherwise the whole reason.
    private static func said(_ reason: String) -> String {
        guard let place = reason.range(of: "Jinja Exception: ", options: .backwards) else { return reason }
        let line = reason[place.upperBound...].prefix { $0 != "\n" }
        return line.isEmpty ? reason : "it says: \(line)"
    }

    private static let failed = "the chat template failed: "

    /// The reason of a ``failure(_:)``.
    static func reason(of error: LLMError) -> String {
        error.message.hasPrefix(failed) ? String(error.message.dropFirst(failed.count)) : error.message
    }

    static func failure(_ reason: String) -> LLMError {
        LLMError(
            .templateFailed, failed + reason,
            context: ErrorContext(
                remedy: "Check the order of the messages; many models accept one system message at the start only.")
        )
    }

    /// The error of a template that cannot be read, or that refuses every conversation.
    static func broken(_ reason: String) -> LLMError {
        LLMError(
            .templateFailed, "the model's chat template is broken: \(reason)",
            context: ErrorContext(
                remedy: "Its publisher must correct it: take the model from another publisher, or another model."))
    }

    /// A syntax error, and the template's text around it: llama.cpp's parser writes the first in one line, and the
    /// second in the next, above a mark for the place.
    private static func flaw(_ reason: String) -> String {
        let lines = reason.split(separator: "\n")
        guard lines.count > 1 else { return "it cannot be parsed (\(reason.quoted(limit: 100)))" }
        var what = lines[0]
        for word in ["lexer: ", "parser: ", "Parser Error: "] where what.hasPrefix(word) {
            what = what.dropFirst(word.count)
        }
        return "it cannot be parsed (\(String(what).quoted(limit: 100)) at \(String(lines[1]).quoted(limit: 90)))"
    }
}
#endif
