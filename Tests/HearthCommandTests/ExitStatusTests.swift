import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// Exit statuses: 0 also where nothing is to do, 1 for what is named and does not exist, 64 for values that do not fit.
@Suite struct ExitStatusTests {
    @Test(arguments: [
        ["update", "--check", "--quiet", "none"], ["chat", "./none.gguf", "--prompt", "x"],
        ["chat", "--image", "none.png", "--prompt", "x"], ["chat", "none", "--schema", "none.json", "--prompt", "x"],
        ["chat", "none", "--grammar", "none.gbnf", "--prompt", "x"], ["show", "./none.gguf"], ["classify", "none.png"],
        ["publish", "none.gguf", "--to", "/none"], ["pull", "./none.gguf"], ["verify", "./none.gguf"],
        ["origin", "check", "/none"], ["origin", "prune", "/none"], ["host", "/none"],
        ["yank", "m@1.0.0", "--to", "/none"], ["unpublish", "m@1.0.0", "--to", "/none"], ["notes", "import", "/none"],
        ["calendar", "import", "/none"], ["contacts", "import", "/none"], ["reminders", "import", "/none"],
        ["habits", "import", "/none"], ["trust", "show", "/none"], ["trust", "sign", "--to", "/none"],
        ["trust", "renew", "--to", "/none"], ["trust", "accept", "/none"],
        ["serve", "--port", "0", "--tls-cert", "/none", "--tls-key", "/none"],
        ["chat", "none", "--prompt", "x"], ["use", "none"], ["use", "none@1.0.0"], ["rollback", "none"],
        ["remove", "none"], ["verify", "none"], ["classify", "--model", "none", "x.png"],
        ["transfers", "pause", "none"], ["transfers", "resume", "none"], ["transfers", "cancel", "none"],
        ["notes", "show", "none"], ["notes", "edit", "none"], ["notes", "remove", "none"], ["chats", "show", "none"],
        ["chats", "export", "none"], ["chats", "rename", "none", "x"], ["chats", "remove", "none"],
        ["habits", "log", "none"], ["reminders", "done", "none"], ["contacts", "show", "none"], ["undo", "none"],
        ["keys", "revoke", "none"], ["gateway", "keys", "revoke", "none"], ["config", "get", "none"],
        ["config", "set", "none", "1"], ["config", "unset", "none"], ["config", "get", "threads"], ["undo"],
        ["chat", "--prompt", "x"],
    ])
    func whatIsMissingIsAFailure(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        let words = words.map { $0 == "/none" ? folder.path("none").string : $0 }
        #expect(await probe.run(words) == 1, "\(probe.errors.contents)")
        #expect(probe.errors.contents.contains("["))
    }

    @Test(arguments: [
        ["prune"], ["verify"], ["transfers", "clean"], ["stop"], ["ps"], ["chats", "search", "x"],
        ["config", "unset", "threads"], ["notes", "list", "x"], ["undo", "--list"], ["list"], ["help"], ["version"],
    ])
    func nothingToDoIsNoFailure(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(words) == 0, "\(probe.errors.contents)")
    }

    @Test(arguments: [
        ["config", "set", "threads", "0"], ["config", "set", "temperature", "hot"], ["calendar", "add", "x"],
        ["calendar", "list", "--from", "soon"], ["reminders", "add", "x", "--due", "soon"],
        ["prune", "--budget", "lots"],
        ["update", "--metered", "maybe"], ["notes", "list", "--limit", "0"], ["completions", "powershell"],
        ["trust", "add", "nobody", "--to", "/none"], ["host", ".", "--port", "x"], ["publish", "x.gguf"],
        ["use", "X Y"], ["undo", "--limit", "x"],
    ])
    func aValueThatDoesNotFitIsWrongUsage(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(words) == 64, "\(probe.errors.contents)")
    }

    @Test func aMistypedModelGetsTheNearestNamesOnly() async throws {
        let folder = try TemporaryFolder()
        for family in ["my-model", "other", "third"] { try folder.write("home/models/\(family)/1.0.0/x", Data()) }
        for words in [["chat", "my-modle", "--prompt", "x"], ["use", "my-modle@1.0.0"], ["remove", "mymodel"]] {
            let probe = CommandProbe(home: folder.path("home"))
            #expect(await probe.run(words) == 1)
            let text = probe.errors.contents
            #expect(text.contains("[not-installed]") && text.contains("nearest is my-model:"), "\(text)")
            #expect(!text.contains("other") && !text.contains("third"))
        }
    }

    @Test(arguments: [
        ("treads", ["threads"]), ("defaultmodel", ["defaultModel"]), ("metered", ["network.metered"]),
        ("clud.kind", ["cloud.kind"]), ("zzzzzzzz", []),
    ])
    func aMistypedSettingGetsTheNearestNamesOnly(key: String, near: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("config", "set", key, "1") == 1)
        let text = probe.errors.contents
        let missing = near.filter { !text.contains($0) }
        #expect(missing.isEmpty, "\(text)")
        #expect(text.contains("hearth config list --all") && text.utf8.count < 250)
    }

    @Test(arguments: [("bogus", 1), ("debug,stor=inf", 1), ("", 0), ("warning, store=debug", 0), ("\u{1B}[2J", 1)])
    func anUnknownLevelOfTheLogIsNamedOnce(value: String, lines: Int) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"), environment: ["HEARTH_LOG": value])
        #expect(await probe.run("version") == 0)
        #expect(probe.errors.contents.split(separator: "\n").count == lines)
        #expect(!probe.errors.contents.contains("\u{1B}"))
    }

    @Test(arguments: [[0x47, 0x47, 0x55, 0x46, 3, 0, 0, 0], [0x89, 0x50], [0xC3], [0x61, 0, 0x62]] as [[UInt8]])
    func aBinaryIsNoQuestion(bytes: [UInt8]) {
        #expect(throws: UsageError.self) { try DescriptorSource.text(bytes) }
    }

    @Test func aTextIsAQuestion() throws {
        #expect(try DescriptorSource.text([UInt8]("Grüße 👋\n".utf8)) == "Grüße 👋\n")
        #expect(try DescriptorSource.text([]).isEmpty)
    }
}
