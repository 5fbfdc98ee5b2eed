import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// The settings of one conversation.
@Suite(.timeLimit(.minutes(5))) struct OwnSettingsTests {
    private func said(_ text: String) -> [ScriptedEngine.Step] { [.text(text), .finish(.endOfGeneration)] }

    private var chosen: ConversationSettings {
        var settings = ConversationSettings()
        (settings.temperature, settings.maximumNewTokens, settings.thinks) = (0.9, 40, false)
        (settings.instructions, settings.model, settings.route) = ("Answer in rhymes.", "tiny", .local)
        return settings
    }

    @Test func theyCountFromTheNextQuestionOnAndCanBeReset() async throws {
        let chat = ChatFixture([[.text("One"), .waitForCancellation], said("Two"), said("Three")])
        let stream = await chat.session.send("First")
        await chat.engine.stalled()
        await chat.session.set(chosen)
        await chat.session.stop()
        await ChatFixture.collect(stream)
        await chat.send("Second")
        await chat.session.set(ConversationSettings())
        await chat.send("Third")
        let options = await chat.engine.options
        #expect(
            options.map(\.maximumNewTokens) == [GenerationOptions.windowLength, 40, GenerationOptions.windowLength])
        #expect(options.map(\.sampling.temperature) == [0.35, 0.9, 0.35])
        #expect(options.map(\.thinking.isEnabled) == [true, false, true])
        let systems = await chat.engine.requests.map { $0.first?.content ?? "" }
        #expect(systems.map { $0.hasSuffix("\n\nAnswer in rhymes.") } == [false, true, false])
        // The user's words are no part of the instructions that are computed once for all conversations.
        #expect(options[1].ownInstructions < systems[1].utf8.count - "Answer in rhymes.".utf8.count)
    }

    @Test func theyAreKeptWithTheFirstMessage() async throws {
        let database = try await AssistantDatabase.open(home: nil)
        let store = SQLiteConversationStore(database)
        let chat = ChatFixture([said("One")], store: store)
        await chat.session.set(chosen)
        let before = try await store.conversations(limit: 5, offset: 0)
        #expect(before.isEmpty)
        await chat.send("First question")
        let kept = try #require(try await store.conversation("c"))
        #expect(kept.settings == chosen && kept.title == "First question")
        await chat.session.set(ConversationSettings())
        #expect(try await store.conversation("c")?.settings == nil)
        await database.close()
    }

    @Test func plainIsTheConversationAloneAndAssistantAllInstructions() async throws {
        var settings = ConversationSettings()
        settings.form = .plain
        let chat = ChatFixture([said("One"), said("Two"), said("Three"), said("Four")], parameters: 100_000_000)
        await chat.session.set(settings)
        await chat.send("First")
        settings.instructions = "Be brief."
        await chat.session.set(settings)
        await chat.send("Second")
        settings.form = .assistant
        await chat.session.set(settings)
        await chat.send("Third")
        let requests = await chat.engine.requests
        #expect(requests[0].map(\.content) == ["First"])
        #expect(requests[1].first?.content == "Be brief.")
        #expect(requests[2].first?.content.contains("NOTE_ACTION") == true)
        #expect(requests[2].first?.content.hasSuffix("Be brief.") == true)
    }

    @Test(arguments: [
        ("temperature", #"{"temperature": -0.1}"#), ("temperature", #"{"temperature": 5.1}"#),
        ("maximumNewTokens", #"{"maximumNewTokens": 0}"#), ("maximumNewTokens", #"{"maximumNewTokens": 1048577}"#),
    ])
    func valuesThatCannotBeUsedNameTheirField(_ field: String, _ text: String) throws {
        let settings = try JSON.value(ConversationSettings.self, Data(text.utf8))
        #expect(settings.flaw?.field == field)
        // A database that another program wrote changes nothing.
        #expect(ConversationSettings(column: text) == nil)
    }

    @Test func longInstructionsAreRefused() {
        var settings = ConversationSettings()
        settings.instructions = String(repeating: "a", count: ConversationSettings.instructionsLimit)
        #expect(settings.flaw == nil)
        settings.instructions? += "a"
        #expect(settings.flaw?.field == "instructions")
    }

    /// A switch of branches keeps the title, in the list too.
    @Test func titlesSurvive() async throws {
        let database = try await AssistantDatabase.open(home: nil)
        let store = SQLiteConversationStore(database)
        let chat = ChatFixture([said("One"), said("Two")], store: store)
        await chat.send("First question")
        let first = try #require(await chat.session.messages.first)
        await ChatFixture.collect(chat.session.edit(first.id, to: "Other question"))
        await chat.session.show(first.id)
        #expect(await chat.session.messages.map(\.content) == ["First question", "One"])
        #expect(try await store.conversation("c")?.title == "First question")
        #expect(await chat.session.summary.title == "First question")
        await chat.session.rename("Named")
        await chat.session.show(first.id)
        #expect(try await store.conversation("c")?.title == "Named")
        await chat.session.rename("")
        #expect(try await store.conversation("c")?.title == "First question")
        await database.close()
    }
}
