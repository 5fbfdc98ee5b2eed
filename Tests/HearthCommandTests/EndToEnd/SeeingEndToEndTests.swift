import Foundation
import HearthBase
import HearthTestSupport
import Testing

/// The built program with a model that sees: published with its projector, pulled, tried and shown a picture.
@Suite(
    .enabled(
        if: FileManager.default.fileExists(atPath: TestModel.path.string),
        "the test model is not in the cache: run make setup"),
    .timeLimit(.minutes(10)))
struct SeeingEndToEndTests {
    @Test func chatSeesWithTheProjectorOfTheRelease() async throws {
        let lab = try HearthLab()
        let projector = try TestModel.path(.projector).string
        let published = try await lab.serve(
            TestModel.path, "--with", "projector=\(projector)", "--family", "see", "--version", "1.0.0")
        #expect(published.status == 0, "\(published.errors)")
        let pulled = try await lab.run("pull", "see")
        #expect(pulled.status == 0, "\(pulled.errors)")
        let picture = try lab.folder.write("picture.png", Data(TestPictures.png(width: 40, height: 30)))
        func ask(_ model: String) async throws -> (events: [String], promptTokens: Int) {
            let words = ["chat", model, "--image", picture.string, "--prompt", "What is this?", "--max-tokens", "4"]
            let answer = try await ChildProcess.run(words + ["--format", "json"], environment: lab.environment)
            #expect(answer.status == 0, "\(answer.errors)")
            let events = try answer.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            let usage = events.last?["usage"] as? [String: Any]
            return (events.compactMap { $0["event"] as? String }, try #require(usage?["promptTokens"] as? Int))
        }
        let seen = try await ask("see")
        let unseen = try await ask(TestModel.path.string)
        #expect(!seen.events.contains("pictures-left-out") && unseen.events.contains("pictures-left-out"))
        #expect(seen.promptTokens == unseen.promptTokens + 16, "a picture is 16 tokens")
    }
}
