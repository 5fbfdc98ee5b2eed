import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

private let model = try? TestModel.path(.vectors)
private let hasModel = model.map { FileManager.default.fileExists(atPath: $0.string) } ?? false

/// The built program with a model that gives vectors alone: published, pulled and tried, shown, and asked in vain.
@Suite(.enabled(if: hasModel, "the tiny models are not in the cache: run make setup"), .timeLimit(.minutes(10)))
struct EncoderEndToEndTests {
    @Test func anEncoderIsPulledWithItsTrialAndSaysWhatItIsFor() async throws {
        let lab = try HearthLab()
        let published = try await lab.serve(try #require(model), "--family", "vectors", "--version", "1.0.0")
        #expect(published.status == 0, "\(published.errors)")
        let purpose = "embeddings: it gives vectors of texts and does not answer"
        #expect(try await lab.run("show", "vectors").output.contains(purpose))
        let pulled = try await lab.run("pull", "vectors")
        #expect(pulled.status == 0, "\(pulled.errors)")
        // Not the mere loading: `--no-probe` was not given, and it is tried once more.
        let used = try await lab.run("use", "vectors@1.0.0")
        #expect(used.status == 0, "\(used.errors)")

        let shown = try await lab.run("show", "vectors")
        #expect(shown.output.contains(purpose) && !shown.output.contains("chat template"), "\(shown.output)")
        let facts = try JSONSerialization.jsonObject(
            with: Data(try await lab.run("show", "vectors", "--format", "json").output.utf8))
        let model = try #require((facts as? [String: Any])?["model"] as? [String: Any])
        #expect(model["isEncoderOnly"] as? Bool == true)
        #expect((model["memory"] as? [String: Any])?["cacheBytes"] as? Int == 0)

        let asked = try await lab.run("chat", "vectors", "--prompt", "Hello")
        #expect(asked.status != 0 && asked.output.isEmpty)
        #expect(asked.errors.contains("this model is an encoder, it does not answer"), "\(asked.errors)")
        #expect(asked.errors.contains("for embeddings"), "\(asked.errors)")
    }

    /// A line for each text, of arguments or of the input, each of length 1; like texts are nearer.
    @Test func textsBecomeVectors() async throws {
        let folder = try TemporaryFolder()
        let path = try #require(model).string
        func vectors(_ words: [String], _ input: FixedSource = FixedSource(isTerminal: true)) async throws -> [[Double]]
        {
            let probe = CommandProbe(home: folder.path("home"))
            #expect(await probe.run(["embed", "--model", path] + words, input: input) == 0, "\(probe.errors.contents)")
            return try probe.output.contents.split(separator: "\n").map { line in
                try JSONDecoder().decode([Double].self, from: Data(line.utf8))
            }
        }
        let given = try await vectors(["a red apple", "a red apple", "zebra"])
        #expect(given.count == 3 && Set(given.map(\.count)).count == 1)
        for vector in given { #expect(abs(vector.reduce(0) { $0 + $1 * $1 } - 1) < 0.001) }
        #expect(given[0] == given[1] && given[0] != given[2])
        let piped = try await vectors([], FixedSource(text: "a red apple\nzebra"))
        #expect(piped == [given[0], given[2]])

        let probe = CommandProbe(home: folder.path("home"))
        #expect(await probe.run(["embed", "--model", path], input: FixedSource(isTerminal: true)) == 64)
        #expect(await probe.run(["embed", "x"]) == 1)
        #expect(probe.errors.contents.contains("[no-model]"))
    }

    /// Before anybody has typed a question.
    @Test func noConversationBeginsWithAnEncoder() async throws {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        let words = ["chat", try #require(model).string]
        #expect(await probe.run(words, input: FixedSource(isTerminal: true)) != 0)
        #expect(probe.errors.contents.contains("it does not answer"), "\(probe.errors.contents)")
    }
}
