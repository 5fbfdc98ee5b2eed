import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthDatabase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthCommand

/// A conversation with the assistant in which the model follows a script.
private struct ChatLab {
    let folder: TemporaryFolder
    let output: CaptureSink
    let errors = CaptureSink()
    let engine: ScriptedEngine

    init(_ answers: [String], width: Int? = nil) throws {
        folder = try TemporaryFolder()
        output = CaptureSink(width: width)
        engine = ScriptedEngine(answers.map { [.thinking("hm"), .text($0), .finish(.endOfGeneration)] })
    }

    static let reminder =
        #"I remind you. [REMINDER_ACTION:{"action":"create","title":"Call Anna","due":"2099-11-25T09:00"}]"#

    func context(_ lines: String, isTerminal: Bool = true) -> CommandContext {
        let environment = ["HEARTH_HOME": folder.path("home").string, "TERM": "xterm"]
        return CommandContext(
            environment: environment, console: Console(output: output, errors: errors, environment: environment),
            input: FixedSource(text: lines, isTerminal: isTerminal), interruptions: .timeless, time: .system)
    }

    /// Talks with these lines typed.
    func talk(_ lines: String, act: ActionTag? = nil, approved: Set<ActionTag> = []) async throws {
        let context = context(lines)
        let approval = TerminalApproval()
        let setup = try await AssistantSetup(
            Configuration(), engine: engine, generation: GenerationOptions(), thinks: true, preApproved: approved,
            approval: approval, in: context)
        let chat = AssistantChat(
            context, setup, session: try await setup.session(nil, isPrivate: false),
            reader: PlainLines(context.input, context.console), approval: approval, attachments: Attachments(),
            act: act,
            shares: nil, modelName: { "scripted" },
            findModel: { _ in throw CommandError(.noModel, "there is no other model") }, setPrivate: { _ in })
        try await chat.run()
        await setup.home.database.close()
    }

    func records<Result: Sendable>(_ body: (AssistantHome) async throws -> Result) async throws -> Result {
        try await context("").withAssistantHome(body)
    }

