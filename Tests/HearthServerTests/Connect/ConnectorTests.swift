import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// Every app on a scratch home: connected, connected again, and taken back to the byte.
@Suite struct ConnectorTests {
    @Test(arguments: ConnectLab.apps.map(\.app))
    func anAppIsConnectedAndTakenBack(app: ConnectedApp) async throws {
        let lab = try ConnectLab()
        let example = try #require(ConnectLab.apps.first { $0.app == app })
        try lab.write(example.file, example.before, mode: 0o640)
        let before = try lab.files()
        #expect(lab.connector.found().contains(app) || app == .aider)

        let dry = try await lab.connector.connect(app, lab.target, isDry: true)
        #expect(dry.changes.first?.kind == .changed)
        #expect(try lab.files() == before)

        let done = try await lab.connector.connect(app, lab.target)
        #expect(done.changes.first?.kind == .changed)
        let connected = try lab.files()
        let text = try #require(connected[example.file])
        for part in example.parts { #expect(text.contains(part), "\(part) in \(text)") }
        #expect(try lab.mode(example.file) == 0o640)

        let again = try await lab.connector.connect(app, lab.target)
        #expect(again.changes.allSatisfy { $0.kind == .unchanged })
        #expect(try lab.files() == connected)
        #expect(try lab.connector.connected() == [app])

        // Another model takes the place of the first.
        var other = lab.target
        other.model = "other"
        _ = try await lab.connector.connect(app, other)
        #expect(lab.text(example.file)?.contains("tiny") == false)

        let undone = try #require(try await lab.connector.undo(app))
        #expect(undone.contains { $0.kind == .restored })
        #expect(try lab.files() == before)
        #expect(try lab.mode(example.file) == 0o640)
        #expect(try await lab.connector.undo(app) == nil)
    }

    @Test(arguments: ConnectLab.apps.map(\.app))
    func anAppWithoutFilesLeavesNone(app: ConnectedApp) async throws {
        let lab = try ConnectLab()
        let done = try await lab.connector.connect(app, lab.target)
        #expect(done.changes.allSatisfy { $0.kind == .made })
        let example = try #require(ConnectLab.apps.first { $0.app == app })
        let file = app == .opencode ? ".config/opencode/opencode.json" : example.file
        #expect(try lab.mode(file) == 0o600)
        #expect(try await lab.connector.undo(app)?.allSatisfy { $0.kind == .removed } == true)
        #expect(try lab.files() == [:])
        #expect(try LocalFileSystem().status(at: lab.path(file).parent) == nil || app == .aider)
    }

    /// Programs write into their configuration too: what they wrote stays.
    @Test(arguments: [
        (ConnectedApp.codex, "\n[projects.\"/new\"]\ntrust_level = \"trusted\"\n"), (.aider, "dark-mode: true\n"),
        (.continue, "rules:\n  - be brief\n"), (.llm, "- model_id: third\n  model_name: third\n"),
    ])
    func whatWasAddedSinceStays(app: ConnectedApp, added: String) async throws {
        let lab = try ConnectLab()
        let example = try #require(ConnectLab.apps.first { $0.app == app })
        let before = example.before
        try lab.write(example.file, before)
        _ = try await lab.connector.connect(app, lab.target)
        let connected = try #require(lab.text(example.file))
        try lab.write(example.file, connected + added)
        let undone = try #require(try await lab.connector.undo(app))
        #expect(undone.first?.kind == .changed)
        #expect(lab.text(example.file) == before + added)
    }

    @Test func aValueThatWasChangedSinceStays() async throws {
        let lab = try ConnectLab()
        let file = ".claude/settings.json"
        try lab.write(file, "{\n  \"env\": {\n    \"ANTHROPIC_MODEL\": \"opus\"\n  }\n}\n")
        _ = try await lab.connector.connect(.claude, lab.target)
        let text = try #require(lab.text(file)).replacing(
            "\"ANTHROPIC_MODEL\": \"tiny\"", with: "\"ANTHROPIC_MODEL\": \"mine\"")
        try lab.write(file, text)
        let undone = try #require(try await lab.connector.undo(.claude))
        #expect(undone.first?.left == ["env.ANTHROPIC_MODEL"])
        #expect(lab.text(file) == "{\n  \"env\": {\n    \"ANTHROPIC_MODEL\": \"mine\"\n  }\n}\n")
    }

    @Test func aFileThatWasMadeAndHoldsMoreNowStays() async throws {
        let lab = try ConnectLab()
        _ = try await lab.connector.connect(.claude, lab.target)
        let file = ".claude/settings.json"
        let text = try #require(lab.text(file))
        try lab.write(file, text.replacing("{\n  \"env\"", with: "{\n  \"theme\": \"dark\",\n  \"env\""))
        _ = try await lab.connector.undo(.claude)
        #expect(lab.text(file) == "{\n  \"theme\": \"dark\"\n}\n")
    }

    @Test func linksAreFollowedAndStay() async throws {
        let lab = try ConnectLab()
        let real = try lab.write("dotfiles/claude.json", "{}\n", mode: 0o600)
        try LocalFileSystem().makeFolders(lab.path(".claude"))
        try LocalFileSystem().makeLink(at: lab.path(".claude/settings.json"), to: "../dotfiles/claude.json")
        _ = try await lab.connector.connect(.claude, lab.target)
        let link = try LocalFileSystem().status(at: lab.path(".claude/settings.json"), followLinks: false)
        #expect(link?.kind == .symbolicLink)
        #expect(lab.text("dotfiles/claude.json")?.contains("ANTHROPIC_BASE_URL") == true)
        _ = try await lab.connector.undo(.claude)
        #expect(try Data(contentsOf: real.url) == Data("{}\n".utf8))
    }

