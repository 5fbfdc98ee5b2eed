import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// `hearth connect` and `hearth preset` as programs, on a scratch home with a model.
@Suite(.timeLimit(.minutes(5))) struct ConnectCommandTests {
    private static let weights = ModelFiles.gguf(payload: [UInt8](repeating: 7, count: 1 << 20))

    /// A lab with an installed model.
    private func lab() async throws -> HearthLab {
        let lab = try HearthLab()
        let model = try lab.folder.write("big-v1.0.0-q8_0.gguf", Self.weights)
        let pulled = try await lab.run("pull", model.string, "--no-probe")
        #expect(pulled.status == 0, "\(pulled.errors)")
        return lab
    }

    private func text(_ lab: HearthLab, _ name: String) -> String? {
        try? String(contentsOf: lab.folder.path(name).url, encoding: .utf8)
    }

    @Test func allFoundAppsAreConnectedAndTakenBack() async throws {
        let lab = try await lab()
        try lab.folder.write(".codex/config.toml", Data("# mine\n".utf8))
        try lab.folder.write(".claude/settings.json", Data("{}".utf8))
        let dry = try await lab.run("connect", "--dry-run")
        #expect(dry.status == 0, "\(dry.errors)")
        #expect(dry.output.contains("would be changed") && dry.output.contains("model = \"big\""))
        #expect(text(lab, ".codex/config.toml") == "# mine\n")
        let done = try await lab.run("connect")
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output.contains("Codex: ") && done.output.contains("Claude Code: "))
        #expect(done.errors.contains("hearth connect codex --undo"))
        #expect(text(lab, ".codex/config.toml")?.contains("model = \"big\"") == true)
        let undone = try await lab.run("connect", "--undo", "--format", "json")
        #expect(undone.status == 0, "\(undone.errors)")
        let apps = try JSONValue(parsing: undone.output)["apps"]?.items ?? []
        #expect(Set(apps.compactMap { $0["app"]?.string }) == ["codex", "claude"])
        #expect(apps.allSatisfy { $0["files"]?.items?.first?["change"] == "restored" })
        #expect(text(lab, ".codex/config.toml") == "# mine\n")
        #expect(text(lab, ".claude/settings.json") == "{}")
        #expect(try await lab.run("connect", "--undo").errors.contains("No app is connected."))
    }

    @Test func aBrokenFileDoesNotStopTheOthers() async throws {
        let lab = try await lab()
        try lab.folder.write(".codex/config.toml", Data("[[[".utf8))
        try lab.folder.write(".claude/settings.json", Data("{}".utf8))
        let done = try await lab.run("connect")
        #expect(done.status == 1)
        #expect(done.errors.contains("[app-file-broken]"))
        #expect(done.output.contains("model_providers.hearth.base_url: \"http://127.0.0.1:4327/v1\""))
        #expect(text(lab, ".codex/config.toml") == "[[[")
        #expect(text(lab, ".claude/settings.json")?.contains("ANTHROPIC_BASE_URL") == true)
    }

    @Test func anAppIsStartedInThePlaceOfTheCommand() async throws {
        let lab = try await lab()
        let script = "#!/bin/sh\necho \"$OPENAI_API_BASE $AIDER_MODEL $*\"\nexit 7\n"
        let program = try lab.folder.write("bin/aider", Data(script.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.string)
        let environment = lab.environment.merging(["PATH": lab.folder.path("bin").string + ":/usr/bin:/bin"]) { $1 }
        let run = try await ChildProcess.run(
            ["connect", "run", "aider", "--", "--yes", "a b"], environment: environment)
        #expect(run.status == 7, "\(run.errors)")
        #expect(run.output == "http://127.0.0.1:4327/v1 openai/big --yes a b\n")
        #expect(try LocalFileSystem().status(at: lab.folder.path(".aider.conf.yml")) == nil)
        let missing = try await lab.run("connect", "run", "codex")
        #expect(missing.status == 1 && missing.errors.contains("[app-program-missing]"))
        #expect(try await lab.run("connect", "run", "zed").errors.contains("[app-not-startable]"))
    }

    @Test(arguments: [
        (["connect", "emacs"], "APP must be"), (["connect", "codex", "zed"], "unexpected argument"),
        (["connect", "run"], "needs an app"), (["connect", "run", "emacs"], "must be one of"),
        (["connect", "run", "codex", "--undo"], "neither --undo"),
    ])
    func wrongWordsAreRefused(words: [String], part: String) async throws {
        let run = try await ChildProcess.run(words, environment: try HearthLab().environment)
        #expect(run.status == 64 && run.errors.contains(part), "\(run.errors)")
    }

    @Test func withoutAModelNothingIsConnected() async throws {
        let lab = try HearthLab()
        let run = try await lab.run("connect", "codex")
        #expect(run.status == 1 && run.errors.contains("[app-model-needed]"))
        #expect(text(lab, ".codex/config.toml") == nil)
    }

    @Test func aPresetIsAddedShownAndRemoved() async throws {
        let lab = try await lab()
        let file = try lab.folder.write("pirate.txt", Data("FROM big\nSYSTEM Arr.\nPARAMETER top_k 3\n".utf8))
        let added = try await lab.run("preset", "add", "pirate", file.string)
        #expect(added.status == 0, "\(added.errors)")
        #expect(try await lab.run("preset").output.contains("pirate"))
        #expect(try await lab.run("preset", "show", "pirate").output == "FROM big\nSYSTEM Arr.\nPARAMETER top_k 3\n")
        let connected = try await lab.run("connect", "codex", "--model", "pirate")
        #expect(connected.status == 0, "\(connected.errors)")
        #expect(text(lab, ".codex/config.toml")?.contains("model = \"pirate\"") == true)
        #expect(try await lab.run("preset", "remove", "pirate").status == 0)
        #expect(try await lab.run("preset", "show", "pirate").errors.contains("[preset-missing]"))
        for (text, code) in [
            ("FROM nothing", "preset-model-missing"), ("WHAT x", "preset-invalid"),
            ("FROM big\nTEMPLATE x", "preset-invalid"),
        ] {
            let run = try await lab.run("preset", "add", "p", input: text)
            #expect(run.status == 1 && run.errors.contains("[\(code)]"), "\(run.errors)")
        }
        let taken = try await lab.run("preset", "add", "big", input: "FROM big")
        #expect(taken.status == 1 && taken.errors.contains("[preset-name-taken]"))
    }
}
