import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

/// With which of the installed models a conversation is held that names none.
@Suite struct ChatModelTests {
    /// A home with models of these architectures, each of a family of its name. None of them can be loaded.
    private func home(_ architectures: [String]) async throws -> (CommandProbe, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let probe = CommandProbe(home: folder.path("home"))
        for architecture in architectures {
            let model = ModelFiles.gguf(texts: [("general.architecture", architecture)])
            let file = try folder.write("\(architecture)-v1.0.0-q4_1.gguf", model)
            #expect(await probe.run("pull", file.string, "--no-probe") == 0, "\(probe.errors.contents)")
        }
        return (probe, folder)
    }

    @Test func aModelForEmbeddingsIsNoneBesideOneThatAnswers() async throws {
        let (probe, folder) = try await home(["bert", "llama", "nomic-bert"])
        defer { withExtendedLifetime(folder) {} }
        #expect(await probe.run("chat", "--prompt", "Hello") == 1)
        let errors = probe.errors.contents
        #expect(!errors.contains("[several-models]") && !errors.contains("encoder"), "\(errors)")
        #expect(errors.contains("llama-v1.0.0"), "\(errors)")
    }

    @Test func ofSeveralThatAnswerNoneIsGuessed() async throws {
        let (probe, folder) = try await home(["bert", "llama", "qwen3"])
        defer { withExtendedLifetime(folder) {} }
        #expect(await probe.run("chat", "--prompt", "Hello") == 1)
        #expect(
            probe.errors.contents.contains("several models are installed: llama, qwen3"), "\(probe.errors.contents)")
    }

    /// Before its weights are read, which here are none.
    @Test(arguments: [["bert"], ["bert", "llama"]])
    func aModelForEmbeddingsIsRefusedByItsHeader(installed: [String]) async throws {
        let (probe, folder) = try await home(installed)
        defer { withExtendedLifetime(folder) {} }
        #expect(await probe.run("chat", "bert", "--prompt", "Hello") == 64)
        #expect(
            probe.errors.contents.contains("this model is an encoder, it does not answer"), "\(probe.errors.contents)")
    }

    @Test func withModelsForEmbeddingsAloneItIsSaid() async throws {
        let (probe, folder) = try await home(["bert", "nomic-bert"])
        defer { withExtendedLifetime(folder) {} }
        #expect(await probe.run("chat", "--prompt", "Hello") == 1)
        #expect(probe.errors.contents.contains("[several-models]"), "\(probe.errors.contents)")
    }
}
