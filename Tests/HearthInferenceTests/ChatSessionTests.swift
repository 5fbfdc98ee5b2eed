import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ChatSessionTests {
    private func text(_ stream: AsyncThrowingStream<GenerationEvent, any Error>) async throws -> String {
        var text = ""
        for try await case .text(let piece) in stream { text += piece }
        return text
    }

    @Test func keepsTheConversation() async throws {
        let engine = ScriptedEngine([
            [.text("Hel"), .text("lo"), .finish(.endOfGeneration)], [.text("Bye"), .finish(.maximumNewTokens)],
        ])
        let chat = ChatSession(engine: engine, systemPrompt: "Be kind.")
        #expect(try await text(chat.send("Hi")) == "Hello")
        #expect(try await text(chat.send("Ciao")) == "Bye")
        let expected = [
            ChatMessage(.system, "Be kind."), ChatMessage(.user, "Hi"), ChatMessage(.assistant, "Hello"),
            ChatMessage(.user, "Ciao"), ChatMessage(.assistant, "Bye"),
        ]
        #expect(await chat.messages == expected)
        #expect(await engine.requests == [Array(expected[..<2]), Array(expected[..<4])])
        await chat.clear()
        #expect(await chat.messages == [ChatMessage(.system, "Be kind.")])
    }

    @Test func doesNotSendBackWhatWasThought() async throws {
        let engine = ScriptedEngine([
            [.truncated(2), .thinking("hm"), .text("ok"), .finish(.endOfGeneration)],
            [.text("so"), .finish(.endOfGeneration)],
            [.thinking("only thought"), .finish(.maximumNewTokens)],
        ])
        let chat = ChatSession(engine: engine)
        var events: [GenerationEvent] = []
        for try await event in chat.send("a") { events.append(event) }
        #expect(events.prefix(3) == [.truncated(dropped: 2), .thinking("hm"), .text("ok")])
        _ = try await text(chat.send("b"))
        let said = [
            ChatMessage(.user, "a"), ChatMessage(.assistant, "ok"), ChatMessage(.user, "b"),
            ChatMessage(.assistant, "so"),
        ]
        #expect(await engine.requests.last == Array(said.prefix(3)))
        // Thinking alone is no answer.
        _ = try await text(chat.send("c"))
        #expect(await chat.messages == said)
    }

    @Test func addsNothingByItself() async throws {
        let engine = ScriptedEngine([[.text("ok"), .finish(.endOfGeneration)]])
        let history = [ChatMessage(.user, "a"), ChatMessage(.assistant, "b")]
        let chat = ChatSession(engine: engine, history: history)
        _ = try await text(chat.send("c"))
        #expect(await engine.requests == [history + [ChatMessage(.user, "c")]])
    }

    @Test func knowsTheAnswerBeforeTheStreamSaysFinish() async throws {
        let chat = ChatSession(engine: ScriptedEngine([[.text("ok"), .finish(.timedOut)]]))
        for try await event in chat.send("a") {
            guard case .finish(let summary) = event else { continue }
            #expect(summary.reason == .timedOut)
            #expect(await chat.messages == [ChatMessage(.user, "a"), ChatMessage(.assistant, "ok")])
        }
    }

    @Test func answersInOrder() async throws {
        let engine = ScriptedEngine([
            [.text("1"), .finish(.endOfGeneration)], [.text("2"), .finish(.endOfGeneration)],
        ])
        let chat = ChatSession(engine: engine)
        let first = chat.send("a")
        let second = chat.send("b")
        #expect(try await [text(first), text(second)] == ["1", "2"])
        #expect(await engine.requests.map { $0.map(\.content) } == [["a"], ["a", "1", "b"]])
    }

    @Test func forgetsATurnThatFailed() async throws {
        let failure = LLMError(.generateFailed, "it broke")
        let engine = ScriptedEngine([
            [.fail(failure)], [.text("half"), .fail(failure)], [.text("ok"), .finish(.endOfGeneration)],
        ])
        let chat = ChatSession(engine: engine)
        await #expect(throws: LLMError.self) { try await text(chat.send("a")) }
        #expect(await chat.messages.isEmpty)
        await #expect(throws: LLMError.self) { try await text(chat.send("b")) }
        #expect(await chat.messages == [ChatMessage(.user, "b"), ChatMessage(.assistant, "half")])
        _ = try await text(chat.send("c"))
        #expect(await engine.requests.last?.count == 3)
    }

    @Test(arguments: [["so ", "far"], []])
    func keepsWhatWasSaidBeforeACancellation(pieces: [String]) async throws {
        let engine = ScriptedEngine([
            pieces.map { .text($0) } + [.waitForCancellation], [.text("ok"), .finish(.endOfGeneration)],
        ])
        let chat = ChatSession(engine: engine)
        let task = Task { try await text(chat.send("a")) }
        await engine.stalled()
        task.cancel()
        _ = await task.result
        // The next turn begins after the cancelled one has left its mark.
        #expect(try await text(chat.send("b")) == "ok")
        let said = pieces.isEmpty ? [] : [ChatMessage(.user, "a"), ChatMessage(.assistant, "so far")]
        #expect(await engine.requests.last == said + [ChatMessage(.user, "b")])
    }

    @Test func isCancelledByLettingGoOfTheStream() async throws {
        let engine = ScriptedEngine([
            [.text("one"), .waitForCancellation], [.text("ok"), .finish(.endOfGeneration)],
        ])
        let chat = ChatSession(engine: engine)
        for try await _ in chat.send("a") { break }
        #expect(try await text(chat.send("b")) == "ok")
        #expect(await chat.messages.count == 4)
    }
}
