#if Llama
import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// A file of 1.7 billion weights, run by its path: the short form of the assistant's prompt.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ZeroModelTests {
    /// Makes the file with holes in place of its weights.
    private static func model(_ folder: TemporaryFolder) async throws -> Path {
        let root = Path(#filePath).parent.parent.parent.parent
        let file = folder.path("zeros.gguf")
        let made = try await ChildProcess.run(
            ["python3", root.appending("scripts/tests/zero-model.py").string, TestModel.path.string, file.string],
            program: Path("/usr/bin/env"), environment: ProcessInfo.processInfo.environment)
        try #require(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("1711376384 weights"))
        return file
    }

    /// The prompt tokens of a question.
    private func tokens(_ model: Path, _ folder: TemporaryFolder, _ words: String...) async throws -> Int {
        let probe = CommandProbe(home: folder.path("home"))
        let limits = ["--max-tokens", "1", "--temperature", "0", "--format", "json"]
        try #require(await probe.run(["chat", model.string] + words + limits) == 0, "\(probe.errors.contents)")
        #expect(!probe.errors.contents.contains("too small"))
        let last = try #require(probe.output.contents.split(separator: "\n").last)
        let event = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any]
        return try #require((event?["usage"] as? [String: Any])?["promptTokens"] as? Int)
    }

    @Test(.enabled(if: TestExtent.isFull)) func theShortFormFollowsTheQuestion() async throws {
        let folder = try TemporaryFolder()
        let model = try await Self.model(folder)
        // The template without a system message has one of its own, of 22 tokens.
        let own = 22
        #expect(await CommandProbe(home: folder.path("home")).run("config", "set", "contextLength", "4096") == 0)
        let bare = try await tokens(model, folder, "--prompt", "hi")
        let greeting = try await tokens(model, folder, "--approve", "NOTE_ACTION", "--prompt", "hi")
        // One sentence.
        #expect((bare - own...bare + 10).contains(greeting), "\(bare), \(greeting)")
        let question = "Remind me tomorrow at nine to call Anna"
        let asked = try await tokens(model, folder, "--prompt", question)
        let short = try await tokens(model, folder, "--approve", "NOTE_ACTION", "--prompt", question)
        #expect((asked + 30...asked - own + 150).contains(short), "\(asked), \(short)")
        let whole = try await tokens(model, folder, "--assistant", "--prompt", question)
        #expect(whole > 400, "\(whole)")
    }
}
#endif
