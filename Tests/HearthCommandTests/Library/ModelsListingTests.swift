import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// `hearth models` where nobody sits: in a pipe, in a script, with `--plain`.
@Suite(.timeLimit(.minutes(10))) struct ModelsListingTests {
    private let folder: TemporaryFolder
    private var origin: String { folder.path("origin/models.json").string }

    init() throws {
        folder = try TemporaryFolder()
        try offer(["ada": 1_000_000_000, "bob": 8_000_000_000_000_000])
    }

    private func offer(_ memory: [String: UInt64], name: String = "The 日本 reader") throws {
        let bytes = ModelFiles.gguf()
        try folder.write("origin/model.gguf", bytes)
        let entries = memory.keys.sorted().map { family in
            #"""
            {"id": "\#(family)", "version": "1.0.0", "filename": "\#(family)-v1.0.0-q4_1.gguf", "name": "\#(name) \#(family)",
             "sizeBytes": \#(bytes.count), "sha256": "\#(SHA256Digest(hashing: Array(bytes)).hex)",
             "requirements": {"memoryBytes": \#(memory[family] ?? 0)}, "downloadUrl": "model.gguf"}
            """#
        }
        try folder.write(
            "origin/models.json", Data(#"{"schemaVersion": 1, "models": [\#(entries.joined(separator: ","))]}"#.utf8))
    }

    private func probe(_ environment: [String: String]? = nil, output: CaptureSink = CaptureSink()) -> CommandProbe {
        CommandProbe(
            home: folder.path("home"), environment: environment ?? ["HEARTH_ORIGIN": origin], output: output)
    }

    private func entries(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    @Test func aPipeGetsTheRowsOnce() async throws {
        let probe = probe()
        #expect(await probe.run("models") == 0)
        let lines = probe.output.contents.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.map { $0.first } == ["FAMILY", "ada", "bob"], "\(probe.errors.contents)")
        #expect(lines.dropFirst().first?.suffix(2) == ["not", "downloaded"])
        #expect(probe.output.contents.contains("The 日本 reader ada"))
        #expect(probe.output.contents.contains("incompatible: needs "))
        #expect(!probe.output.contents.contains("\u{1B}"))
    }

    @Test func aProgramGetsFixedNames() async throws {
        let probe = probe()
        #expect(await probe.run("pull", "ada", "--no-probe") == 0)
        #expect(await probe.run("config", "set", "defaultModel", "ada") == 0)
        let listing = self.probe()
        #expect(await listing.run("models", "--format", "json") == 0)
        let entries = try entries(listing.output.contents)
        try #require(entries.count == 2)
        #expect(
            Set(entries.flatMap(\.keys)) == [
                "family", "version", "variant", "name", "summary", "role", "state", "progress", "code", "detail",
                "action", "presence", "installed", "update", "rollback", "sizeBytes", "receivedBytes", "memoryBytes",
                "memoryContextLength", "minAppVersion",
                "badges", "isDefault", "isSelected", "id", "format", "reference", "installedVariant", "pinned",
                "heldBack", "download", "keptBytes", "isVerified", "isUsable", "isBeingDeleted", "isDefaultVision",
                "isLoaded", "isListed",
            ])
        let (ada, bob) = (entries[0], entries[1])
        #expect(ada["state"] as? String == "downloaded" && ada["action"] as? String == "select")
        #expect(ada["presence"] as? String == "downloaded" && ada["installed"] as? String == "1.0.0")
        #expect(ada["isDefault"] as? Bool == true && ada["badges"] as? [String] == ["active"])
        #expect(ada["code"] as? String == "up-to-date")
        #expect(bob["state"] as? String == "incompatible" && bob["code"] as? String == "not-enough-memory")
        #expect(bob["action"] is NSNull && bob["isDefault"] as? Bool == false)
        #expect((bob["detail"] as? String)?.contains("RAM") == true)
        let table = self.probe()
        #expect(await table.run("models") == 0)
        #expect(table.output.contents.contains("\n*  ada "))
    }

    @Test func withoutTheOriginItsLastListHasToDo() async throws {
        let list = try Data(contentsOf: Path(origin).url)
        let answers = Locked(true)
        let server = try FaultServer { _ in answers.withLock { $0 } ? Reply(body: .data(list)) : Reply(503) }
        let environment = ["HEARTH_ORIGIN": try server.url("/models.json").absoluteString]
        #expect(await probe(environment).run("models") == 0)
        answers.withLock { $0 = false }
        let probe = probe(environment)
        #expect(await probe.run("models", "--refresh") == 0)
        #expect(probe.output.contents.contains("not downloaded"))
        #expect(probe.errors.contents.contains("Using the list cached on "), "\(probe.errors.contents)")
        let quiet = self.probe(environment)
        #expect(await quiet.run("models", "--refresh", "--quiet") == 0)
        #expect(quiet.errors.contents.isEmpty)
    }

    @Test func withoutAnyListWhatIsHereIsShownAndTheReasonIsSaid() async throws {
        #expect(await probe().run("pull", "ada", "--no-probe") == 0)
        let probe = probe(["HEARTH_ORIGIN": folder.path("nowhere/models.json").string])
        #expect(await probe.run("models") == 0)
        #expect(probe.output.contents.contains("ada") && !probe.output.contents.contains("bob"))
        #expect(probe.errors.contents.contains("["), "\(probe.errors.contents)")
    }

    @Test func withoutAnOriginWhatIsHereIsShown() async throws {
        let empty = probe([:])
        #expect(await empty.run("models") == 0)
        #expect(empty.output.contents.isEmpty)
        #expect(empty.errors.contents == "No model is here, and none is on offer.\n")
        #expect(await probe().run("pull", "ada", "--no-probe") == 0)
        let one = probe([:])
        #expect(await one.run("models") == 0)
        #expect(one.output.contents.contains("ada"))
        #expect(one.errors.contents.isEmpty)
        let json = probe([:])
        #expect(await json.run("models", "--format", "json") == 0)
        #expect(try entries(json.output.contents).count == 1)
    }

    @Test func aHomeThatCannotBeUsedFails() async throws {
        try folder.write("home/layout", Data("999\n".utf8))
        let probe = probe()
        #expect(await probe.run("models") == 1)
        #expect(probe.errors.contents.contains("[home-too-new]"))
        #expect(probe.output.contents.isEmpty)
    }

    /// At a terminal too, where somebody wants it plain.
    @Test(
        arguments: [
            (["--plain"], [:]), (["--format", "json"], [:]), ([], ["NO_COLOR": "1"]), ([], ["TERM": "dumb"]),
        ] as [([String], [String: String])])
    func plainnessIsHonoured(words: [String], environment: [String: String]) async throws {
        let terminal = ScriptedTerminal()
        var probe = probe(
            environment.merging(["HEARTH_ORIGIN": origin]) { $1 }, output: CaptureSink(width: 100))
        probe.terminal = terminal
        #expect(await probe.run(["models"] + words) == 0)
        #expect(terminal.writes == 0)
        #expect(probe.output.contents.contains("ada"))
        #expect(!probe.output.contents.contains("\u{1B}"))
    }
}
