import HearthInference
import Testing

@Suite struct TurnChangeTests {
    private func turns(_ messages: [ChatMessage]) -> [String] { messages.map { "\($0.role.rawValue):\($0.content)" } }

    @Test func eachChangeDoesOneThing() {
        let messages = [
            ChatMessage(.user, "a"), ChatMessage(.user, "b"), ChatMessage(.assistant, "c"), ChatMessage(.system, "s"),
            ChatMessage(.user, "d"),
        ]
        #expect(turns(messages.changed(by: [.merged])) == ["user:a\n\nb", "assistant:c", "system:s", "user:d"])
        #expect(
            turns(messages.changed(by: [.systemFirst])) == ["system:s", "user:a", "user:b", "assistant:c", "user:d"])
        #expect(turns(messages.changed(by: [.systemInUser])) == ["user:s\n\na", "user:b", "assistant:c", "user:d"])
        #expect(turns([ChatMessage(.assistant, "x")].changed(by: [.userFirst])) == ["user:", "assistant:x"])
        #expect(turns([ChatMessage(.system, "x")].changed(by: [.userLast])) == ["system:x", "user:"])
    }

    /// Calls and results keep their places and their ids match.
    @Test func callsStayWithTheirResults() {
        let call = ToolCall(id: "call_abc-123", name: "f", arguments: "{}")
        let messages = [
            ChatMessage(.user, "a"), ChatMessage(.assistant, "b"), ChatMessage(.assistant, "", toolCalls: [call]),
            ChatMessage(result: "r", of: call),
            ChatMessage(.assistant, "c"),
        ]
        let changed = messages.changed(by: [.merged, .callIDs])
        #expect(changed.map(\.role) == [.user, .assistant, .tool, .assistant])
        #expect(
            changed[1].content == "b" && changed[1].toolCalls.map(\.id) == ["call00000"]
                && changed[2].toolCallID == "call00000")
    }

    @Test func theLeastChangeComesFirst() {
        let messages = [ChatMessage(.user, "a"), ChatMessage(.user, "b")]
        #expect(TurnChange.candidates(for: messages) == [[.merged]])
        #expect(TurnChange.candidates(for: [ChatMessage(.system, "s"), ChatMessage(.user, "a")]) == [[.systemInUser]])
        #expect(TurnChange.candidates(for: [ChatMessage(.user, "a")]).isEmpty)
        let middle = [ChatMessage(.user, "a"), ChatMessage(.system, "s"), ChatMessage(.user, "b")]
        #expect(TurnChange.candidates(for: middle).first == [.systemFirst])
    }
}
