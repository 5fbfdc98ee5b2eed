import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite(.timeLimit(.minutes(1))) struct TypedPromptTests {
    @Test func onlyWholeWordsAreReadAndEachOnce() {
        let steps: [(typed: String, expected: String?)] = [
            ("", ""), ("W", nil), ("Why", nil), ("Why ", "Why "), ("Why d", nil), ("Why does it", "Why does "),
            ("Why does\nit", "Why does\n"), ("Who is it", "Who is "), ("", ""),
        ]
        var prompt = TypedPrompt()
        for step in steps {
            prompt.type(step.typed)
            #expect(prompt.expected == step.expected, "\(step.typed)")
            if let expected = step.expected { #expect(prompt.take(expected) && !prompt.take(expected)) }
        }
        prompt.type("Why does it")
        prompt.clear()
        #expect(prompt.expected == nil && !prompt.take("Why does "))
    }

    private static let prepared: [ScriptedEngine.Step] = [.finish(.maximumNewTokens)]

    @Test func theInstructionsAreReadFirstThenTheQuestionAfterAPause() async throws {
        let fixture = ChatFixture([Self.prepared, Self.prepared, [.text("Yes."), .finish(.endOfGeneration)]])
        await fixture.session.prewarm()
        while await fixture.engine.preparations.count < 1 { await Task.yield() }
        for text in ["Is ", "Is it ", "Is it tr"] { await fixture.session.prewarm(promptPrefix: text) }
        await fixture.clock.sleepers(atLeast: 1)
        #expect(await fixture.engine.preparations.count == 1)
        // The first pause ends for a text that has changed meanwhile.
        while await fixture.engine.preparations.count < 2 {
            fixture.clock.advance(by: ChatSession.typingPause)
            await Task.yield()
        }
        let prepared = await fixture.engine.preparations
        #expect(prepared.map { $0.last?.content } == ["", "Is it "])
        #expect(prepared.allSatisfy { $0.first?.role == .system && $0.first?.content == prepared[0].first?.content })
        await fixture.send("Is it true?")
        let requests = await fixture.engine.requests
        // The answer's prompt goes on from what was read.
        #expect(requests.last?.first?.content == prepared[0].first?.content)
        #expect(requests.last?.last?.content.hasPrefix("Is it true?") == true)
        #expect(await fixture.engine.options.allSatisfy { $0.ownInstructions > 0 })
    }

    @Test func nothingIsReadWhileAnAnswerRunsOrAfterTheEnd() async throws {
        let fixture = ChatFixture([[.waitForCancellation, .finish(.endOfGeneration)]])
        let stream = await fixture.session.send("Why?")
        await fixture.engine.stalled()
        await fixture.session.prewarm(promptPrefix: "And what ")
        #expect(await fixture.session.typed.expected == nil)
        await fixture.engine.goOn()
        await ChatFixture.collect(stream)
        await fixture.session.prewarm(promptPrefix: "And what ")
        await fixture.clock.sleepers(atLeast: 1)
        await fixture.session.end()
        fixture.clock.advance(by: ChatSession.typingPause)
        #expect(await fixture.session.typed.expected == nil)
        #expect(await fixture.engine.preparations.isEmpty)
    }

    /// Facts about the user stand behind the part of the instructions that is kept.
    @Test func noFactIsPartOfTheKeptInstructions() async throws {
        struct Facts: PromptSource {
            func sections(at moment: PromptMoment) async throws -> [PromptSection] {
                [PromptSection(name: "facts", text: "I am Anna.", priority: 70, place: .instructions)]
            }
        }
        let fixture = ChatFixture([[.text("Yes."), .finish(.endOfGeneration)]], sources: [Facts()])
        await fixture.send("Why?")
        let system = try #require(await fixture.engine.requests.first?.first?.content)
        let count = try #require(await fixture.engine.options.first?.ownInstructions)
        let own = try #require(String(bytes: system.utf8.prefix(count), encoding: .utf8))
        #expect(system.contains("Anna") && !own.contains("Anna") && own.hasPrefix(AssistantTexts().identity))
        #expect(system.utf8.dropFirst(count).starts(with: "\n\n<facts".utf8))
    }

    @Test func ownInstructionsOfAPersonAndPrivateOnesAreNotKept() async throws {
        var settings = ChatSettings()
        settings.systemPrompt = "You are my friend."
        let own = ChatFixture([[.text("Yes."), .finish(.endOfGeneration)]], settings: settings)
        await own.send("Why?")
        #expect(await own.engine.options.map(\.ownInstructions) == [0])
        let base = ChatFixture([[.text("Yes."), .finish(.endOfGeneration)]])
        let closed = ChatSession(
            id: "p", parts: await base.session.parts, engine: ChatEngine(base.engine, isPrivate: true), isPrivate: true)
        await ChatFixture.collect(closed.send("Why?"))
        #expect(await base.engine.options.map(\.ownInstructions) == [0])
    }
}
