import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

/// The built program and the Hub's own Python client, side by side against one hub.
@Suite(.timeLimit(.minutes(10))) struct HubTests {
    private let folder: TemporaryFolder
    private let hub: TestHub
    private static let python = Path("/usr/bin/python3")

    init() throws {
        folder = try TemporaryFolder()
        hub = try TestHub()
    }

    private static let files: [String: TestHub.File] = [
        ".gitattributes": .small("*.safetensors filter=lfs diff=lfs merge=lfs -text\n"),
        "README.md": .small("---\nlicense: apache-2.0\n---\n# A model\n"), "config.json": .small("{}"),
        "empty.txt": .small(""), "a b+c#d%41.txt": .small("escaped"), "1_Pooling/config.json": .small("{ }"),
        "tokenizer.json": .large(.pattern(offset: 3, count: 70_000)),
        "model-00001-of-00002.safetensors": .large(.pattern(offset: 11, count: 3_000_000)),
        "model-00002-of-00002.safetensors": .large(.pattern(offset: 17, count: 200_001)),
        "extra/deep/ü.txt": .small("folders in folders"),
    ]

    private func environment(token: String? = nil) -> [String: String] {
        var environment = [
            "HEARTH_HOME": folder.path("home").string, "HOME": folder.path.string, "HF_ENDPOINT": hub.endpoint,
        ]
        environment["HF_TOKEN"] = token
        return environment
    }

    private func hearth(_ words: String..., token: String? = nil) async throws -> ChildProcess.Result {
        try await ChildProcess.run(words, environment: environment(token: token))
    }

    /// What the Python client makes of a repository: the folder of the snapshot, or the name of its error.
    private func client(
        _ repository: String, _ revision: String = "-", _ patterns: String..., token: String? = nil
    ) async throws -> ChildProcess.Result {
        #expect(
            FileManager.default.fileExists(atPath: HubPythonClient.path.string),
            "the hub client is not in the cache: run make setup")
        return try await ChildProcess.run(
            ["-c", HubPythonClient.script, repository, revision] + patterns, program: Self.python,
            environment: HubPythonClient.environment(endpoint: hub.endpoint, home: folder.path, token: token))
    }

    private func tree(_ folder: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        let base = URL(filePath: folder)
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where name != "receipt.json" {
            var isFolder: ObjCBool = false
            let path = base.appending(path: name).path
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            files[name] = try Data(contentsOf: URL(filePath: path))
        }
        return files
    }

    private func installedFolder() async throws -> String {
        let listed = try await hearth("list", "--format", "json")
        let list = try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]]
        return try #require(list?.first?["path"] as? String)
    }

    @Test func bothBringTheSameTree() async throws {
        hub.publish("org/model", Self.files)
        hub.page(by: 4)
        let theirs = try await client("org/model")
        #expect(theirs.status == 0, "\(theirs.output)\(theirs.errors)")
        // Without a cache to look into: the bytes have to come from the hub.
        let pulled = try await ChildProcess.run(
            ["pull", "--no-activate", "hf:org/model"],
            environment: environment().merging(["HF_HUB_CACHE": folder.path("nowhere").string]) { $1 })
        #expect(pulled.status == 0, "\(pulled.errors)")
        let expected = try tree(theirs.output.trimmingCharacters(in: .newlines))
        #expect(expected == Self.files.mapValues { Data($0.content.bytes) }, "the hub is a faithful one")
        #expect(try await tree(installedFolder()) == expected)
    }

    @Test func bothPickTheSameFiles() async throws {
        var files = Self.files
        for quantization in ["Q4_K_M", "Q8_0"] {
            files["gguf/m-\(quantization).gguf"] = .large(.pattern(count: UInt64(quantization.utf8.count) * 1000))
        }
        hub.publish("org/model", files, revision: "refs/pr/3")
        let theirs = try await client("org/model", "refs/pr/3", "gguf/*Q4*")
        #expect(theirs.status == 0, "\(theirs.output)\(theirs.errors)")
        let pulled = try await hearth("pull", "--no-probe", "hf:org/model@refs/pr/3:gguf/*Q4*")
        #expect(pulled.status == 0, "\(pulled.errors)")
        #expect(try await tree(installedFolder()) == tree(theirs.output.trimmingCharacters(in: .newlines)))
    }

    @Test func whatTheClientHasIsNotFetchedAgain() async throws {
        hub.publish("org/model", Self.files)
        let theirs = try await client("org/model")
        #expect(theirs.status == 0, "\(theirs.output)\(theirs.errors)")
        let before = hub.storage.requests.count
        let pulled = try await ChildProcess.run(
            ["pull", "--no-activate", "hf:org/model"],
            environment: environment().merging(["HF_HOME": folder.path("hf").string]) { $1 })
        #expect(pulled.status == 0, "\(pulled.errors)")
        #expect(pulled.errors.contains("0 B were fetched"), "\(pulled.errors)")
        #expect(hub.storage.requests.count == before)
        #expect(try await tree(installedFolder()) == Self.files.mapValues { Data($0.content.bytes) })
    }

    @Test func bothFailAlike() async throws {
        let files = ["m.gguf": TestHub.File.large(.pattern(count: 1000))]
        hub.publish("org/gated", files, access: .gated)
        hub.publish("org/private", files, access: .tokenHolders)
        hub.publish("org/public", files)
        let table: [(String, String, String, String)] = [
            ("org/gated", "-", "GatedRepoError", "repository-gated"),
            ("org/private", "-", "RepositoryNotFoundError", "repository-missing"),
            ("org/none", "-", "RepositoryNotFoundError", "repository-missing"),
            ("org/public", "none", "RevisionNotFoundError", "unknown-revision"),
        ]
        for (repository, revision, error, code) in table {
            let theirs = try await client(repository, revision)
            #expect(theirs.output == error + "\n", "\(theirs.errors)")
            let ours = try await hearth("pull", "hf:\(repository)" + (revision == "-" ? "" : "@\(revision)"))
            #expect(ours.status == 1)
            #expect(ours.errors.contains("[\(code)]"), "\(ours.errors)")
        }
        for repository in ["org/gated", "org/private"] {
            #expect(try await client(repository, token: hub.token).status == 0)
            let ours = try await hearth("pull", "--no-probe", "hf:\(repository)", token: hub.token)
            #expect(ours.status == 0, "\(ours.errors)")
            #expect(!ours.errors.contains(hub.token) && !ours.output.contains(hub.token))
        }
        #expect(hub.storage.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func bothFollowARenamedRepository() async throws {
        hub.publish("old/name", ["m.gguf": .large(.pattern(count: 1000)), "README.md": .small("x")])
        hub.rename("old/name", to: "new/title")
        let theirs = try await client("old/name")
        #expect(theirs.status == 0, "\(theirs.output)\(theirs.errors)")
        let ours = try await hearth("pull", "--no-probe", "hf:old/name")
        #expect(ours.status == 0, "\(ours.errors)")
    }

    @Test func anUpdateSaysWhatWouldComeAndThenBringsIt() async throws {
        hub.publish(
            "org/model",
            ["m.onnx": .large(.pattern(count: 50_000)), "labels.txt": .large(.pattern(count: 20_000))])
        #expect(try await hearth("pull", "hf:org/model").status == 0)
        #expect(try await hearth("update", "--check").output.contains("up to date"))
        let commit = hub.publish(
            "org/model",
            ["m.onnx": .large(.pattern(offset: 1, count: 60_000)), "labels.txt": .large(.pattern(count: 20_000))])
        let check = try await hearth("update", "--check")
        #expect(check.output.contains("\(commit.prefix(12)) is available; 60.0 kB to fetch"), "\(check.output)")
        #expect(check.output.contains("20.0 kB are here already (labels.txt)"), "\(check.output)")
        let json = try await hearth("update", "--check", "--format", "json")
        let event = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.split(separator: "\n")[0].utf8)) as? [String: Any])
        #expect(event["reason"] as? String == "new-version")
        #expect(event["fetchBytes"] as? Int == 60_000)
        #expect(event["sharedFiles"] as? [String] == ["labels.txt"])
        let updated = try await hearth("update")
        #expect(updated.status == 0, "\(updated.errors)")
        #expect(try await hearth("list").output.contains(commit.prefix(12)))
    }
}
