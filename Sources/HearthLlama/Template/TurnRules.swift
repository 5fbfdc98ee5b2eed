#if Llama
import HearthBase
import HearthInference

/// Finds the least change of a conversation that a strict chat template accepts: one whose roles must alternate, which
/// takes no system message or only one at the beginning, or whose ids of calls have nine letters.
final class TurnRules: Sendable {
    /// What conversations of one form needed before.
    private struct Form: Hashable {
        let candidates: [[TurnChange]]
        let hasTools: Bool
    }

    private let known = Locked<[Form: [TurnChange]]>([:])
    private static let maximumForms = 64
    /// The most conversations that are tried.
    private static let maximumTries = 24

    /// Renders a conversation, changed as little as the template wants.
    /// - Throws: `chat-template-failed` of the conversation as it is, if no change helps.
    func render(
        _ messages: [ChatMessage], hasTools: Bool, _ render: ([ChatMessage]) throws -> ChatTemplate.Rendered
    ) throws -> ChatTemplate.Rendered {
        let candidates = TurnChange.candidates(for: messages)
        if candidates.isEmpty { return try render(messages) }
        let form = Form(candidates: candidates, hasTools: hasTools)
        if let changes = known.withLock({ $0[form] }),
            let rendered = try Self.attempt(messages.changed(by: changes), render, changes)
        {
            return rendered
        }
        var failure: (any Error)?
        for changes in [[]] + candidates.prefix(Self.maximumTries) {
            do {
                guard let rendered = try Self.attempt(messages.changed(by: changes), render, changes) else { continue }
                known.withLock {
                    if $0.count >= Self.maximumForms { $0.removeAll() }
                    $0[form] = changes
                }
                return rendered
            } catch let error as LLMError where error.code == .templateFailed {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return try render(messages)
    }

    /// The prompt of a conversation; `nil` if the template leaves out a system message without an error.
    private static func attempt(
        _ messages: [ChatMessage], _ render: ([ChatMessage]) throws -> ChatTemplate.Rendered, _ changes: [TurnChange]
    ) throws -> ChatTemplate.Rendered? {
        var rendered = try render(messages)
        let begin = messages.prefix { $0.role == .system }.count
        // One system message at the beginning is what every template with a system role takes, before a question.
        let isAlone = !messages.contains { $0.role == .user }
        let others = messages[(isAlone ? 0 : min(1, begin))...].filter { $0.role == .system }
        for message in others {
            let words = message.content.split(whereSeparator: \.isWhitespace).prefix(8)
            guard words.allSatisfy({ rendered.text.contains($0) }) else { return nil }
        }
        rendered.changes = changes
        return rendered
    }
}
#endif
