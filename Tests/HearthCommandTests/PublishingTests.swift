import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthCommand

@Suite struct PublishUsageTests {
    @Test(arguments: [
        ["publish"], ["publish", "a.gguf"], ["publish", "--to", "x"], ["publish", "", "--to", "x"],
        ["publish", "a.gguf", "--to", "x", "--version", "one"], ["publish", "a.gguf", "--to", "x", "--family", "A b"],
        ["publish", "a.gguf", "--to", "x", "--family", "../x"], ["publish", "a.gguf", "--to", "x", "--variant", "a/b"],
        ["publish", "a.gguf", "--to", "x", "--rollout", "101"], ["publish", "a.gguf", "--to", "x", "--rollout", "5:"],
        ["publish", "a.gguf", "--to", "x", "--rollout", "5:a b"], ["publish", "a.gguf", "--to", "x", "--role", "king"],
        ["publish", "a.gguf", "--to", "x", "--current", "now"], ["publish", "a.gguf", "--to", "x", "--name", "a\nb"],
        ["publish", "a.gguf", "--to", "x", "--min-app-version", "1"], ["publish", "a.gguf", "--to", "x", "--with="],
        ["publish", "a.gguf", "--to", "x", "--with", "projector="],
        ["publish", "a.gguf", "--to", "x", "--member", "b.gguf"],
        ["publish", "a.zip", "--to", "x", "--member", "../b.gguf"],
        ["publish", "a.gguf", "--to="], ["publish", "a.gguf", "--to", "r2:"],
        ["publish", "a.gguf", "--to", "nowhere:bucket"],
        ["publish", "a.gguf", "--to", "x", "--public", "http://example.com"],
        ["publish", "a.gguf", "--to", "x", "--single", "models.json"],
        ["publish", "a.gguf", "--to", "x", "--single", "a/b.json"],
        ["publish", "a.gguf", "--to", "x", "--trained-on", "spring"], ["unpublish", "m"], ["yank", "m", "--to="],
        ["yank", "m@1.0.0", "--to", "x", "--undo", "--reason", "bad"],
        ["yank", "m@1.0.0", "--to", "x", "--reason", "a\nb"],
        ["rollout", "m@1.0.0", "--to", "x"], ["rollout", "m@1.0.0", "--to", "x", "--halt", "--resume"],
        ["rollout", "m@1.0.0", "--to", "x", "--percent", "101"], ["unpublish", "../m", "--to", "x"],
        ["origin", "check"],
        ["origin", "check", "http://example.com"], ["origin", "prune"], ["origin", "prune", "x", "--keep", "-1"],
        ["host"], ["host", ""], ["host", "x", "--port", "65536"], ["host", "x", "y"],
    ])
    func wrongUsageExits64(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(words) == 64)
        #expect(probe.output.contents.isEmpty)
    }

    @Test func aMissingFileIsAFailureAndMakesNoManifest() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        let origin = folder.path("origin").string
        #expect(await probe.run("publish", folder.path("m-v1.0.0.gguf").string, "--to", origin) == 1)
        #expect(!FileManager.default.fileExists(atPath: origin + "/models.json"))
    }

    @Test func whatIsSaidOfAReleaseIsPublished() async throws {
        let folder = try TemporaryFolder()
        let model = try folder.write("m-v1.0.0-q4.gguf", ModelFiles.gguf())
        let probe = CommandProbe(home: folder.path("home"))
        let words = ["publish", model.string, "--to", folder.path("origin").string]
        let status = await probe.run(
            words + [
                "--name", "My Model", "--notes", "New.\nBetter.", "--license", "mit", "--role", "classifier",
                "--min-app-version", "1.2.0", "--memory", "3G", "--rollout", "25:spring",
            ])
        #expect(status == 0, "\(probe.errors.contents)")
        let manifest = folder.path("origin/models.json")
        func release() throws -> Release {
            let data = try LocalFileSystem().contents(ofFile: manifest, limit: 1 << 20)
            return try #require(try Catalog(manifest: data, url: manifest.url).releases.first)
        }
        var said = try release()
        #expect(said.name == "My Model")
        #expect(said.notes == "New.\nBetter.")
        #expect(said.license == "mit")
        #expect(said.role == .classifier)
        #expect(said.minimumAppVersion == SemanticVersion(1, 2, 0))
        #expect(said.requirements.memoryBytes == 3_000_000_000)
        #expect(said.rollout == Rollout(percent: 25, seed: "spring"))
        // The same bytes, for everybody now.
        #expect(await probe.run(words + ["--rollout", "100:spring"]) == 0)
        said = try release()
        #expect(said.rollout?.percent == 100 && said.name == "My Model")
    }

    @Test func aPublishersDayInAFolder() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        let origin = folder.path("origin").string
        for (version, byte) in [("1.0.0", UInt8(1)), ("1.1.0", 2)] {
            let model = try folder.write("m-v\(version)-q4.gguf", ModelFiles.gguf(payload: [byte]))
            #expect(await probe.run("publish", model.string, "--to", origin, "--summary", "A model") == 0)
        }
        #expect(await probe.run("origin", "check", origin) == 0, "\(probe.errors.contents)")
        #expect(await probe.run("rollout", "m@1.1.0", "--percent", "10", "--to", origin) == 0)
        #expect(await probe.run("yank", "m@1.1.0", "--reason", "bad", "--to", origin) == 0)
        #expect(probe.output.contents.contains("m@1.1.0:q4  withdrawn"))
        #expect(probe.errors.contents.contains("Current is m@1.0.0, serial 4."))
        #expect(await probe.run("unpublish", "m@1.1.0", "--to", origin) == 0)
        #expect(await probe.run("unpublish", "m@1.1.0", "--to", origin) == 1)
        #expect(probe.errors.contents.contains("[not-published]"))
        #expect(await probe.run("origin", "prune", origin) == 0)
        try LocalFileSystem().removeFile(folder.path("origin/models/m-v1.0.0-q4.gguf"))
        #expect(await probe.run("origin", "check", origin) == 1)
        #expect(probe.errors.contents.contains("[origin-faulty]"))
    }

    @Test func aFolderThatIsNotThereCannotBeServed() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("host", folder.path("none").string) == 1)
        #expect(probe.errors.contents.contains("[folder-missing]"))
    }

    @Test func aHostEndsWellWhenItIsTold() async throws {
        let folder = try TemporaryFolder()
        try folder.write("models.json", Data("{}".utf8))
        let interruptions = Interruptions.timeless
        let output = CaptureSink { if $0.hasPrefix("http://127.0.0.1:") { interruptions.deliver(.terminate) } }
        let probe = CommandProbe(home: folder.path("home"), output: output, interruptions: interruptions)
        #expect(await probe.run("host", folder.path.string) == 0)
        #expect(output.contents.hasSuffix("/models.json\n"))
    }
}
