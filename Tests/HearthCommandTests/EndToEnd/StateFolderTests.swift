import Foundation
import Hearth
import HearthBase
import HearthTestSupport
import Testing

/// With the setting `stateFolder` the next process goes on from what this one has computed.
@Suite(.serialized, .enabled(if: EngineOpening.runsGGUF), .timeLimit(.minutes(10))) struct StateFolderTests {
    private static let question = String(repeating: "The fox walks along the quiet river. ", count: 30) + "Say yes."

    /// The files of all models, those that begin with a dot among them.
    private func states(_ lab: HearthLab) throws -> [String] {
        let folder = lab.folder.path("states")
        return try FileManager.default.contentsOfDirectory(atPath: folder.string).flatMap {
            try FileManager.default.contentsOfDirectory(atPath: folder.string + "/" + $0)
        }
    }

    private func lab() async throws -> HearthLab {
        let lab = try HearthLab()
        let set = try await lab.run("config", "set", "stateFolder", lab.folder.path("states").string)
        try #require(set.status == 0, "\(set.errors)")
        return lab
    }

    private func usage(_ output: String) throws -> (prompt: Int, cached: Int) {
        let last = try #require(output.split(separator: "\n").last)
        let event = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any]
        let usage = try #require(event?["usage"] as? [String: Int])
        return (try #require(usage["promptTokens"]), try #require(usage["cachedTokens"]))
    }

    private func ask(_ lab: HearthLab) async throws -> (prompt: Int, cached: Int) {
        let answer = try await lab.run(
            "chat", TestModel.path.string, "--format", "json", "--max-tokens", "2", "--prompt", Self.question)
        try #require(answer.status == 0, "\(answer.errors)")
        return try usage(answer.output)
    }

    @Test func theSecondChatReadsNothingTwice() async throws {
        let lab = try await lab()
        let first = try await ask(lab)
        #expect(first.prompt > 200 && first.cached == 0)
        let files = try states(lab)
        #expect(files.count == 1 && files.allSatisfy { $0.hasSuffix(".state") }, "\(files)")
        // The last token of a prompt is computed anew, for what follows it.
        #expect(try await ask(lab).cached == first.prompt - 1)
    }

    @Test(arguments: TestExtent.isFull ? [SIGINT, SIGTERM] : [SIGINT]) func neitherDoesOneAfterAnAnswerThatWasStopped(
        _ signal: Int32
    ) async throws {
        let lab = try await lab()
        let chat = try ChildProcess(
            ["chat", TestModel.path.string, "--format", "json", "--prompt", Self.question], environment: lab.environment
        )
        for await line in chat.outputLines where line.contains(#""event":"text""#) { break }
        chat.send(signal)
        #expect(await chat.result().status == 130)
        #expect(try states(lab).count == 1)
        let again = try await ask(lab)
        #expect(again.cached == again.prompt - 1)
    }
}
