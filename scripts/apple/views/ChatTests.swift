// A chat from the question to the answer, its actions, and how answers end.
import Foundation
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import HearthUI
import SwiftUI
import Testing

@testable import HearthAssistant

/// A chat over a scripted engine, whose actions ask through its cards.
@MainActor private struct Talk {
    let engine: ScriptedEngine
    let approvals = ChatApprovals()
    let notes = MemoryNotes()
    let chat: ChatViewModel

    init(_ answers: [ScriptedEngine.Step]...) {
        engine = ScriptedEngine(answers)
        let runner = ActionRunner(
            registry: .standard(AssistantStores(notes: notes)), stores: [.notes: notes], journal: MemoryActionJournal(),
            approval: approvals, time: ManualClock().time)
        chat = ChatViewModel(
            ChatSession(
                id: "c", parts: ChatParts(store: MemoryConversationStore(), runner: runner, time: ManualClock().time),
                engine: ChatEngine(engine)))
    }

    func ask(_ question: String, _ tree: ViewTree, _ look: Look) {
        #expect(tree.write(question))
        #expect(tree.tap(look["composer.send"]))
    }
}

@MainActor @Suite(.timeLimit(.minutes(1))) struct ChatTests {
    private let note = #"On it. [NOTE_ACTION:{"action":"create","title":"Spare key","body":"At Anna’s"}]"#

    @Test(arguments: Look.all) func aQuestionIsAskedAndAnswered(_ look: Look) async throws {
        let talk = Talk([
            .thinking("Noon, I guess."), .waitForCancellation, .text("It is noon."), .finish(.endOfGeneration),
        ])
        let tree = look.show(ChatView(talk.chat))
        await tree.runTasks()
        #expect(tree.nodes("title").map(\.text) == [look["chat.untitled"]])
        #expect(tree.nodes("field").map(\.name) == [look["composer.label"]])
        #expect(tree.button(look["composer.send"])?.isDisabled == true)
        look.expectGood(tree)
        #expect(tree.write("   ") && tree.button(look["composer.send"])?.isDisabled == true)
        talk.ask(" The time? ", tree, look)
        #expect(tree.nodes("field").first?.value == "")

        await tree.shows(look["chat.thinking"])
        await talk.engine.stalled()
        await tree.shows { $0.button(look["chat.thinking"]) != nil && talk.chat.messages.last?.thinkingContent != "" }
        #expect(tree.button(look["composer.send"]) == nil && tree.button(look["composer.stop"]) != nil)
        let thoughts = try #require(tree.button(look["chat.thinking"]))
        #expect(thoughts.value == "collapsed" && !tree.texts.contains("Noon, I guess."))
        #expect(tree.tap(look["chat.thinking"]) && tree.texts.contains("Noon, I guess."))
        #expect(tree.nodes("progress").count == 1)
        look.expectGood(tree)

        await talk.engine.goOn()
        await tree.shows("It is noon.")
        await talk.chat.finished()
        tree.render()
        // The thoughts stay open until they are folded.
        #expect(tree.button(look["chat.thoughts"])?.value == "expanded" && tree.texts.contains("Noon, I guess."))
        #expect(tree.tap(look["chat.thoughts"]) && !tree.texts.contains("Noon, I guess."))
        #expect(tree.spoken.contains("\(look["chat.you"]): The time?"))
        #expect(tree.spoken.contains("\(look["chat.assistant"]): It is noon."))
        #expect(tree.texts.contains(look["route.local"]) && tree.nodes("progress").isEmpty)
        #expect(tree.nodes("title").map(\.text) == ["The time?"])
        look.expectGood(tree)
    }

    @Test(arguments: Look.all) func stopKeepsWhatCame(_ look: Look) async {
        let talk = Talk([.text("Half"), .waitForCancellation], [.text("Whole"), .finish(.endOfGeneration)])
        let tree = look.show(ChatView(talk.chat))
        #expect(tree.write("Go on"))
        tree.submit()
        await talk.engine.stalled()
        await tree.shows("Half")
        #expect(tree.texts.contains(look["phase.chat.decode"]) || tree.texts.contains(look["phase.chat.waiting"]))
        look.expectGood(tree)
        #expect(tree.tap(look["composer.stop"]))
        await talk.chat.finished()
        await tree.shows(look["ending.stopped"])
        #expect(tree.texts.contains("Half") && tree.layout(of: look["ending.stopped"], look["retry"]) == look.row)
        look.expectGood(tree)
        #expect(tree.tap(look["retry"]))
        await talk.chat.finished()
        await tree.shows("Whole")
        #expect(!tree.texts.contains("Half") && tree.button(look["retry"]) == nil)
    }

    @Test(arguments: Look.all) func anActionIsApprovedUndoneAndDoneAgain(_ look: Look) async {
        let talk = Talk([.text(note), .finish(.endOfGeneration)])
        let tree = look.show(ChatView(talk.chat, approvals: talk.approvals))
        talk.ask("Note it", tree, look)
        await tree.shows(look["card.state.waiting"])
        await tree.shows { $0.button(look["card.approve"]) != nil }
        #expect(tree.texts.contains("On it.") && tree.texts.contains("Spare key"))
        #expect(await talk.notes.records.applied == 0)
        look.expectGood(tree)
        #expect(tree.tap(look["card.approve"]))
        await talk.chat.finished()
        await tree.shows(look["card.state.done"])
        #expect(await talk.notes.records.records.count == 1)
        #expect(tree.tap(look["undo"]))
        await tree.shows(look["card.state.undone"])
        #expect(await talk.notes.records.records.isEmpty)
        #expect(tree.tap(look["card.perform"]))
        // The user's own press is the approval.
        await tree.shows { $0.texts.contains(look["card.state.done"]) || $0.button(look["card.approve"]) != nil }
        if tree.button(look["card.approve"]) != nil { tree.tap(look["card.approve"]) }
        await tree.shows(look["card.state.done"])
        #expect(await talk.notes.records.records.count == 1)
        look.expectGood(tree)
    }

    @Test(arguments: Look.all) func anActionIsDeclined(_ look: Look) async {
        let talk = Talk([.text(note), .finish(.endOfGeneration)])
        let tree = look.show(ChatView(talk.chat, approvals: talk.approvals))
        talk.ask("Note it", tree, look)
        await tree.shows { $0.button(look["card.decline"]) != nil }
        #expect(tree.tap(look["card.decline"]))
        await talk.chat.finished()
        await tree.shows(look["card.state.declined"])
        #expect(await talk.notes.records.applied == 0 && tree.button(look["card.perform"]) != nil)
    }

    @Test(arguments: Look.all) func anUndoThatFailsIsSaid(_ look: Look) async throws {
        let talk = Talk([.text(note), .finish(.endOfGeneration)])
        let tree = look.show(ChatView(talk.chat, approvals: talk.approvals))
        talk.ask("Note it", tree, look)
        await tree.shows { $0.button(look["card.approve"]) != nil }
        tree.tap(look["card.approve"])
        await talk.chat.finished()
        await tree.shows { $0.button(look["undo"]) != nil }
        let id = try #require(await talk.notes.records.records.keys.first)
        await talk.notes.records.overwrite(id, Data("{}".utf8))
        #expect(tree.tap(look["undo"]))
        await tree.shows { !$0.nodes("alert").isEmpty }
        look.expectGood(tree)
        #expect(tree.tap(look["close"]) && tree.nodes("alert").isEmpty)
    }

    @Test(arguments: Look.all) func withoutAModelABannerLeadsToTheModels(_ look: Look) async {
        let talk = Talk([.fail(LLMError(.modelNotLoaded, "no model"))])
        var opened = 0
        let tree = look.show(ChatView(talk.chat) { opened += 1 })
        talk.ask("Hello", tree, look)
        await talk.chat.finished()
        await tree.shows(look["banner.none"])
        #expect(tree.layout(of: look["banner.none"], look["download.model"]) == look.row)
        #expect(tree.texts.contains(look["ending.model-not-loaded"]))
        look.expectGood(tree)
        // The banner and the end of the answer have a button each.
        let buttons = tree.buttons.filter { $0.name == look["download.model"] }
        #expect(buttons.count == 2)
        for button in buttons { button.action?() }
        #expect(opened == 2)
        #expect(tree.tap(look["close"]))
        #expect(!tree.texts.contains(look["banner.none"]) && talk.chat.banner == nil)
    }
}

