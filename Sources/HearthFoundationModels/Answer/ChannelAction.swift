import HearthInference

/// An event for the channel of a session's answer, without Apple's types. `entry` is the id of the entry in the transcript.
package enum ChannelAction: Sendable, Hashable {
    /// The next piece of the thinking.
    case reasoning(String, entry: String)
    /// The next piece of the answer.
    case text(String, entry: String)
    /// A whole call.
    case toolCall(ToolCall, entry: String)
    /// The counts of the whole answer, for the entry of its text or of its calls.
    case usage(TokenUsage, entry: String, isOfCalls: Bool)
}
