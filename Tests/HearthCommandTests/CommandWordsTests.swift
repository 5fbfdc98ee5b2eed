import HearthBase
import HearthCatalog
import HearthTestSupport
import Testing

@testable import HearthCommand

/// What people type instead of a command, and the hints they get.
@Suite struct CommandWordsTests {
    /// A mistyped line, and the command that was meant.
    private static let typos: KeyValuePairs = [
        "caht": "chat", "cht": "chat", "chta": "chat", "chatt": "chat", "pul": "pull", "pulll": "pull", "lsit": "list",
        "lst": "list", "lis": "list", "shwo": "show", "hsow": "show", "srve": "serve", "sevre": "serve",
        "docter": "doctor", "dotcor": "doctor", "doc": "doctor", "confg": "config", "conifg": "config",
        "conf": "config", "modles": "models", "model": "models", "transfer": "transfers", "trasnfers": "transfers",
        "note": "notes", "nots": "notes", "reminder": "reminders", "remainders": "reminders", "calender": "calendar",
        "cal": "calendar", "habbits": "habits", "contact": "contacts", "contcats": "contacts", "udpate": "update",
        "updte": "update", "verfy": "verify", "publsh": "publish", "licences": "licenses", "hlep": "help",
        "completion": "completions", "rnu": "chat", "stpo": "stop", "calsify": "classify", "ruote": "route",
        "gatway": "gateway", "key": "keys", "origins": "origin", "instal": "pull", "verison": "version",
    ]

    /// The words of other programs, each with what Hearth calls it.
    private static let others: KeyValuePairs = [
        "install": "pull", "download": "pull", "get": "pull", "ask": "chat", "start": "serve", "status": "ps",
        "upgrade": "update", "add": "notes add", "todo": "reminders", "todos": "reminders", "events": "calendar",
        "agenda": "calendar", "people": "contacts", "settings": "config", "quit": "stop", "create": "publish",
        "push": "publish", "logs": "doctor", "set": "config set", "login": "keys", "history": "chats",
        "man": "help", "top": "ps", "catalog": "list", "inspect": "show", "switch": "use",
    ]