/// Messages alone, and how answers end.
@MainActor @Suite(.timeLimit(.minutes(1))) struct MessageTests {
    private func answer(_ finish: FinishReason, _ source: RouteSource = .local) -> AssistantMessage {
        var message = AssistantMessage(role: .assistant, content: "Half", date: Date())
        message.facts = AnswerFacts(
            model: "m", source: source, reason: "", finish: finish,
            usage: TokenUsage(promptTokens: 1, cachedTokens: 0, generatedTokens: 1),
            timings: GenerationTimings(firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0))
        return message
    }

    @Test(arguments: Look.all) func aMessageShowsItsParts(_ look: Look) throws {
        var message = answer(.endOfGeneration, .cloud)
        message.notices = ["The picture was left out."]
        message.thinkingContent = "hm"
        message.images = [try ChatImage(TestPictures.jpeg), try ChatImage(TestPictures.progressiveJPEG)]
        let tree = look.show(MessageBubbleView(message))
        #expect(
            tree.texts == [
                look["chat.thoughts"], look["chat.picture", ["number": "1"]], look["chat.picture", ["number": "2"]],
                "Half", "The picture was left out.", look["route.cloud"],
            ])
        look.expectGood(tree)
        let question = look.show(MessageBubbleView(AssistantMessage(role: .user, content: "Why?", date: Date())))
        #expect(question.spoken == ["\(look["chat.you"]): Why?"])
    }

    @Test func aMessageOfCardsAloneHasNoEmptyText() {
        var message = AssistantMessage(role: .assistant, date: Date())
        message.cards = [ActionCard(id: "1", tag: .note, title: "New note", state: .done, payload: "{}", canUndo: true)]
        var undone: [String] = []
        let tree = Look.english.show(
            MessageBubbleView(message) { card in CardActions(undo: { undone.append(card.id) }) })
        #expect(!tree.texts.contains("") && tree.tap("Undo") && undone == ["1"])
    }

    @Test func withoutThoughtsThereIsNoDisclosure() {
        #expect(Look.english.show(ThinkingDisclosure(answer(.endOfGeneration))).root.children.isEmpty)
    }

    /// A finish reason or the code of a failure, the key of its sentence, and the key of the button.
    nonisolated private static let endings: [(FinishReason?, String, RouteSource, String)] = [
        (.maximumNewTokens, "length", .local, "retry"), (.contextFull, "context-full", .local, "retry"),
        (.interrupted, "interrupted", .cloud, "chat.continue-locally"), (.repeating, "repeating", .local, "retry"),
        (.contentFilter, "content-filter", .cloud, "retry"), (nil, "stopped", .local, "retry"),
        (nil, "not-installed", .local, "download.model"), (nil, "model-not-chosen", .local, "ending.choose-model"),
        (nil, "context-window-exceeded", .local, "ending.choose-model"),
        (nil, "not-enough-memory", .local, "retry"), (nil, "rate-limited", .cloud, "retry"),
    ]

    @Test(arguments: Look.all, endings.indices) func anEndingHasItsSentenceAndItsStep(_ look: Look, _ index: Int) async
    {
        let (finish, code, source, key) = Self.endings[index]
        var message = answer(finish ?? .endOfGeneration, source)
        if finish == nil { message.failure = FailureBody(code: code, message: "It ended.") }
        let runner = ActionRunner(registry: ActionRegistry([]), stores: [:], journal: nil, approval: DeclineAll())
        let question = AssistantMessage(.user, "Why?")
        message.parent = question.id
        let chat = ChatViewModel(
            ChatSession(
                id: "c", parts: ChatParts(runner: runner),
                engine: ChatEngine(ScriptedEngine([[.text("ed."), .finish(.endOfGeneration)]])),
                messages: [question, message]))
        var opened = 0
        let tree = look.show(ChatView(chat) { opened += 1 })
        await tree.runTasks()
        let sentence =
            PageWords.of(look.language)["ending.\(code)"] ?? look("It ended.", PageWords.refusals[code] ?? "It ended.")
        #expect(tree.texts.contains(sentence), "\(tree.texts)")
        look.expectGood(tree)
        #expect(tree.tap(look[key]))
        switch key {
        case "retry", "chat.continue-locally":
            await chat.finished()
            #expect(opened == 0 && chat.messages.last?.content.hasSuffix("ed.") == true)
        default: #expect(opened == 1 && !chat.isAnswering)
        }
    }
}
