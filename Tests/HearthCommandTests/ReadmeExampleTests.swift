import Foundation
import Hearth
import Testing

/// The README's example is code that compiles: this is it, and the page is compared with it.
@Suite struct ReadmeExampleTests {
    func example(manifest: URL) async throws {
        // README
        // Fetches only models that this device can run, quantizes large ones, and probes each release before it is live.
        let hearth = try Hearth(origins: [Origin("main", manifest)])

        // The installed model now, an update in the background; waits only if no model is installed.
        let model = try await hearth.model("smollm2-135m-instruct") { progress in
            print(progress.state, progress.fraction ?? 0)
        }

        // An update replaces the model between two answers.
        let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
        print(try await session.respond(to: "What is the capital of France?").content)

        // The next answer while it is written: a snapshot has all text so far, `stream.events` gives the pieces.
        let stream = session.streamResponse(to: "And of Germany?")
        for try await snapshot in stream {
            print(snapshot.content, snapshot.summary?.timings.decodeTokensPerSecond ?? 0)
        }
        await hearth.close()
        // README
    }

    @Test func theReadmeShowsThisCode() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let parts = source.components(separatedBy: "        // README\n")
        try #require(parts.count >= 3)
        let code = parts[1].split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("        ") ? String($0.dropFirst(8)) : String($0) }.joined(separator: "\n")
        #expect(readme.contains(code))
    }
}
