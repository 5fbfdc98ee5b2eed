import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct PublishUsageTests {
    @Test(arguments: [
        ["publish"], ["publish", "a.gguf"], ["publish", "--to", "x"], ["publish", "", "--to", "x"],
        ["publish", "a.gguf", "--to", "x", "--version", "one"], ["publish", "a.gguf", "--to", "x", "--family", "A b"],
        ["publish", "a.gguf", "--to", "x", "--family", "../x"], ["publish", "a.gguf", "--to", "x", "--variant", "a/b"],
        ["publish", "a.gguf", "--to="], ["host"], ["host", ""], ["host", "x", "--port", "65536"], ["host", "x", "y"],
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

    @Test func aFolderThatIsNotThereCannotBeServed() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run("host", folder.path("none").string) == 1)
        #expect(probe.errors.contents.contains("[folder-missing]"))
    }

    @Test func aHostEndsWellWhenItIsTold() async throws {
        let folder = try TemporaryFolder()
        try folder.write("models.json", Data("{}".utf8))
        let interruptions = Interruptions()
        let output = CaptureSink { if $0.hasPrefix("http://127.0.0.1:") { interruptions.deliver(.terminate) } }
        let probe = CommandProbe(home: folder.path("home"), output: output, interruptions: interruptions)
        #expect(await probe.run("host", folder.path.string) == 0)
        #expect(output.contents.hasSuffix("/models.json\n"))
    }
}