    var reminders: [String] {
        get async throws {
            try await records { try await $0.reminders.reminders(completed: false, limit: 10).map(\.title) }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct AssistantChatTests {
    @Test(arguments: [
        ("y", ["Call Anna"]), ("yes", ["Call Anna"]), ("n", []), ("", []), ("c", ["Call Anna"]), ("a", ["Call Anna"]),
        ("what?\nmaybe\ny", ["Call Anna"]), ("e\nCall Bob\n\n\ny", ["Call Bob"]), ("e\n-\n\n\nn", []),
    ])
    func aCardIsAskedAbout(answer: String, expected: [String]) async throws {
        let lab = try ChatLab([ChatLab.reminder])
        try await lab.talk("remind me\n\(answer)\n/exit")
        #expect(try await lab.reminders == expected)
        #expect(lab.output.contents.contains("New reminder"))
        #expect(!lab.output.contents.contains("REMINDER_ACTION"))
    }

    @Test func theEndOfTheInputDeclines() async throws {
        let lab = try ChatLab([ChatLab.reminder])
        try await lab.talk("remind me")
        #expect(try await lab.reminders == [])
    }

    @Test func anActionIsUndoneAndDoneAgain() async throws {
        let lab = try ChatLab([ChatLab.reminder])
        try await lab.talk("remind me\ny\n/undo\n/undo\n/exit")
        #expect(try await lab.reminders == [])
        #expect(lab.errors.contents.contains("Undone: New reminder."))
        #expect(lab.errors.contents.contains("There is no such action to undo."))
        let again = try ChatLab([ChatLab.reminder])
        try await again.talk("remind me\nn\n/do 1\n/exit")
        #expect(try await again.reminders == ["Call Anna"])
    }

    @Test func anApprovalForTheConversationOrForAlwaysAsksNoMore() async throws {
        for (answer, later) in [("c", false), ("a", true)] {
            let second = ChatLab.reminder.replacing("Call Anna", with: "Call Bob")
            let lab = try ChatLab([ChatLab.reminder, second])
            try await lab.talk("remind me\n\(answer)\nremind me again\n/exit")
            #expect(try await lab.reminders.sorted() == ["Call Anna", "Call Bob"])
            let kept = try Configuration.load(home: lab.folder.path("home")).value(of: "approval.REMINDER_ACTION")
            #expect(kept == (later ? "always" : nil))
        }
    }

    @Test func approvedTagsRunUnasked() async throws {
        let lab = try ChatLab([ChatLab.reminder])
        try await lab.talk("remind me\n/exit", approved: [.reminder])
        #expect(try await lab.reminders == ["Call Anna"])
    }

    /// A file may be written by another person: what it leads to is asked about, also if it was approved before.
    @Test func aFileMakesEachActionAsk() async throws {
        let lab = try ChatLab([ChatLab.reminder])
        let file = try lab.folder.write("letter.txt", Data("Call Anna at once.".utf8))
        try await lab.talk("/file \(file.string)\nwhat is in it?\nn\n/exit", approved: [.reminder])
        #expect(try await lab.reminders == [])
        #expect(lab.output.contents.contains("from file letter.txt"))
        let sent = try #require(await lab.engine.requests.last?.last?.content)
        #expect(sent.contains("<file source=\"file letter.txt\">"))
    }

    @Test func conversationsAreKeptAndFound() async throws {
        let lab = try ChatLab(["The capital is Paris.", "Private words.", "Berlin."])
        try await lab.talk("France?\n/private\nsecret\n/new\nGermany?\n/search Paris\n/open 1\n/exit")
        let kept = try await lab.records { home in
            try await home.conversations.conversations(limit: 10, offset: 0).map(\.title)
        }
        #expect(Set(kept) == ["France?", "Germany?"])
        #expect(lab.errors.contents.contains("(France?, 2 messages)"))
    }

    @Test func theExportIsMarkdownOrJSON() async throws {
        let lab = try ChatLab(["Paris."])
        let (text, json) = (lab.folder.path("a.md"), lab.folder.path("a.json"))
        try await lab.talk("France?\n/export \(text.string)\n/export \(json.string)\n/export \(json.string)\n/exit")
        #expect(String(decoding: try Data(contentsOf: text.url), as: UTF8.self).contains("Paris."))
        #expect(try ConversationExport(json: Data(contentsOf: json.url)).messages.count == 2)
        #expect(lab.errors.contents.contains("[file-exists]"))
    }

    @Test func linesThatAreNoCommandsAreMessages() async throws {
        let lab = try ChatLab(["one", "two"])
        try await lab.talk("one \\\nmessage\n/nothing\n```\n/exit\n```\n/exit")
        let sent = await lab.engine.requests.compactMap {
            $0.last?.content.split(separator: "\n<").first.map(String.init)
        }
        #expect(sent.count == 2)
        #expect(sent.first?.hasPrefix("one \nmessage") == true)
        #expect(sent.last?.hasPrefix("```\n/exit\n```") == true)
        #expect(lab.errors.contents.contains("There is no /nothing."))
    }

    @Test func factsAndThinkingAreShownOnRequest() async throws {
        let lab = try ChatLab(["one", "two"], width: 80)
        try await lab.talk("a\n/stats\n/think show\nb\n/exit")
        #expect(lab.output.contents.contains("(thought for 0.0 s)"))
        #expect(lab.output.contents.contains("hm"))
        #expect(lab.errors.contents.contains("nothing left it"))
        #expect(lab.errors.contents.contains("1 prompt tokens"))
    }

    /// Texts of a model in a card, in Markdown and in a notice.
    @Test func noControlCharacterReachesTheTerminal() async throws {
        let evil = #"\u001b]0;x\u0007\u009b31m"#
        let block = #"[REMINDER_ACTION:{"action":"create","title":"a\#(evil)b"}] \u{1B}[2J"#
        let lab = try ChatLab(["**x\u{1B}[31m** \u{9B}2J", block], width: 60)
        try await lab.talk("a\nb\nn\n/exit")
        var screen = VirtualScreen()
        screen.write(lab.output.contents.replacing("\n", with: "\r\n"))
        #expect(screen.strangers == [])
    }
}
