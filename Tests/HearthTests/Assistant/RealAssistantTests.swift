#if Llama
    import Foundation
    import Hearth
    import HearthAssistant
    import HearthBase
    import HearthInference
    import HearthLlama
    import HearthTestSupport
    import Testing

    /// The default model as an assistant: forced blocks, and reused tokens.
    @Suite(.serialized, .timeLimit(.minutes(60))) struct RealAssistantTests {
        private static let questions = [
            "Remind me tomorrow at nine to call Anna", "Zahnarzt am Freitag um 15 Uhr", "Écris une note sur le jardin",
            "¿Cuál es el teléfono de Marta?", "I went running for 5 km", "What is new about tides?", "明日の会議を追加して",
            "Напомни купить молоко", "List everything for next week", "Lunch with \"Ben\" \\ at noon, {weird} [input]",
        ]

        /// Every forced block closes, is found whole, and decodes: 200 in the full extent.
        @Test func forcedBlocksAreValid() async throws {
            let folder = try TemporaryFolder()
            let registry = ActionRegistry.standard(
                calendar: VdirCalendarStore(home: folder.path), reminders: VdirReminderStore(home: folder.path),
                notes: SQLiteNoteStore(try await AssistantDatabase.open(home: nil)),
                contacts: VdirContactStore(home: folder.path),
                habits: SQLiteHabitStore(try await AssistantDatabase.open(home: nil)), searchesWeb: true)
            #expect(registry.tags == ActionTag.order)
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 2048))
            let each = TestExtent.isFull ? 34 : 2
            for tag in ActionTag.order {
                let block = try #require(registry.constraint.blocks.first { $0.opening == tag.opening })
                for number in 0..<each {
                    var options = GenerationOptions(maximumNewTokens: 320)
                    options.sampling.temperature = number % 2 == 0 ? 0.35 : 1
                    options.sampling.seed = UInt32(number)
                    options.constraint = .forced(block)
                    let text = Locked("")
                    let messages = [
                        ChatMessage(.system, registry.promptLines.joined(separator: "\n")),
                        ChatMessage(.user, Self.questions[number % Self.questions.count]),
                    ]
                    let summary = try await engine.generate(messages, options: options) { event in
                        if case .text(let piece) = event { text.withLock { $0 += piece } }
                    }
                    let answer = text.withLock { $0 }
                    #expect(summary.reason == .endOfGeneration, "\(tag) \(number): \(answer)")
                    #expect(summary.usage.generatedTokens <= 256, "\(tag) \(number): \(answer)")
                    var scanner = BlockScanner(tags: registry.tags)
                    let shown = scanner.append(answer)
                    let (rest, blocks) = scanner.finish()
                    #expect((shown + rest).isEmpty && blocks.count == 1, "\(tag) \(number): \(answer)")
                    let found = try #require(blocks.first)
                    #expect(found.tag == tag && found.isComplete)
                    let action = try #require(registry.action(tag))
                    #expect(throws: Never.self, "\(tag) \(number): \(found.payload)") {
                        try Self.decode(action, found.payload)
                    }
                }
            }
            await engine.unload()
        }

        private static func decode<Action: AssistantAction>(_ action: Action, _ payload: String) throws {
            _ = try JSONDecoder().decode(Action.Payload.self, from: Data(payload.utf8))
        }

        /// On each turn that drops nothing, the cached tokens are all but the new message with its tail.
        @Test func eachTurnComputesOnlyItsOwnMessage() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 4096))
            var settings = AssistantSettings()
            settings.chat.maximumNewTokens = 24
            settings.chat.showThinking = false
            let folder = try TemporaryFolder()
            let assistant = try await Assistant(
                home: folder.path, engine: engine, settings: settings, approval: DeclineAll())
            let session = try await assistant.session()
            let questions = ["What is a harbour?", "And a lighthouse?", "Name three rivers.", "Thanks, that is all."]
            for (turn, question) in questions.enumerated() {
                var answer: AssistantMessage?
                for await event in await session.send(question) {
                    if case .finished(let message) = event { answer = message }
                }
                let usage = try #require(answer?.facts?.usage)
                guard turn > 0 else { continue }
                let sent = try #require(await session.messages.last { $0.role == .user })
                let own = try await engine.tokenize(sent.rawContent ?? sent.content, controlTokens: .asText).count
                // The marks of the template around the message and before the answer.
                #expect(usage.promptTokens - usage.cachedTokens <= own + 16, "turn \(turn): \(usage), own \(own)")
            }
            await assistant.close()
            await engine.unload()
        }
    }
#endif
