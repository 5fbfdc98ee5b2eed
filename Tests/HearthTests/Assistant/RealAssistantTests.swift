#if Llama
import Foundation
import Hearth
import HearthBase
import HearthInference
import HearthLlama
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// The default model as an assistant: forced blocks, and reused tokens.
@Suite(.serialized, .timeLimit(.minutes(60))) struct RealAssistantTests {
    private static let questions = [
        "Remind me tomorrow at nine to call Anna", "Zahnarzt am Freitag um 15 Uhr", "Écris une note sur le jardin",
        "¿Cuál es el teléfono de Marta?", "I went running for 5 km", "What is new about tides?", "明日の会議を追加して",
        "Напомни купить молоко", "List everything for next week", "Lunch with \"Ben\" \\ at noon, {weird} [input]",
    ]

    /// The slowest that forced blocks may be, as a share of the rate of free text.
    private static let slowest = 0.85

    /// Tokens and the seconds that computing them took.
    private struct Rate {
        var tokens = 0.0
        var seconds = 0.0

        mutating func add(_ summary: GenerationSummary) {
            // The first token is computed with the prompt.
            let decoded = Double(summary.usage.generatedTokens - 1)
            guard decoded > 0, summary.timings.decodeTokensPerSecond > 0 else { return }
            tokens += decoded
            seconds += decoded / summary.timings.decodeTokensPerSecond
        }

        var value: Double { seconds > 0 ? tokens / seconds : 0 }
    }

    private static func registry(_ folder: TemporaryFolder) async throws -> ActionRegistry {
        ActionRegistry.standard(
            AssistantStores(
                calendar: VdirCalendarStore(home: folder.path), reminders: VdirReminderStore(home: folder.path),
                contacts: VdirContactStore(home: folder.path),
                notes: SQLiteNoteStore(try await AssistantDatabase.open(home: nil)),
                habits: SQLiteHabitStore(try await AssistantDatabase.open(home: nil))), searchesWeb: true)
    }

    /// Every forced block closes, is found whole, and decodes: 204 of them, with the rates of forced and of free
    /// text side by side.
    @Test(.enabled(if: TestExtent.isFull)) func forcedBlocksAreValid() async throws {
        let folder = try TemporaryFolder()
        let registry = try await Self.registry(folder)
        #expect(registry.tags == ActionTag.order)
        let engine = try await LlamaActor.load(
            TestModel.path, configuration: LlamaConfiguration(contextLength: 2048))
        let each = 34
        var (forced, free, valid) = (Rate(), Rate(), 0)
        for tag in ActionTag.order {
            let block = try #require(registry.constraint.blocks.first { $0.opening == tag.opening })
            let action = try #require(registry.action(tag))
            for number in 0..<each {
                var options = GenerationOptions(maximumNewTokens: 320)
                options.sampling.temperature = number % 2 == 0 ? 0.35 : 1
                options.sampling.seed = UInt32(number)
                let messages = [
                    ChatMessage(.system, registry.promptActions.map(\.line).joined(separator: "\n")),
                    ChatMessage(.user, Self.questions[(number + tag.rawValue.count) % Self.questions.count]),
                ]
                options.constraint = .forced(block)
                let (answer, summary) = try await Self.answer(engine, messages, options)
                forced.add(summary)
                #expect(summary.reason == .endOfGeneration, "\(tag) \(number): \(answer)")
                #expect(summary.usage.generatedTokens <= 256, "\(tag) \(number): \(answer)")
                var scanner = BlockScanner(tags: registry.tags)
                let shown = scanner.append(answer)
                let (rest, blocks) = scanner.finish()
                #expect((shown + rest).isEmpty && blocks.count == 1, "\(tag) \(number): \(answer)")
                let found = try #require(blocks.first)
                #expect(found.tag == tag && found.isComplete)
                #expect(throws: Never.self, "\(tag) \(number): \(found.payload)") {
                    try Self.decode(action, found.payload)
                    valid += 1
                }
                // As many tokens of free text behind the same prompt.
                options.constraint = nil
                options.maximumNewTokens = summary.usage.generatedTokens
                free.add(try await Self.answer(engine, messages, options).summary)
            }
        }
        print(
            "forced blocks: \(valid) of \(each * ActionTag.order.count) valid, "
                + String(format: "%.1f tokens/s, free text %.1f tokens/s", forced.value, free.value))
        #expect(forced.value >= Self.slowest * free.value)
        await engine.unload()
    }

    private static func answer(
        _ engine: LlamaActor, _ messages: [ChatMessage], _ options: GenerationOptions
    ) async throws -> (text: String, summary: GenerationSummary) {
        let text = Locked("")
        let summary = try await engine.generate(messages, options: options) { event in
            if case .text(let piece) = event { text.withLock { $0 += piece } }
        }
        return (text.withLock { $0 }, summary)
    }

    private static func decode<Action: AssistantAction>(_ action: Action, _ payload: String) throws {
        _ = try JSONDecoder().decode(Action.Payload.self, from: Data(payload.utf8))
    }

    /// The first message with all six actions takes at most 600 tokens besides the question, so that a small window keeps
    /// room for the conversation.
    @Test func thePromptFitsASmallWindow() async throws {
        let folder = try TemporaryFolder()
        let registry = try await Self.registry(folder)
        let engine = try await LlamaActor.load(
            TestModel.path, configuration: LlamaConfiguration(contextLength: 2048))
        let builder = PromptBuilder(
            actions: registry.promptActions,
            sources: [
                MomentSource(), CalendarSource(VdirCalendarStore(home: folder.path)),
                ReminderSource(VdirReminderStore(home: folder.path)),
            ])
        let moment = PromptMoment(
            now: Date(timeIntervalSince1970: 1_795_500_000),
            timeZone: try #require(TimeZone(identifier: "Europe/Berlin")), locale: Locale(identifier: "de_DE"))
        let prompt = await builder.build(at: moment, history: [], window: 2048, meter: TokenMeter(engine))
        for tag in registry.tags { #expect(prompt.system.contains(tag.opening)) }
        let text = PromptBuilder.question("Hi", results: [], tail: prompt.tail)
        let count = try await engine.count([ChatMessage(.system, prompt.system), ChatMessage(.user, text)])
        print("the prompt of a first message with all actions: \(count) tokens")
        #expect(count <= 600)
        await engine.unload()
    }

    /// The short form has at most 150 tokens, and describes what the question is about, of several actions the first that fit.
    @Test func theShortFormIsShortAndHasTheAction() async throws {
        let folder = try TemporaryFolder()
        let registry = try await Self.registry(folder)
        let engine = try await LlamaActor.load(
            TestModel.path, configuration: LlamaConfiguration(contextLength: 1024))
        let builder = PromptBuilder(
            actions: registry.promptActions,
            sources: [
                MomentSource(), CalendarSource(VdirCalendarStore(home: folder.path)),
                ReminderSource(VdirReminderStore(home: folder.path)),
            ])
        let moment = PromptMoment(
            now: Date(timeIntervalSince1970: 1_795_500_000),
            timeZone: try #require(TimeZone(identifier: "Europe/Berlin")), locale: Locale(identifier: "de_DE"))
        let cases: [(question: String, tags: [ActionTag])] = [
            ("hi", []), ("What is on today?", []), ("Remind me tomorrow at nine to call Anna", [.reminder]),
            ("Lunch with Ben on Friday at noon", [.calendar]), ("Which notes mention the plumber?", [.note]),
            ("What is Anna's number?", [.contactsSearch]), ("Log that I went running", [.habit]),
            ("What is the latest news?", [.webSearch]), ("Erinnere mich morgen an den Termin", [.reminder]),
            ("Trag das Treffen am Freitag in den Kalender ein", [.calendar]),
        ]
        for (question, tags) in cases {
            let prompt = await builder.build(
                .short, of: question, at: moment, history: [], window: 8192, meter: TokenMeter(engine))
            let sent = PromptBuilder.question(question, results: [], tail: prompt.tail)
            let count = try await engine.count([ChatMessage(.system, prompt.system), ChatMessage(.user, sent)])
            // The template without a system message has one of its own.
            let bare = try await engine.count([ChatMessage(.system, ""), ChatMessage(.user, question)])
            print("the short form of \(question): \(count - bare) tokens, \(prompt.tags)")
            #expect(count - bare <= PromptForm.shortTokens, "\(question)")
            #expect(prompt.tags == tags, "\(question)")
        }
        for tag in registry.tags {
            for form in [PromptForm.plain, .short] {
                let prompt = await builder.build(
                    form, of: "x", act: tag, at: moment, history: [], window: 8192, meter: TokenMeter(engine))
                #expect(prompt.tags == [tag] && prompt.tail.contains(tag.opening))
            }
        }
        await engine.unload()
    }

    /// "hi" to the default model: the conversation alone, and an end.
    @Test(arguments: 1...(TestExtent.isFull ? 10 : 3) as ClosedRange<UInt32>) func aGreetingIsAnswered(seed: UInt32)
        async throws
    {
        let engine = try await LlamaActor.load(TestModel.path, configuration: LlamaConfiguration(contextLength: 4096))
        var settings = AssistantSettings()
        settings.chat.generation = GenerationOptions(sampling: SamplingOptions(seed: seed))
        let folder = try TemporaryFolder()
        let assistant = try await Assistant(
            home: folder.path, engine: engine, settings: settings, approval: DeclineAll())
        var answer: AssistantMessage?
        for await event in await (try await assistant.session()).send("hi") {
            if case .finished(let message) = event { answer = message }
        }
        let facts = try #require(answer?.facts)
        #expect(facts.usage.promptTokens <= 40)
        #expect([.endOfGeneration, .repeating].contains(facts.finish))
        #expect(facts.model == "llama 135M Q4_1")
        await assistant.close()
        await engine.unload()
    }

    /// On each turn that drops nothing, the cached tokens are all but the new message with its tail.
    @Test(.enabled(if: TestExtent.isFull)) func eachTurnComputesOnlyItsOwnMessage() async throws {
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
        let rounds = 4
        for turn in 0..<(questions.count * rounds) {
            var answer: AssistantMessage?
            for await event in await session.send(questions[turn % questions.count]) {
                if case .finished(let message) = event { answer = message }
            }
            let usage = try #require(answer?.facts?.usage)
            let sent = try #require(await session.messages.last { $0.role == .user })
            let own = try await engine.tokenize(sent.rawContent ?? sent.content).count
            print("turn \(turn): \(usage.promptTokens) tokens, \(usage.cachedTokens) cached, \(own) in the message")
            guard turn > 0 else { continue }
            // The marks of the template around the message and before the answer.
            #expect(usage.promptTokens - usage.cachedTokens <= own + 16, "turn \(turn): \(usage), own \(own)")
        }
        await assistant.close()
        await engine.unload()
    }
}
#endif
