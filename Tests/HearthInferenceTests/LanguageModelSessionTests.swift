import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Observation
import Testing

@Suite(.timeLimit(.minutes(10))) struct LanguageModelSessionTests {
    private func text(_ stream: some AsyncSequence<GenerationEvent, any Error>) async throws -> String {
        var text = ""
        for try await case .text(let piece) in stream { text += piece }
        return text
    }

    @Test func keepsTheConversation() async throws {
        let engine = ScriptedEngine([
            [.text("Hel"), .text("lo"), .finish(.endOfGeneration)], [.text("Bye"), .finish(.maximumNewTokens)],
        ])
        let session = LanguageModelSession(model: engine, instructions: "Be kind.")
        #expect(try await text(session.streamResponse(to: "Hi").events) == "Hello")
        #expect(try await text(session.streamResponse(to: "Ciao").events) == "Bye")
        let expected = [
            ChatMessage(.system, "Be kind."), ChatMessage(.user, "Hi"), ChatMessage(.assistant, "Hello"),
            ChatMessage(.user, "Ciao"), ChatMessage(.assistant, "Bye"),
        ]
        #expect(session.transcript == expected)
        #expect(await engine.requests == [Array(expected[..<2]), Array(expected[..<4])])
    }

    @Test func thinkingBelongsToItsAnswer() async throws {
        let engine = ScriptedEngine([
            [.truncated(2), .thinking("hm"), .text("ok"), .finish(.endOfGeneration)],
            [.text("so"), .finish(.endOfGeneration)],
            [.thinking("only thought"), .finish(.maximumNewTokens)],
        ])
        let session = LanguageModelSession(model: engine)
        var events: [GenerationEvent] = []
        for try await event in session.streamResponse(to: "a").events { events.append(event) }
        #expect(events.prefix(3) == [.truncated(dropped: 2), .thinking("hm"), .text("ok")])
        _ = try await text(session.streamResponse(to: "b").events)
        let said = [
            ChatMessage(.user, "a"), ChatMessage(.assistant, "ok", thinking: "hm"), ChatMessage(.user, "b"),
            ChatMessage(.assistant, "so"),
        ]
        #expect(await engine.requests.last == Array(said.prefix(3)))
        // A turn with only thinking has no answer.
        _ = try await text(session.streamResponse(to: "c").events)
        #expect(session.transcript == said)
    }

    @Test func addsNoMessagesWithoutInstructionsAndTools() async throws {
        let engine = ScriptedEngine([[.text("ok"), .finish(.endOfGeneration)]])
        let history = [ChatMessage(.user, "a"), ChatMessage(.assistant, "b")]
        let session = LanguageModelSession(model: engine, transcript: history)
        _ = try await text(session.streamResponse(to: "c").events)
        #expect(await engine.requests == [history + [ChatMessage(.user, "c")]])
    }

    @Test func knowsTheAnswerBeforeTheStreamSaysFinish() async throws {
        let session = LanguageModelSession(model: ScriptedEngine([[.text("ok"), .finish(.timedOut)]]))
        for try await event in session.streamResponse(to: "a").events {
            guard case .finish(let summary) = event else { continue }
            #expect(summary.reason == .timedOut)
            #expect(session.transcript == [ChatMessage(.user, "a"), ChatMessage(.assistant, "ok")])
        }
    }

    @Test func answersInOrder() async throws {
        let engine = ScriptedEngine([
            [.text("1"), .finish(.endOfGeneration)], [.text("2"), .finish(.endOfGeneration)],
        ])
        let session = LanguageModelSession(model: engine)
        let first = session.streamResponse(to: "a").events
        let second = session.streamResponse(to: "b").events
        #expect(try await [text(first), text(second)] == ["1", "2"])
        #expect(await engine.requests.map { $0.map(\.content) } == [["a"], ["a", "1", "b"]])
    }

    @Test func forgetsATurnThatFailed() async throws {
        let failure = LLMError(.generateFailed, "it broke")
        let engine = ScriptedEngine([
            [.fail(failure)], [.text("half"), .fail(failure)], [.text("ok"), .finish(.endOfGeneration)],
        ])
        let session = LanguageModelSession(model: engine)
        await #expect(throws: LLMError.self) { try await text(session.streamResponse(to: "a").events) }
        #expect(session.transcript.isEmpty)
        await #expect(throws: LLMError.self) { try await text(session.streamResponse(to: "b").events) }
        #expect(session.transcript == [ChatMessage(.user, "b"), ChatMessage(.assistant, "half")])
        _ = try await text(session.streamResponse(to: "c").events)
        #expect(await engine.requests.last?.count == 3)
    }

    @Test(arguments: [["so ", "far"], []])
    func keepsTheTextBeforeACancellation(pieces: [String]) async throws {
        let engine = ScriptedEngine([
            pieces.map { .text($0) } + [.waitForCancellation], [.text("ok"), .finish(.endOfGeneration)],
        ])
        let session = LanguageModelSession(model: engine)
        let task = Task { try await text(session.streamResponse(to: "a").events) }
        await engine.stalled()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // The next turn begins after the cancelled one has been stored.
        #expect(try await text(session.streamResponse(to: "b").events) == "ok")
        let said = pieces.isEmpty ? [] : [ChatMessage(.user, "a"), ChatMessage(.assistant, "so far")]
        #expect(await engine.requests.last == said + [ChatMessage(.user, "b")])
    }

    @Test func isCancelledByReleasingTheStream() async throws {
        let engine = ScriptedEngine([
            [.text("one"), .waitForCancellation], [.text("ok"), .finish(.endOfGeneration)],
        ])
        let session = LanguageModelSession(model: engine)
        for try await _ in session.streamResponse(to: "a").events { break }
        #expect(try await text(session.streamResponse(to: "b").events) == "ok")
        #expect(session.transcript.count == 4)
    }

    @Test func givesTheWholeAnswer() async throws {
        let engine = ScriptedEngine([[.thinking("hm"), .text("Hel"), .text("lo"), .finish(.stopString)]])
        let session = LanguageModelSession(model: engine)
        let response = try await session.respond(to: "Hi")
        #expect(response.content == "Hello")
        #expect(response.thinking == "hm")
        #expect(response.summary.reason == .stopString)
        await #expect(throws: LLMError.self) { try await session.respond(to: "and?") }
    }

    @Test func snapshotsCombineTheEvents() async throws {
        let script: [ScriptedEngine.Step] = [
            .truncated(3), .thinking("h"), .thinking("m"), .text("Hel"), .text("lo"), .finish(.endOfGeneration),
        ]
        let session = LanguageModelSession(model: ScriptedEngine([script]))
        var snapshots: [LanguageModelSession.ResponseStream.Snapshot] = []
        for try await snapshot in session.streamResponse(to: "Hi") { snapshots.append(snapshot) }
        #expect(snapshots.map(\.content) == ["", "", "", "Hel", "Hello", "Hello"])
        #expect(snapshots.map(\.thinking) == ["", "h", "hm", "hm", "hm", "hm"])
        #expect(snapshots.allSatisfy { $0.droppedMessages == 3 })
        #expect(snapshots.map { $0.summary?.reason } == [nil, nil, nil, nil, nil, .endOfGeneration])
    }

    /// A view may read again while it is notified, on any thread.
    @Test func observersAreToldAfterTheChange() async throws {
        let engine = ScriptedEngine([[.waitForCancellation, .text("ok"), .finish(.endOfGeneration)]])
        let session = LanguageModelSession(model: engine)
        let seen = Locked<[String]>([])
        func observe() {
            withObservationTracking {
                _ = (session.isResponding, session.transcript)
            } onChange: {
                let texts = session.transcript.map(\.content).joined(separator: ", ")
                seen.withLock { $0.append("\(session.isResponding): \(texts)") }
            }
        }
        observe()
        let answer = Task { try await session.respond(to: "a") }
        await engine.stalled()
        observe()
        await engine.goOn()
        _ = try await answer.value
        #expect(seen.withLock { $0 } == ["true: a", "false: a, ok"])
    }

    @Test func respondsUntilTheLastAnswerIsThere() async throws {
        let engine = ScriptedEngine([[.waitForCancellation], [.text("ok"), .finish(.endOfGeneration)]])
        let session = LanguageModelSession(model: engine)
        #expect(!session.isResponding)
        let changes = Locked(0)
        withObservationTracking {
            _ = session.isResponding
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        let first = Task { try await session.respond(to: "a") }
        await engine.stalled()
        #expect(session.isResponding)
        #expect(changes.withLock { $0 } == 1)
        let second = session.streamResponse(to: "b")
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        for try await snapshot in second where snapshot.summary != nil { #expect(!session.isResponding) }
    }

    @Test func preparesTheKnownPart() async throws {
        let engine = ScriptedEngine([
            [.text("x"), .waitForCancellation], [.text("ok"), .finish(.endOfGeneration)],
        ])
        let session = LanguageModelSession(model: engine, instructions: "Be kind.")
        session.prewarm(promptPrefix: "Is ")
        await engine.stalled()
        // A turn runs before further preparations.
        session.prewarm(promptPrefix: "Is it?")
        #expect(!session.isResponding)
        #expect(try await session.respond(to: "Is it?").content == "ok")
        let known = ChatMessage(.system, "Be kind.")
        #expect(await engine.preparations.count == 1)
        #expect(await engine.requests == [[known, ChatMessage(.user, "Is ")], [known, ChatMessage(.user, "Is it?")]])
        #expect(session.transcript.map(\.content) == ["Be kind.", "Is it?", "ok"])
    }

    /// A prefix that is set during another preparation is prepared next, and only the last one counts.
    @Test func preparesTheLastPrefix() async throws {
        let end: [ScriptedEngine.Step] = [.finish(.maximumNewTokens)]
        let engine = ScriptedEngine([[.waitForCancellation] + end, [.waitForCancellation] + end, end])
        let session = LanguageModelSession(model: engine)
        session.prewarm()
        await engine.stalled()
        for prefix in ["W", "Wh", "Why"] { session.prewarm(promptPrefix: prefix) }
        await engine.goOn()
        await engine.stalled(times: 2)
        // A prefix that is already prepared is not prepared again.
        for prefix in ["Who", "Why"] { session.prewarm(promptPrefix: prefix) }
        #expect(await engine.requests == [[ChatMessage(.user, "")], [ChatMessage(.user, "Why")]])
        #expect(await engine.preparations.count == 2)
        await engine.goOn()
        try await session.respond(to: "Why?")
        #expect(await engine.preparations.count == 2)
        #expect(await engine.requests.count == 3)
    }

    @Test func aConversationCanBeEncoded() async throws {
        let engine = ScriptedEngine([
            [.text("1"), .finish(.endOfGeneration)], [.text("2"), .finish(.endOfGeneration)],
        ])
        let session = LanguageModelSession(model: engine, instructions: "Count.")
        try await session.respond(to: "a")
        let saved = try JSONEncoder().encode(session.transcript)
        let later = LanguageModelSession(
            model: engine, transcript: try JSONDecoder().decode([ChatMessage].self, from: saved))
        try await later.respond(to: "b")
        #expect(later.transcript.map(\.content) == ["Count.", "a", "1", "b", "2"])
    }

    /// An engine without preparation, such as one in the cloud, gets no request for an answer instead.
    @Test func preparingAsksNoEngineForAnAnswer() async throws {
        struct Remote: InferenceEngine {
            let asked = Locked(0)
            let modelInformation = ModelInformation(description: "remote", contextLength: 1000)
            let capabilities: EngineCapabilities = []

            func generate(
                _ messages: [ChatMessage], options: GenerationOptions,
                onEvent: @escaping @Sendable (GenerationEvent) -> Void
            ) async throws -> GenerationSummary {
                asked.withLock { $0 += 1 }
                throw LLMError(.rateLimited, "too many requests")
            }
        }
        let engine = Remote()
        #expect(engine.tokens == nil)
        try await engine.reader.prepare([ChatMessage(.user, "Why")], options: GenerationOptions())
        #expect(engine.asked.withLock { $0 } == 0)
        let session = LanguageModelSession(model: engine)
        session.prewarm(promptPrefix: "Why")
        // The turn waits for the preparation.
        let error = await #expect(throws: LLMError.self) { try await session.respond(to: "Why?") }
        #expect(error?.code == .rateLimited)
        #expect(engine.asked.withLock { $0 } == 1)
        let missing = await #expect(throws: LLMError.self) { try await engine.reader.embed(["a"]) }
        #expect(missing?.code == .engineMissing)
    }

    @Test func finishReasonsAreOpen() throws {
        let reason = try JSONDecoder().decode(FinishReason.self, from: Data(#""tomorrow""#.utf8))
        #expect(reason.rawValue == "tomorrow" && !reason.isComplete)
        #expect(try JSONEncoder().encode(FinishReason.maximumNewTokens) == Data(#""length""#.utf8))
        #expect(FinishReason.toolCalls.isComplete && !FinishReason.contentFilter.isComplete)
    }

    @Test func theQuestionIsInTheTranscriptAtOnce() async throws {
        let engine = ScriptedEngine([
            [.waitForCancellation], [.text("two"), .finish(.endOfGeneration)], [.fail(LLMError(.busy, "no"))],
        ])
        let session = LanguageModelSession(model: engine)
        let first = Task { try await session.respond(to: "a") }
        await engine.stalled()
        #expect(session.transcript == [ChatMessage(.user, "a")])
        let id = try #require(session.transcript.first?.id)
        let second = session.streamResponse(to: "b")
        #expect(session.transcript.count == 1, "its turn has not begun")
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        _ = try await second.collect()
        #expect(session.transcript == [ChatMessage(.user, "b"), ChatMessage(.assistant, "two")])
        #expect(session.transcript.first?.id != id)
        let third = session.streamResponse(to: "c")
        #expect(session.transcript.last == ChatMessage(.user, "c"))
        await #expect(throws: LLMError.self) { _ = try await third.collect() }
        #expect(session.transcript.count == 2)
    }

    @Test func messagesOfEarlierVersionsAreRead() throws {
        let old = Data(#"[{"role": "user", "content": "a"}]"#.utf8)
        let messages = try JSONDecoder().decode([ChatMessage].self, from: old)
        #expect(messages == [ChatMessage(.user, "a")] && !messages[0].id.isEmpty)
        let again = try JSONDecoder().decode([ChatMessage].self, from: JSONEncoder().encode(messages))
        #expect(again.map(\.id) == messages.map(\.id))
    }
}
