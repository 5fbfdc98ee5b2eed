import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// A user's home, with the files of the apps as a person might have them.
struct ConnectLab {
    let folder: TemporaryFolder
    let connector: Connector
    var target = ConnectTarget(address: "http://127.0.0.1:4327/", model: "tiny", window: 8192)

    init(environment: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        var all = ["HOME": folder.path("user").string, "PATH": folder.path("bin").string]
        all.merge(environment) { $1 }
        connector = Connector(ConnectPlaces(environment: all, home: folder.path("hearth")))
    }

    func path(_ name: String) -> Path { folder.path("user/\(name)") }

    func text(_ name: String) -> String? {
        (try? Data(contentsOf: path(name).url)).map { String(decoding: $0, as: UTF8.self) }
    }

    @discardableResult
    func write(_ name: String, _ text: String, mode: Int = 0o644) throws -> Path {
        let path = try folder.write("user/\(name)", Data(text.utf8))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path.string)
        return path
    }

    func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name).string)[.posixPermissions] as? Int
    }

    /// All files of the user with their bytes.
    func files() throws -> [String: String] {
        let root = folder.path("user")
        guard try LocalFileSystem().status(at: root) != nil else { return [:] }
        var files: [String: String] = [:]
        for name in try LocalFileSystem().files(below: root) { files[name] = text(name) }
        return files
    }
}

extension ConnectLab {
    /// The file of each app, as it might be, and what must be in it afterwards.
    static let apps: [(app: ConnectedApp, file: String, before: String, parts: [String])] = [
        (
            .claude, ".claude/settings.json",
            "{\n    \"model\": \"opus\",\n    \"env\": { \"ANTHROPIC_API_KEY\": \"sk-1\", \"FOO\": \"bar\" },\n    \"hooks\": {}\n}\n",
            [
                "\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:4327\"", "\"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE\": \"6\"",
                "\"FOO\": \"bar\"",
            ]
        ),
        (
            .codex, ".codex/config.toml",
            "# my codex\nmodel = \"gpt-5.5\" # the best\n\n[projects.\"/home/u\"]\ntrust_level = \"trusted\"\n",
            [
                "model = \"tiny\" # the best", "[model_providers.hearth]", "base_url = \"http://127.0.0.1:4327/v1\"",
                "model_context_window = 8192",
            ]
        ),
        (
            .opencode, ".config/opencode/opencode.jsonc",
            "{\n  // theme\n  \"theme\": \"dark\",\n  \"provider\": {\n    \"x\": {},\n  },\n}\n",
            [
                "\"baseURL\": \"http://127.0.0.1:4327/v1\"", "// theme", "\"model\": \"hearth/tiny\"",
                "\"context\": 8192",
            ]
        ),
        (
            .aider, ".aider.conf.yml", "# aider\nmodel: gpt-4o # old\nauto-commits: false\n",
            ["model: openai/tiny # old", "openai-api-base: http://127.0.0.1:4327/v1", "auto-commits: false"]
        ),
        (
            .continue, ".continue/config.yaml",
            "name: Mine\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: GPT\n    provider: openai\n    model: gpt-4o\ncontext:\n  - provider: code\n",
            [
                "  - name: \"Hearth tiny\"", "    apiBase: http://127.0.0.1:4327/v1", "contextLength: 8192",
                "context:\n  - provider: code\n",
            ]
        ),
        (
            .zed, ".config/zed/settings.json",
            "// Zed settings\n{\n  \"theme\": \"One Dark\",\n  /* fonts */\n  \"buffer_font_size\": 15,\n}\n",
            ["\"api_url\": \"http://127.0.0.1:4327/v1\"", "/* fonts */", "\"max_tokens\": 8192"]
        ),
        (
            .llm, ".config/io.datasette.llm/extra-openai-models.yaml",
            "- model_id: other\n  model_name: other\n  api_base: http://localhost:8080\n",
            ["- model_id: hearth/tiny\n", "  api_base: http://127.0.0.1:4327/v1", "- model_id: other\n"]
        ),
    ]
}

/// Expects a refusal with a code.
func expect(
    _ code: ErrorCode<ConnectErrorDomain>, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    let error = await #expect(throws: ConnectError.self, sourceLocation: sourceLocation) { try await body() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
}
