import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthDatabase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthCommand

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

    /// A model that is too small for the instructions gets the conversation alone, and one line says so.
    @Test(arguments: [false, true]) func aSmallModelIsNamedOnce(insists: Bool) async throws {
        let lab = try ChatLab(["Hello", "Bye"], parameters: 134_515_008)
        try await lab.talk("hi\nand\n/exit", insists: insists)
        let lines = lab.errors.contents.split(separator: "\n").filter { $0.contains("hearth list --available") }
        #expect(lines.count == (insists ? 0 : 1))
        #expect(insists || lines[0].contains("(scripted is too small") && lines[0].contains("--assistant"))
        let sent = await lab.engine.requests.map { $0.map(\.content) }
        #expect(insists || sent == [["hi"], ["hi", "Hello", "and"]])
        #expect(!insists || sent.first?.first?.contains("[REMINDER_ACTION:") == true)
    }

    /// A system prompt of the user's own takes the place of the assistant's: nothing is added, and blocks are text.
    @Test func aSystemPromptReplacesTheAssistant() async throws {
        let lab = try ChatLab([ChatLab.reminder, "two", "three"])
        try await lab.talk("a\n\nb\n/new\nc\n/exit\nd", system: "s")
        let requests = await lab.engine.requests
        #expect(requests.map(\.count) == [2, 4, 2])
        #expect(requests.last == [ChatMessage(.system, "s"), ChatMessage(.user, "c")])
        #expect(lab.output.contents.contains("REMINDER_ACTION"))
        #expect(try await lab.reminders.isEmpty)
        // A grammar alone brings no system prompt.
        let bare = try ChatLab(["one"])
        try await bare.talk("a\n/exit", system: "")
        #expect(await bare.engine.requests == [[ChatMessage(.user, "a")]])
    }

    /// A search of the user's own notes runs unasked, and its card comes with the results.
    @Test func aSearchThatRunsUnaskedIsNotAskedAbout() async throws {
        let lab = try ChatLab([#"[WEB_SEARCH:{"query":"tides"}]"#, "Nothing."], width: 80)
        var configuration = Configuration()
        try configuration.set("search.kind", to: "own")
        try await lab.talk("high tide?\n/exit", configuration: configuration)
        #expect(lab.output.contents.contains("Nothing."))
        #expect(!lab.errors.contents.contains("Do it?"))
        #expect(lab.output.contents.components(separatedBy: "Web search").count == 2)
    }

    /// The user's editor changes the values; the kind of action and the record stay.
    @Test(arguments: [
        ("sed -i s/Anna/Bob/", "o\ny", ["Call Bob"]), ("sed -i s/Anna/Bob/", "o\nn", []),
        ("true", "o\ny", ["Call Anna"]), ("false", "o\nn", []), ("echo no object >", "o\ny", ["Call Anna"]),
        ("no-such-editor", "o\ny", ["Call Anna"]), ("sed -i '/due/d;s/Anna\\\",/Bob\\\"/'", "o\ny", ["Call Bob"]),
        ("echo '{\"title\":\"x\",\"action\":\"list\"}' >", "o\ny", ["x"]),
    ])
    func aCardIsChangedInAnEditor(editor: String, answer: String, expected: [String]) async throws {
        let lab = try ChatLab([ChatLab.reminder])
        try await lab.talk("remind me\n\(answer)\n/exit", editor: editor)
        #expect(try await lab.reminders == expected)
    }

    /// The card says truly who rings.
    @Test func aCardSaysWhoRings() async throws {
        let lab = try ChatLab([ChatLab.reminder, ChatLab.reminder])
        try await lab.talk("remind me\nn\n/exit")
        #expect(lab.output.contents.contains("Nothing rings on this computer"))
        _ = try lab.folder.write("config/systemd/user/timers.target.wants/\(ReminderTimer.unit)", Data("[Timer]".utf8))
        try await lab.talk("remind me\nn\n/exit")
        #expect(lab.output.contents.contains("\(ReminderTimer.unit) rings on this computer."))
    }

    /// The model is told of neither notes nor habits, which would be gone at the end.
    @Test func aDamagedDatabaseDoesNotPreventAConversation() async throws {
        let lab = try ChatLab(["Hello.", ChatLab.reminder])
        let file = try lab.folder.write("home/hearth.db", Data(repeating: 0x78, count: 8192))
        try await lab.talk("hi\nremind me\ny\n/exit")
        #expect(lab.output.contents.contains("Hello."))
        #expect(lab.errors.contents.components(separatedBy: "This conversation is not kept").count == 2)
        let system = try #require(await lab.engine.requests.first?.first?.content)
        #expect(system.contains("REMINDER_ACTION") && !system.contains("NOTE_ACTION"))
        let kept = VdirReminderStore(home: lab.folder.path("home"))
        #expect(try await kept.reminders(completed: false, limit: 9).map(\.title) == ["Call Anna"])
        #expect(try Data(contentsOf: file.url) == Data(repeating: 0x78, count: 8192))
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
        #expect(sent.hasPrefix("<file source=\"file letter.txt\">\nCall Anna at once.\n</file>\n\nwhat is in it?"))
    }

    /// Options and a system prompt are those of one conversation, and take effect with the next answer.
    @Test func optionsAndTheSystemPromptAreOfTheConversation() async throws {
        let lab = try ChatLab(["one", ChatLab.reminder, "three", "four"])
        try await lab.talk(
            """
            /set temperature 0.9
            /set max_tokens=12
            /set temprature 1
            /set seed -1
            a
            /system You are a pirate.
            /set
            b
            /system default
            c
            /new
            d
            /exit
            """)
        let (options, requests) = (await lab.engine.options, await lab.engine.requests)
        #expect(options.map(\.sampling.temperature) == [0.9, 0.9, 0.9, 0.35])
        #expect(options.map(\.maximumNewTokens) == [12, 12, 12, 768])
        #expect(options.allSatisfy { $0.sampling.seed == nil })
        #expect(requests[1].first == ChatMessage(.system, "You are a pirate."))
        #expect(requests.map { $0.filter { $0.role == .user }.count } == [1, 2, 3, 1])
        #expect(requests[2].first?.content.contains("pirate") == false)
        // With a system prompt of one's own, blocks are text.
        #expect(lab.output.contents.contains("REMINDER_ACTION"))
        #expect(try await lab.reminders.isEmpty)
        for words in ["/set temperature", "seed must be a whole number", "system             You are a pirate."] {
            #expect(lab.errors.contents.contains(words), "\(words)")
        }
    }

    /// A private conversation goes on with other settings.
    @Test func aPrivateConversationKeepsItsMessages() async throws {
        let lab = try ChatLab(["one", "two"])
        try await lab.talk("a\n/set seed 3\n/think off\nb\n/exit", isPrivate: true)
        let last = try #require(await lab.engine.requests.last)
        #expect(last.filter { $0.role != .system }.count == 3)
        #expect(await lab.engine.options.map(\.sampling.seed) == [nil, 3])
    }

    @Test func theBannerNamesTheModel() async throws {
        let lab = try ChatLab([])
        try await lab.talk("/exit")
        #expect(lab.errors.contents.hasPrefix("scripted answers."))
    }

    /// A run that begins as private, and a conversation after `/private`: no query leaves, whatever the model writes.
    @Test(arguments: [true, false]) func aPrivateConversationSearchesNothing(_ isRun: Bool) async throws {
        let server = try FaultServer { _ in Reply(body: .data(Data(#"{"results": []}"#.utf8))) }
        var configuration = Configuration()
        try configuration.set("search.kind", to: "searxng")
        try configuration.set("search.url", to: try server.url("/").absoluteString)
        try configuration.set("approval.WEB_SEARCH", to: "always")
        let block = #"[WEB_SEARCH:{"query":"secret diagnosis"}]"#
        let lab = try ChatLab([block, block, block, "Found."])
        try await lab.talk(
            (isRun ? "/new\n" : "/private\n") + "one\n\(try server.url("/page"))\n/exit", act: .webSearch,
            isPrivate: isRun, configuration: configuration)
        #expect(await lab.engine.requests.count == 2)
        #expect(server.requests.isEmpty)
        let kept = try await lab.records { try await $0.conversations.conversations(limit: 10, offset: 0) }
        #expect(kept.isEmpty)
        // Without privacy, the same settings and words search.
        try await lab.talk("one\n/exit", configuration: configuration)
        #expect(!server.requests.isEmpty)
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
