import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// No file goes under a reader in another process.
@Suite(.timeLimit(.minutes(10))) struct HeldReleaseTests {
    private static let probe = Path(ChildProcess.hearth.parent.string + "/HearthCrashProbe")

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hearth(_ words: [String]) async throws -> ChildProcess.Result {
        try await ChildProcess.run(words, environment: ["HEARTH_HOME": folder.path("home").string])
    }

    @Test func nothingRemovesWhatAnotherProcessReads() async throws {
        let content = Content.pattern(count: 3 << 20).bytes
        let digest = SHA256Digest(hashing: content).hex
        let file = try folder.write("held-v1.0.0-q4_1.gguf", Data(content))
        #expect(try await hearth(["pull", file.string, "--no-probe"]).status == 0)
        let newer = try folder.write("held-v2.0.0-q4_1.gguf", Data("newer".utf8))

        let reader = try ChildProcess(["hold", folder.path("home").string, "held"], program: Self.probe)
        var lines = reader.outputLines.makeAsyncIterator()
        #expect(await lines.next() == "holding")
        let weights = folder.path("home/models/held/1.0.0~q4_1/held-v1.0.0-q4_1.gguf")
        let identity = try LocalFileSystem().status(at: weights)?.identity

        // Made obsolete twice over, and still nobody takes it away.
        #expect(try await hearth(["pull", newer.string, "--no-probe"]).status == 0)
        for words in [["remove", "held@1.0.0"], ["remove", "held"], ["prune"], ["prune", "--budget", "0"]] {
            let result = try await hearth(words)
            if words[0] == "remove" {
                #expect(result.status != 0 && result.errors.contains("release-in-use"), "\(result.errors)")
                #expect(result.errors.contains("\(reader.identifier)"), "it says who: \(result.errors)")
            }
            #expect(try LocalFileSystem().status(at: weights)?.identity == identity)
        }
        for _ in 0..<20 { #expect(await lines.next() == "read \(digest)") }

        // However its reader ends, it can go afterwards.
        reader.send(SIGKILL)
        _ = await reader.result()
        let removed = try await hearth(["remove", "held@1.0.0"])
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try LocalFileSystem().status(at: weights) == nil)
    }
}
