import HearthBase
import HearthInference

/// What `context_management` changes of a conversation before the model reads it. Edits that cannot be made here are left out.
struct ContextEdits: Sendable, Hashable {
    /// The rule of `clear_tool_uses`.
    struct Results: Sendable, Hashable {
        /// The prompt's tokens above which results are cleared.
        var tokens = 100_000
        /// The results above which they are cleared, in place of ``tokens``.
        var uses: Int?
        /// The latest results that stay.
        var keep = 3
        /// The fewest tokens that the edit must save.
        var least = 0
        var excluded: Set<String> = []
        /// Whether the arguments of the calls go too.
        var clearsArguments = false
        var kind: String
    }

    /// The turns of answers whose thinking stays; `nil` for all.
    private(set) var keptThinking: Int?
    private var thinkingKind = ""
    private(set) var results: Results?

    /// The text in place of a cleared result.
    static let cleared = "(cleared to make room)"

    init(_ fields: Fields) throws(APIFailure) {
        for edit in try fields.objects("edits", atMost: 100) ?? [] {
            let type = try edit.requiredString("type")
            if type.hasPrefix("clear_thinking_") {
                thinkingKind = type
                guard edit.text("keep") == nil else { continue }
                keptThinking = try edit.object("keep")?.integer("value", in: 0...1_000_000) ?? 1
            } else if type.hasPrefix("clear_tool_uses_") {
                results = try Self.results(edit, type)
            } else {
                edit.leaveOut(type)
            }
        }
    }

    private static func results(_ edit: Fields, _ type: String) throws(APIFailure) -> Results {
        let range = 0...Int(Int32.max)
        var rule = Results(kind: type)
        if let trigger = try edit.object("trigger"), let value = try trigger.integer("value", in: range) {
            if try trigger.string("type") == "tool_uses" { rule.uses = value } else { rule.tokens = value }
        }
        rule.keep = try edit.object("keep")?.integer("value", in: range) ?? rule.keep
        rule.least = try edit.object("clear_at_least")?.integer("value", in: range) ?? 0
        rule.excluded = Set(try edit.strings("exclude_tools", atMost: 10_000) ?? [])
        // A list names the tools whose arguments go; all of them go then.
        rule.clearsArguments =
            edit.value("clear_tool_inputs", .either(.flag, .list(.text)))?.flag
            ?? (edit.value("clear_tool_inputs")?.items?.isEmpty == false)
        return rule
    }

    /// Whether the length of the prompt decides about an edit.
    func needsLength(_ messages: [ChatMessage]) -> Bool {
        // No token is shorter than a byte.
        results.map { $0.uses == nil && messages.textBytes > $0.tokens } ?? false
    }

    /// The conversation after the edits, and what `context_management` of the reply says about them.
    /// - Parameter promptTokens: the length of the prompt, where ``needsLength(_:)`` asks for it.
    func applied(to messages: [ChatMessage], promptTokens: Int?) -> (messages: [ChatMessage], report: JSONValue) {
        var messages = messages
        var edits: [JSONValue] = []
        if let keptThinking, let edit = clearThinking(&messages, keep: keptThinking) { edits.append(edit) }
        if let results, let edit = clear(&messages, results, promptTokens: promptTokens ?? 0) { edits.append(edit) }
        return (messages, ["applied_edits": .array(edits)])
    }

    private func clearThinking(_ messages: inout [ChatMessage], keep: Int) -> JSONValue? {
        var turns = 0
        var isCounted = false
        var bytes = 0
        var cleared = 0
        for index in messages.indices.reversed() {
            // A turn is all that the model said after a question.
            if messages[index].role == .user { isCounted = false }
            guard messages[index].role == .assistant, !messages[index].thinking.isEmpty else { continue }
            if !isCounted { turns += 1 }
            if turns > keep {
                if !isCounted { cleared += 1 }
                bytes += messages[index].thinking.utf8.count
                messages[index].thinking = ""
            }
            isCounted = true
        }
        guard cleared > 0 else { return nil }
        return [
            "type": .string(thinkingKind), "cleared_thinking_turns": .integer(cleared),
            "cleared_input_tokens": .integer(Self.tokens(bytes)),
        ]
    }

    private func clear(_ messages: inout [ChatMessage], _ rule: Results, promptTokens: Int) -> JSONValue? {
        let places = messages.indices.filter { messages[$0].role == .tool }
        guard rule.uses.map({ places.count > $0 }) ?? (promptTokens > rule.tokens) else { return nil }
        let chosen = places.dropLast(rule.keep).filter { index in
            messages[index].content != Self.cleared
                && !rule.excluded.contains(messages[index].toolName ?? "")
        }
        let ids = Set(chosen.compactMap { messages[$0].toolCallID })
        var bytes = chosen.reduce(0) { $0 + messages[$1].content.utf8.count }
        if rule.clearsArguments {
            bytes += messages.flatMap(\.toolCalls).filter { ids.contains($0.id) }.reduce(0) {
                $0 + $1.arguments.utf8.count
            }
        }
        guard !chosen.isEmpty, Self.tokens(bytes) >= rule.least else { return nil }
        for index in chosen { (messages[index].content, messages[index].images) = (Self.cleared, []) }
        if rule.clearsArguments {
            for index in messages.indices {
                for call in messages[index].toolCalls.indices where ids.contains(messages[index].toolCalls[call].id) {
                    messages[index].toolCalls[call].arguments = "{}"
                }
            }
        }
        return [
            "type": .string(rule.kind), "cleared_tool_uses": .integer(chosen.count),
            "cleared_input_tokens": .integer(Self.tokens(bytes)),
        ]
    }

    /// An estimate: most tokens have about four bytes.
    private static func tokens(_ bytes: Int) -> Int { bytes / 4 }
}