    private func hints(_ words: String...) -> [String] {
        do {
            _ = try HearthCommand.table.invocation(of: words)
            return ["(understood)"]
        } catch {
            let remedy = (error as? UsageError)?.context.remedy ?? ""
            guard let question = remedy.firstMatch(of: /Did you mean (.*)\?/) else { return [] }
            return question.1.matches(of: /`hearth ([^`]*)`/).map { String($0.1) }
        }
    }

    /// The declaration that a hint names; `nil` for a group.
    private func commands(_ line: String) -> [CommandDeclaration] {
        let words = line.split(separator: " ").map(String.init)
        return HearthCommand.table.commands.map { $0.declaration }.filter { $0.path.starts(with: words) }
    }

    @Test func typosGetTheIntendedWordFirst() {
        let right = Self.typos.filter { hints($0.key).first == $0.value }
        let wrong = Self.typos.filter { hints($0.key).first != $0.value }.map { "\($0.key): \(hints($0.key))" }
        #expect(Self.typos.count >= 40)
        #expect(right.count * 40 >= Self.typos.count * 36, "\(wrong)")
    }

    @Test func wordsOfOtherProgramsGetTheRightOne() {
        for (word, command) in Self.others { #expect(hints(word).first == command, "\(word): \(hints(word))") }
    }

    /// Words near the names of destructive commands, and those that other programs delete with.
    private static let dangerous = [
        "todo", "info", "removee", "remov", "rmeove", "rem", "pruen", "prun", "udno", "undoo", "und", "rolback",
        "rollbak", "yan", "yankk", "unpublsh", "delete", "uninstall", "erase", "rmi", "purge", "clean", "clear",
        "reset",
        "revert", "redo", "un", "re", "del", "r", "p",
    ]
    private static let inGroups = [
        ("transfers", "cancle"), ("transfers", "clear"), ("transfers", "celan"), ("keys", "revok"), ("keys", "rm"),
        ("keys", "delete"), ("notes", "delete"), ("notes", "remov"), ("chats", "delete"), ("config", "unst"),
        ("config", "reset"), ("origin", "prnue"), ("trust", "revoek"), ("gateway", "kesy"),
    ]

    @Test func noHintNamesACommandThatDeletesOrUndoes() {
        let lines =
            Self.dangerous.map { hints($0) } + Self.typos.map { hints($0.key) } + Self.others.map { hints($0.key) }
        for line in lines.flatMap(\.self) {
            let named = commands(line)
            #expect(!named.isEmpty, "\(line) is no command")
            let destructive = named.filter(\.isDestructive)
            #expect(named.count > 1 || destructive.isEmpty, "\(line)")
        }
        for (group, word) in Self.inGroups {
            for line in hints(group, word) {
                let named = commands(line)
                let destructive = named.filter(\.isDestructive)
                #expect(named.count > 1 || destructive.isEmpty, "\(group) \(word): \(line)")
            }
        }
    }

    @Test func everyCommandThatTakesSomethingAwayIsMarked() {
        let verbs: Set = [
            "remove", "revoke", "cancel", "clean", "prune", "unset", "undo", "rollback", "yank", "unpublish",
        ]
        for type in HearthCommand.table.commands {
            let declaration = type.declaration
            #expect(
                declaration.isDestructive == verbs.contains(declaration.path.last ?? ""), "\(declaration.commandLine)")
        }
    }

    /// No row is dead: each word is free, and each has a command, except where only deletion would fit.
    @Test func theTableOfOtherWordsFits() {
        let entries = HearthCommand.table.entries
        for (word, lines) in OtherWords.commands {
            #expect(CommandTable.named(word, among: entries, name: \.name) == nil, "\(word) is a command")
            #expect(lines.isEmpty || !CommandHints(entries).lines(for: word).isEmpty, "\(word)")
        }
        for (word, lines) in OtherWords.inGroups {
            let groups = HearthCommand.table.groups
            let hints = groups.flatMap { CommandHints(in: $0).lines(for: word) }
            #expect(lines.isEmpty || !hints.isEmpty, "\(word)")
        }
    }

    @Test(arguments: [
        (["run"], ["chat"]), (["ls"], ["list"]), (["rm", "m"], ["remove"]), (["info", "m"], ["show"]),
        (["notes", "ls"], ["notes", "list"]), (["notes", "rm", "a"], ["notes", "remove"]),
        (["chats", "info", "a"], ["chats", "show"]), (["keys", "ls"], ["keys", "list"]),
        (["run", "m", "hello", "there"], ["chat"]), (["version"], ["version"]),
    ])
    func otherWordsAreUnderstood(words: [String], path: [String]) throws {
        guard case .run(let command, _) = try HearthCommand.table.invocation(of: words) else {
            Issue.record("\(words) is no command")
            return
        }
        #expect(type(of: command).declaration.path == path)
    }

    @Test(arguments: [
        "notes", "chats", "keys", "config", "transfers", "reminders", "calendar", "habits", "contacts",
    ])
    func aNounAloneListsAndTakesTheOptionsOfItsList(noun: String) async throws {
        let folder = try TemporaryFolder()
        for words in [[noun], [noun, "--format", "json"], [noun, "-q"]] {
            let probe = CommandProbe(home: folder.path("home"))
            #expect(await probe.run(words) == 0, "\(words) \(probe.errors.contents)")
            #expect(!words.contains("json") || (try? JSONValue(parsing: probe.output.contents)) == .array([]))
        }
    }

    @Test(arguments: ["", "origin", "trust", "gateway"]) func whatHasNoListShowsItsHelp(noun: String) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(noun.isEmpty ? [] : [noun]) == 0)
        #expect(probe.output.contents.hasPrefix(noun.isEmpty ? "hearth: " : "hearth \(noun): "))
        #expect(probe.errors.contents.isEmpty)
    }

    @Test(
        arguments: [
            (["m", "hello"], "m", "hello"), (["m", "tell", "me", "more"], "m", "tell me more"), (["m"], "m", nil),
            (["a sentence"], nil, "a sentence"), (["What is 1/2 of 30?"], nil, "What is 1/2 of 30?"),
            (["a sentence", "and more"], nil, "a sentence and more"),
            ([], nil, nil),
            (["./m.gguf", "--", "-q"], "./m.gguf", "-q"), (["my model.gguf", "hi"], "my model.gguf", "hi"),
            (["m", "--prompt", "x"], "m", "x"),
        ] as [([String], String?, String?)])
    func wordsAfterAModelAreTheQuestion(words: [String], model: String?, question: String?) throws {
        guard case .run(let command, _) = try HearthCommand.table.invocation(of: ["chat"] + words),
            let chat = command as? Chat
        else {
            Issue.record("no conversation")
            return
        }
        #expect(try chat.reference == model.map { try ModelReference(word: $0) })
        #expect(chat.prompt == question)
    }
}
