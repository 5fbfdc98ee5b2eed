import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// Configurations that are broken, read-only, of another form or damaged are left as they are.
@Suite struct ConnectorRefusalTests {
    @Test func linksInACircleAndOtherKindsAreRefused() async throws {
        let lab = try ConnectLab()
        let system = LocalFileSystem()
        try system.makeFolders(lab.path(".claude"))
        try system.makeLink(at: lab.path(".claude/settings.json"), to: "settings.json")
        await #expect(throws: FileError.self) { _ = try await lab.connector.connect(.claude, lab.target) }
        try system.removeFile(lab.path(".claude/settings.json"))
        try system.makeFolders(lab.path(".claude/settings.json"))
        await expect(.unsafe) { _ = try await lab.connector.connect(.claude, lab.target) }
        try system.makeFolders(lab.path(".codex"))
        #expect(mkfifo(lab.path(".codex/config.toml").string, 0o600) == 0)
        await expect(.unsafe) { _ = try await lab.connector.connect(.codex, lab.target) }
        #expect(try lab.connector.connected().isEmpty)
    }

    @Test(arguments: [
        (ConnectedApp.claude, ".claude/settings.json", "{\"env\": "), (.codex, ".codex/config.toml", "model = \n"),
        (.opencode, ".config/opencode/opencode.json", "{\"a\" 1}"), (.aider, ".aider.conf.yml", "a: b: c\n"),
        (.aider, ".aider.model.metadata.json", "[[["), (.continue, ".continue/config.yaml", "\tname: x\n"),
        (.zed, ".config/zed/settings.json", "{ /* "),
        (.llm, ".config/io.datasette.llm/extra-openai-models.yaml", "- model_id: \"x\n"),
    ])
    func aBrokenFileIsRefusedAndNothingIsWritten(app: ConnectedApp, file: String, text: String) async throws {
        let lab = try ConnectLab()
        try lab.write(file, text)
        let before = try lab.files()
        await expect(.broken) { _ = try await lab.connector.connect(app, lab.target) }
        #expect(try lab.files() == before)
        #expect(try lab.connector.connected().isEmpty)
    }

    @Test(arguments: [
        (ConnectedApp.claude, ".claude/settings.json", "{\"env\": []}"), (.claude, ".claude/settings.json", "[]"),
        (.codex, ".codex/config.toml", "model_providers = {}\n"),
        (.zed, ".config/zed/settings.json", "{\"language_models\": 1}"),
        (.continue, ".continue/config.yaml", "models: [{name: x}]\n"),
        (.llm, ".config/io.datasette.llm/extra-openai-models.yaml", "model_id: x\n"),
    ])
    func aFileOfAnotherFormIsLeft(app: ConnectedApp, file: String, text: String) async throws {
        let lab = try ConnectLab()
        try lab.write(file, text)
        await expect(.unsafe) { _ = try await lab.connector.connect(app, lab.target) }
        #expect(lab.text(file) == text)
        #expect(!lab.connector.values(app, lab.target).isEmpty)
    }

    @Test func aReadOnlyFileIsLeft() async throws {
        let lab = try ConnectLab()
        try lab.write(".aider.conf.yml", "model: x\n", mode: 0o444)
        await expect(.readOnly) { _ = try await lab.connector.connect(.aider, lab.target) }
        // The second file of the app was not made either.
        #expect(try lab.files() == [".aider.conf.yml": "model: x\n"])
        #expect(try lab.connector.connected().isEmpty)
    }

    @Test func aDamagedCopyDoesNotReplaceTheFile() async throws {
        let lab = try ConnectLab()
        try lab.write(".aider.conf.yml", "# mine\nmodel: x\n")
        _ = try await lab.connector.connect(.aider, lab.target)
        try lab.folder.write("hearth/connect/aider/1-.aider.conf.yml", Data("garbage".utf8))
        _ = try await lab.connector.undo(.aider)
        #expect(lab.text(".aider.conf.yml") == "# mine\nmodel: x\n")
    }

    @Test func aDamagedRecordIsSaid() async throws {
        let lab = try ConnectLab()
        try lab.folder.write("hearth/connect/aider/record.json", Data("{\"format\": 9}".utf8))
        await expect(.recordDamaged) { _ = try await lab.connector.undo(.aider) }
        await expect(.recordDamaged) { _ = try await lab.connector.connect(.aider, lab.target) }
        #expect(try lab.files() == [:])
    }
}
