import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthInference
import HearthStore
import HearthTestSupport
import Testing

@testable import HearthCommand

/// Which model answers `hearth chat --image` without a name.
@Suite(.timeLimit(.minutes(5))) struct ChatPictureTests {
    private let folder: TemporaryFolder
    private let picture: String

    init() throws {
        folder = try TemporaryFolder()
        picture = try folder.write("picture.png", Data(TestPictures.png(width: 2, height: 2))).string
    }

    /// Puts a model live: its weights are its name, which is what its engine answers.
    private func install(_ name: String, sees: Bool, format: ModelFormat = .gguf) async throws {
        let store = ModelStore(home: folder.path("home"))
        let disk = LocalFileSystem()
        let places = [("weights.gguf", FileRole.weights)] + (sees ? [("mmproj.gguf", .projector)] : [])
        let staged = try places.map { file, role in
            let path = try folder.write("\(name)-\(file)", Data(name.utf8))
            return StagedFile(
                name: try #require(RelativePath(file)), role: role, path: path,
                size: try disk.status(at: path)?.size ?? 0, digest: try disk.digest(ofFile: path), isVerified: true)
        }
        let files = staged.map {
            RemoteFile(name: $0.name, role: $0.role, size: .exact($0.size), digest: $0.digest, locations: [])
        }
        let identity = ReleaseIdentity(
            family: try #require(Family(name)), version: try #require(ReleaseVersion("1.0.0")))
        var release = Release(identity: identity, id: name, file: files[0], format: format)
        release.companions = Array(files.dropFirst())
        _ = try await store.install(release, files: staged, origin: nil)
        _ = try await store.activate(identity)
    }

    private func chat(_ words: String..., settings: [String: String]) async throws -> (status: Int32, CommandProbe) {
        try await SettingsFile(home: folder.path("home")).change { configuration in
            for (key, value) in settings { try configuration.set(key, to: value) }
        }
        var probe = CommandProbe(home: folder.path("home"))
        var engines = EngineRegistry()
        engines.register(.gguf) { request in
            let name = try String(contentsOf: request.files.weights.url, encoding: .utf8)
            return ScriptedEngine([[.text("I am \(name)."), .finish(.endOfGeneration)]])
        }
        probe.engines = engines
        return (await probe.run(["chat", "--prompt", "What is this?"] + words), probe)
    }

    @Test(
        arguments: [
            (["defaultModel": "text"], "eyes"), (["defaultModel": "text", "visionModel": "other"], "other"),
            // A default model that sees answers itself, and a model without an engine here is never chosen.
            (["defaultModel": "other", "visionModel": "eyes"], "other"),
            (["defaultModel": "text", "visionModel": "a-mlx"], "eyes"),
        ])
    func aModelThatSeesAnswers(settings: [String: String], expected: String) async throws {
        try await install("text", sees: false)
        try await install("eyes", sees: true)
        try await install("other", sees: true)
        try await install("a-mlx", sees: true, format: .mlx)
        let (status, probe) = try await chat("--image", picture, settings: settings)
        #expect(status == 0, "\(probe.errors.contents)")
        #expect(probe.output.contents == "I am \(expected).\n")
        let (_, plain) = try await chat(settings: settings)
        #expect(plain.output.contents == "I am \(settings["defaultModel"] ?? "").\n", "without a picture it stays")
    }

    @Test func aWrongNameIsSaid() async throws {
        try await install("text", sees: false)
        try await install("eyes", sees: true)
        let (status, probe) = try await chat(
            "--image", picture, settings: ["defaultModel": "text", "visionModel": "nobody"])
        #expect(status == 1)
        #expect(probe.errors.contents.contains("visionModel") && probe.errors.contents.contains("[not-installed]"))
    }

    /// Of several installed models, one that answers and has an engine here is the only one.
    @Test func whatNoEngineRunsIsNoChoice() async throws {
        try await install("text", sees: false)
        try await install("a-mlx", sees: false, format: .mlx)
        let (status, probe) = try await chat(settings: [:])
        #expect(status == 0, "\(probe.errors.contents)")
        #expect(probe.output.contents == "I am text.\n")
    }
}