    @Test func valuesThatWereThereAreNotTakenAway() async throws {
        let lab = try ConnectLab()
        let file = ".codex/config.toml"
        _ = try await lab.connector.connect(.codex, lab.target)
        let text = try #require(lab.text(file))
        // The same text, written by hand: without a record it is the user's.
        _ = try await lab.connector.undo(.codex)
        try lab.write(file, text)
        #expect(try await lab.connector.connect(.codex, lab.target).changes.map(\.kind) == [.unchanged])
        _ = try await lab.connector.undo(.codex)
        #expect(lab.text(file) == text)
    }

    @Test func aDeletedFileStaysDeleted() async throws {
        let lab = try ConnectLab()
        try lab.write(".aider.conf.yml", "model: x\n")
        _ = try await lab.connector.connect(.aider, lab.target)
        try LocalFileSystem().removeFile(lab.path(".aider.conf.yml"))
        _ = try await lab.connector.undo(.aider)
        #expect(try lab.files() == [:])
    }

    @Test func aKeyIsMadeOnceWhereOneIsNeeded() async throws {
        var lab = try ConnectLab()
        lab.target.needsKey = true
        let home = lab.folder.path("hearth")
        let dry = try await lab.connector.connect(.codex, lab.target, isDry: true)
        #expect(dry.changes.first?.edits.contains { $0.value == "KEY" } == true)
        #expect(try AccessKeys.load(home: home).keys.isEmpty)
        _ = try await lab.connector.connect(.codex, lab.target)
        _ = try await lab.connector.connect(.codex, lab.target)
        let keys = try AccessKeys.load(home: home).keys
        #expect(keys.map(\.name) == ["connect-codex"])
        #expect(keys.first?.scopes == [.chat])
        let line = try #require(lab.text(".codex/config.toml")?.split(separator: "\n").first { $0.contains("bearer") })
        let text = try #require(line.split(separator: "\"").last.map(String.init))
        #expect(try AccessKeys.load(home: home).key(text) != nil)
        _ = try await lab.connector.undo(.codex)
        #expect(try AccessKeys.load(home: home).keys.isEmpty)
        #expect(try lab.files() == [:])
        // A refusal leaves no key behind.
        try lab.write(".codex/config.toml", "[[[")
        await expect(.broken) { _ = try await lab.connector.connect(.codex, lab.target) }
        #expect(try AccessKeys.load(home: home).keys.isEmpty)
    }

    @Test func anOldContinueKeepsItsForm() async throws {
        let lab = try ConnectLab()
        let text = "{\n  \"models\": [\n    { \"title\": \"GPT\", \"provider\": \"openai\" }\n  ]\n}\n"
        try lab.write(".continue/config.json", text)
        _ = try await lab.connector.connect(.continue, lab.target)
        #expect(try lab.files().keys.sorted() == [".continue/config.json"])
        #expect(lab.text(".continue/config.json")?.contains("\"title\": \"Hearth tiny\"") == true)
        _ = try await lab.connector.undo(.continue)
        #expect(lab.text(".continue/config.json") == text)
    }

    @Test func appsWithoutFilesGetValues() async throws {
        let lab = try ConnectLab()
        for app in [ConnectedApp.cline, .openWebUI] {
            let done = try await lab.connector.connect(app, lab.target)
            #expect(done.changes.isEmpty)
            #expect(done.plan.values.contains { $0.value == "http://127.0.0.1:4327/v1" })
        }
        #expect(try lab.files() == [:])
    }

    // MARK: Starting

    @Test func anAppIsStartedWithItsEnvironment() async throws {
        let lab = try ConnectLab(environment: ["ANTHROPIC_API_KEY": "sk", "KEEP": "1"])
        for name in ["claude", "codex", "opencode", "aider", "llm", "open-webui", "zed"] {
            let path = try lab.folder.write("bin/\(name)", Data("#!/bin/sh\n".utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path.string)
        }
        let claude = try await lab.connector.start(.claude, lab.target, ["-p", "hi"])
        #expect(claude.program == lab.folder.path("bin/claude"))
        #expect(claude.arguments == ["-p", "hi"])
        #expect(claude.environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:4327")
        #expect(claude.environment["ANTHROPIC_API_KEY"] == nil)
        #expect(claude.environment["KEEP"] == "1")
        let codex = try await lab.connector.start(.codex, lab.target, ["exec"])
        #expect(codex.arguments.contains("model_providers.hearth.base_url=\"http://127.0.0.1:4327/v1\""))
        #expect(codex.arguments.last == "exec")
        // Other users of the machine read arguments.
        var keyed = lab.target
        keyed.key = "hk_secret"
        let locked = try await lab.connector.start(.codex, keyed, [])
        #expect(!locked.arguments.contains { $0.contains("hk_secret") })
        #expect(locked.environment["HEARTH_API_KEY"] == "hk_secret")
        let llm = try await lab.connector.start(.llm, lab.target, [])
        let models = Path(try #require(llm.environment["LLM_USER_PATH"])).appending("extra-openai-models.yaml")
        #expect(try String(contentsOf: models.url, encoding: .utf8).contains("model_id: hearth/tiny"))
        let open = try await lab.connector.start(.opencode, lab.target, [])
        let content = try JSONValue(parsing: try #require(open.environment["OPENCODE_CONFIG_CONTENT"]))
        #expect(content["model"] == "hearth/tiny")
        #expect(try lab.files() == [:])
        await expect(.notStartable) { _ = try await lab.connector.start(.zed, lab.target, []) }
        try LocalFileSystem().removeFile(lab.folder.path("bin/aider"))
        await expect(.programMissing) { _ = try await lab.connector.start(.aider, lab.target, []) }
    }
}
