import Foundation
import Hearth
import HearthBase
import HearthTestSupport
import Testing

/// An answer that a person stops has not ended the program, whatever the release still has to prove.
@Suite(.serialized, .enabled(if: EngineOpening.runsGGUF), .timeLimit(.minutes(10))) struct StoppedChatTests {
    private func marks(_ lab: HearthLab) -> [String] {
        let names = FileManager.default.enumerator(atPath: lab.folder.path("home/marks").string)
        return (names?.compactMap { $0 as? String } ?? []).filter { $0.split(separator: "/").count == 3 }
    }

    /// Ten thousand times the same: an answer that goes on until it may be no longer, however late this machine looks.
    private static let endless = """
        root ::= a a a a a a a a a a
        a ::= b b b b b b b b b b
        b ::= c c c c c c c c c c
        c ::= "one " "one " "one " "one " "one " "one " "one " "one " "one " "one "
        """

    @Test(arguments: [(SIGINT, "inline"), (SIGTERM, "worker")]) func itLeavesNoMark(
        _ signal: Int32, _ isolation: String
    ) async throws {
        let lab = try HearthLab()
        let pulled = try await lab.run("pull", TestModel.path.string, "--no-probe")
        try #require(pulled.status == 0, "\(pulled.errors)")
        // An engine in the process of the command marks what it tries; one in a worker needs no mark.
        let isolated = try await lab.run("config", "set", "engine.isolation", isolation)
        try #require(isolated.status == 0, "\(isolated.errors)")
        let grammar = lab.folder.path("endless.gbnf")
        try Data(Self.endless.utf8).write(to: grammar.url)
        for _ in 1...(TestExtent.isFull ? 3 : 1) {
            let chat = try ChildProcess(
                ["chat", "--format", "json", "--prompt", "Count.", "--grammar", grammar.string],
                environment: lab.environment)
            for await line in chat.outputLines where line.contains(#""event":"text""#) { break }
            #expect(marks(lab).count == (isolation == "inline" ? 1 : 0))
            chat.send(signal)
            #expect(await chat.result().status == 130)
            #expect(marks(lab).isEmpty)
        }
        let state = try #require(
            FileManager.default.enumerator(atPath: lab.folder.path("home/models").string)?.compactMap { $0 as? String }
                .first { $0.hasSuffix("/state.json") })
        let record = try JSONSerialization.jsonObject(
            with: Data(contentsOf: lab.folder.path("home/models").url.appending(path: state)))
        let probation = try #require((record as? [String: Any])?["probation"] as? [String: Any])
        #expect(probation["answers"] as? Int == 0)
        #expect(try #require(probation["seconds"] as? Double) > 0)
    }
}
