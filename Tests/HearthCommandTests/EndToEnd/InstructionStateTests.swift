import Foundation
import Hearth
import HearthBase
import HearthTestSupport
import Testing

/// The next process reads the assistant's instructions from the disk.
@Suite(.serialized, .enabled(if: EngineOpening.runsGGUF), .timeLimit(.minutes(10))) struct InstructionStateTests {
    private func states(_ lab: HearthLab) throws -> [Path] {
        let folder = lab.folder.path("home").appending("instruction-states")
        guard FileManager.default.fileExists(atPath: folder.string) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.string)
            .filter { $0.contains(".state") }.map { folder.joined($0) }
    }

    private func ask(
        _ lab: HearthLab, _ question: String, _ options: [String] = []
    ) async throws -> (status: Int32, prompt: Int, cached: Int) {
        let answer = try await ChildProcess.run(
            [
                "chat", TestModel.path.string, "--assistant", "--format", "json", "--max-tokens", "2", "--prompt",
                question,
            ]
                + options, environment: lab.environment)
        let last = answer.output.split(separator: "\n").last.map { Data($0.utf8) } ?? Data()
        let event = try? JSONSerialization.jsonObject(with: last) as? [String: Any]
        let usage = event?["usage"] as? [String: Int]
        return (answer.status, usage?["promptTokens"] ?? 0, usage?["cachedTokens"] ?? 0)
    }

    @Test func theSecondStartReadsNoInstructions() async throws {
        let lab = try HearthLab()
        #expect(try await ask(lab, "Why?", ["--private"]).cached == 0)
        #expect(try states(lab).isEmpty)
        let first = try await ask(lab, "Why does the fox walk?")
        #expect(first.status == 0 && first.prompt > 400 && first.cached == 0)
        let kept = try #require(try states(lab).first)
        #expect(try states(lab).count == 1)
        let bytes = try Data(contentsOf: URL(filePath: kept.string))
        for question in ["What is on today?", "Tell me about bears."].prefix(TestExtent.isFull ? 2 : 1) {
            let next = try await ask(lab, question)
            #expect(next.status == 0 && next.cached > 400)
        }
        #expect(try await ask(lab, "A secret?", ["--private"]).cached > 300)
        #expect(try states(lab) == [kept] && bytes == Data(contentsOf: URL(filePath: kept.string)))
        #expect(bytes.range(of: Data("fox".utf8)) == nil)
    }

    /// A state with a right digest that llama.cpp cannot read: at most the one process of the engine ends.
    @Test(.enabled(if: TestExtent.isFull)) func aHostileStateIsReadAtMostOnce() async throws {
        let lab = try HearthLab()
        // Nothing is kept before there is a home.
        try LocalFileSystem().makeFolders(lab.folder.path("home"))
        #expect(try await ask(lab, "Why does the fox walk?").status == 0)
        let kept = try #require(try states(lab).first)
        var data = try Data(contentsOf: URL(filePath: kept.string))
        // The state begins behind the digest, the maker, the tokens and its length.
        func number(at offset: Int) -> Int { data[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int($1) } }
        let tokens = 44 + number(at: 40)
        let begin = tokens + 4 + 4 * number(at: tokens) + 8
        for index in begin..<begin + 64 { data[index] = 0x7F }
        data.replaceSubrange(8..<40, with: SHA256Digest(hashing: data.dropFirst(40)).bytes)
        try data.write(to: URL(filePath: kept.string))
        _ = try await ask(lab, "What is on today?")
        let after = try await ask(lab, "What is on today?")
        #expect(after.status == 0 && after.prompt > 400)
    }
}
