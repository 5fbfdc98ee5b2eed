#if Llama
    import HearthBase
    import HearthInference
    import HearthLlama
    import HearthTestSupport
    import Testing

    extension RealModel {
        @Suite struct Cancellation {
            /// Long enough that a chunk of it takes a good part of a second.
            static let long = [
                ChatMessage(.user, String(repeating: "One two three four five six seven eight. ", count: 80))
            ]

            private func stillAnswers(_ engine: LlamaActor) async throws {
                let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
                #expect(answer.text.contains("Paris"))
            }

            @Test func endsWithinOneChunkOfThePrompt() async throws {
                let engine = try await SharedEngine.engine
                try await stillAnswers(engine)
                for try await event in engine.generate(Self.long, options: .greedy()) {
                    if case .phase(.prefill) = event { break }
                }
                // What the abandoned prompt left behind is at most the chunk that was under way.
                let usage = try #require(
                    try await Answer(engine.generate(Self.long, options: .greedy(maximumNewTokens: 1))).summary
                ).usage
                #expect(usage.promptTokens > 700)
                #expect(usage.cachedTokens <= 512 + 32)
                try await stillAnswers(engine)
            }

            @Test func endsBetweenTokens() async throws {
                let engine = try await SharedEngine.engine
                let story = [ChatMessage(.user, "Write a very long story about a fox.")]
                var pieces = 0
                for try await event in engine.generate(story, options: .greedy()) {
                    if case .text = event { pieces += 1 }
                    if pieces == 3 { break }
                }
                try await stillAnswers(engine)
                let again = try await Answer(engine.generate(story, options: .greedy(maximumNewTokens: 12)))
                let fresh = try await Answer(engine.generate(story, options: .greedy(maximumNewTokens: 12)))
                #expect(again.text == fresh.text)
            }

            @Test func ofTheTaskEndsTheStreamWithoutSummary() async throws {
                let engine = try await SharedEngine.engine
                let (began, source) = AsyncStream<Void>.makeStream()
                let task = Task {
                    var sawFinish = false
                    for try await event in engine.generate(Self.long, options: .greedy()) {
                        source.yield()
                        if case .finish = event { sawFinish = true }
                    }
                    return sawFinish
                }
                for await _ in began { break }
                task.cancel()
                #expect(try await task.value == false)
                try await stillAnswers(engine)
            }

            @Test func fromElsewhereThrows() async throws {
                let engine = try await SharedEngine.engine
                await #expect(throws: CancellationError.self) {
                    for try await event in engine.generate(Self.long, options: .greedy()) {
                        if case .phase(.prefill) = event { engine.stop() }
                    }
                }
                try await stillAnswers(engine)
            }

            @Test func ofAWaitingGenerationLeavesTheOthers() async throws {
                let engine = try await SharedEngine.engine
                let first = engine.generate(capitalOfFrance, options: .greedy())
                do { _ = engine.generate(Self.long, options: .greedy()) }
                let last = engine.generate(capitalOfFrance, options: .greedy())
                #expect(try await Answer(first).text.contains("Paris"))
                #expect(try await Answer(last).text.contains("Paris"))
            }

            @Test func keepsWhatWasSaidInTheConversation() async throws {
                let chat = ChatSession(engine: try await SharedEngine.engine)
                var said = ""
                for try await event in chat.send("Write a very long story about a fox.", options: .greedy()) {
                    if case .text(let piece) = event { said += piece }
                    if said.count > 20 { break }
                }
                let next = try await Answer(chat.send("Thank you.", options: .greedy(maximumNewTokens: 4)))
                let messages = await chat.messages
                #expect(messages.map(\.role) == [.user, .assistant, .user, .assistant])
                #expect(messages[1].content.hasPrefix(said))
                #expect(try #require(next.summary).usage.cachedTokens > 30)
            }
        }
    }
#endif
