import Foundation
import HearthBase
import HearthInference

/// Writes the events of an engine as those of a session's channel: thinking, text and calls each have an entry of their own.
package struct AnswerWriter: Sendable {
    private let reasoning: String
    private let response: String
    private let calls: String
    /// The names of the tools that may be called.
    private let tools: Set<String>
    /// The ids of the calls so far.
    private var ids: Set<String> = []
    private var hasText = false

    /// Whether the model has called a tool.
    package var hasCalls: Bool { !ids.isEmpty }
    /// Whether the model has thought.
    package private(set) var hasReasoning = false

    /// Makes a writer for one answer.
    /// - Parameters:
    ///   - tools: the names of the tools that may be called.
    ///   - newID: makes the ids of entries, and of calls that have none.
    package init(tools: Set<String>, newID: () -> String = { UUID().uuidString }) {
        self.tools = tools
        (reasoning, response, calls) = (newID(), newID(), newID())
    }

    /// The actions of an event.
    /// - Throws: `LLMError` with `unusable-answer` for the call of a tool that does not exist.
    package mutating func actions(for event: GenerationEvent) throws(LLMError) -> [ChannelAction] {
        switch event {
        case .thinking(let piece):
            hasReasoning = true
            return [.reasoning(piece, entry: reasoning)]
        case .text(let piece):
            hasText = true
            return [.text(piece, entry: response)]
        case .toolCall(let call): return [.toolCall(try checked(call), entry: calls)]
        case .finish(let summary):
            // An answer without text is an empty answer, and not none.
            let empty = hasText || hasCalls ? [] : [ChannelAction.text("", entry: response)]
            let isOfCalls = hasCalls && !hasText
            return empty + [.usage(summary.usage, entry: isOfCalls ? calls : response, isOfCalls: isOfCalls)]
        case .phase, .truncated, .picturesLeftOut, .token, .toolResult: return []
        }
    }

    private mutating func checked(_ call: ToolCall) throws(LLMError) -> ToolCall {
        guard tools.contains(call.name) else {
            throw LLMError(
                .unusableAnswer, "the model called a tool that does not exist",
                context: ErrorContext(remedy: "Ask again, or use a model that is better at calling tools."))
        }
        var call = call
        // A session files calls under their ids.
        if call.id.isEmpty || ids.contains(call.id) { call.id = ToolCall.newID() }
        ids.insert(call.id)
        // Models leave out an empty object of arguments.
        if call.arguments.isEmpty { call.arguments = "{}" }
        return call
    }
}
