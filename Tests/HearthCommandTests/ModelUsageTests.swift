import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct ModelUsageTests {
    @Test(arguments: [
        ["pull"], ["pull", ""], ["pull", "Bad Name"], ["pull", "m@"], ["pull", "m:"],
        ["pull", "a", "b"], ["pull", "m", "--limit-rate", "0"], ["pull", "m", "--version", ""],
        ["pull", "m", "--version", "../1"], ["pull", "m", "--variant", "a/b"], ["pull", "m@1", "--version", "2"],
        ["pull", "m:q4", "--variant", "q8"], ["pull", "x.gguf", "--version", "1"], ["pull", "m", "--format", "xml"],
        ["pull", "http://example.org/models.json"], ["pull", "ftp://example.org/models.json"],
        ["list", "m"], ["list", "--format", "csv"], ["show"], ["show", "a", "b"], ["use"], ["use", "x.gguf"],
        ["use", "https://example.org/models.json"], ["remove"], ["remove", ""], ["remove", "*"],
        ["verify", "https://example.org/models.json"], ["update", "m@1"], ["update", "A"], ["update", "--chek"],
    ])
    func wrongUsageExits64(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(words) == 64)
        #expect(probe.output.contents.isEmpty)
        #expect(probe.errors.contents.hasPrefix("hearth: "))
        #expect(!FileManager.default.fileExists(atPath: folder.path("home").string))
    }

    @Test(arguments: [
        (["pull", "m"], "unknown-family"), (["show", "m"], "unknown-family"),
        (["update"], "no-origin"), (["use", "m@1.0.0"], "not-installed"), (["remove", "m"], "not-installed"),
        (["verify", "m"], "not-installed"), (["chat", "m", "--prompt", "x"], "not-installed"),
        (["chat", "--prompt", "x"], "no-model"),
        (["pull", "./none-v1.0.0.gguf"], "file-not-found"), (["show", "none.gguf"], "file-not-found"),
        (["verify", "none.gguf"], "file-not-found"),
    ])
    func onAnEmptyHomeEachHasItsCode(words: [String], code: String) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(words) == 1)
        #expect(probe.errors.contents.contains("[\(code)]"))
        #expect(probe.output.contents.isEmpty)
    }

    @Test func anEndpointThatIsNoneIsNamed() async throws {
        let folder = try TemporaryFolder()
        for endpoint in ["http://hub.example", "ftp://127.0.0.1", "https://me:secret@hub.example", "hub", "https://"] {
            let probe = CommandProbe(home: folder.path("home"), environment: ["HF_ENDPOINT": endpoint])
            #expect(await probe.run(["pull", "hf:org/repo"]) == 1)
            #expect(probe.errors.contents.contains("[bad-endpoint]"), "\(endpoint)")
            #expect(!probe.errors.contents.contains("secret"))
        }
    }

    /// An address may be the key to what is there: nobody is shown more than the way.
    @Test func showKeepsSecretsOfAddressesToItself() async throws {
        let folder = try TemporaryFolder()
        let data = ModelFiles.gguf(texts: [])
        let server = try FaultServer { request in
            guard request.path == "/models.json" else { return FaultServer.answer(request, with: .data(data)) }
            return .text(
                #"""
                {"schemaVersion": 1, "models": [{"id": "m", "version": "1.0.0", "filename": "toy-v1.0.0-q4_1.gguf",
                 "minAppVersion": "0.0.0", "sizeBytes": \#(data.count), "sha256": "\#(SHA256Digest(hashing: data).hex)",
                 "downloadUrl": "toy.gguf"}]}
                """#)
        }
        let probe = CommandProbe(home: folder.path("home"))
        let plain = try server.url("/models.json")
        let address = plain.absoluteString + "?token=hidden"
        #expect(await probe.run("show", address) == 0, "\(probe.errors.contents)")
        #expect(await probe.run("pull", address, "--no-probe") == 0, "\(probe.errors.contents)")
        #expect(await probe.run("show", "toy", "--format", "json") == 0)
        let said = probe.output.contents + probe.errors.contents
        #expect(said.contains(plain.absoluteString))
        #expect(!said.contains("hidden"), "\(said)")
    }

    @Test(arguments: [["list"], ["verify"], ["list", "--format", "json"]])
    func anEmptyHomeIsNoFailure(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(words) == 0)
        #expect(probe.output.contents == (words.contains("json") ? "[\n\n]\n" : ""))
    }

    @Test(arguments: [
        "http://127.0.0.1:1/models.json", "https://127.0.0.1:1/models.json",
    ])
    func anAbsentServerIsTryAgainLater(origin: String) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"), environment: ["HEARTH_ORIGIN": origin])
        #expect(await probe.run("pull", "m") == 75)
        #expect(probe.errors.contents.contains("[origin-unreachable]"))
    }

    @Test func aBadEnvironmentOriginIsNamed() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"), environment: ["HEARTH_ORIGIN": "gopher://x"])
        #expect(await probe.run("pull", "m") == 1)
        #expect(probe.errors.contents.contains("HEARTH_ORIGIN"))
    }

    @Test(arguments: [
        ["list"], ["pull", "m"], ["use", "m@1"], ["remove", "m"], ["verify"], ["config", "set", "threads", "2"],
        ["chat", "--prompt", "x"], ["doctor"],
    ])
    func aHomeBelowARegularFileIsOneClearSentence(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", Data("x".utf8))
        try folder.write("models.json", Data(#"{"schemaVersion": 1, "models": []}"#.utf8))
        let probe = CommandProbe(
            home: Path(file.string + "/home"), environment: ["HEARTH_ORIGIN": folder.path("models.json").string])
        #expect(await probe.run(words) == 1)
        #expect(probe.errors.contents.contains(words == ["doctor"] ? "[problems-found]" : "["))
    }
}
