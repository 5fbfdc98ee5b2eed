import Foundation
import Hearth

// Answers a question with a model file: an app that takes llama.cpp along. `import Hearth` is enough for all of it.
guard CommandLine.arguments.count == 3 else {
    print("usage: Answer MODEL.GGUF QUESTION")
    exit(64)
}
do {
    let hearth = try Hearth()
    let model = try await hearth.open(Path(CommandLine.arguments[1]))
    let session = LanguageModelSession(model: model)
    // The most likely token each time, so that every run gives the same answer.
    let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 40)
    print(try await session.respond(to: CommandLine.arguments[2], options: options).content)
    await hearth.close()
} catch {
    print(error)
    exit(1)
}

/// The README's example: a model by name.
func answer(manifest: URL) async throws {
    let hearth = try Hearth(origins: [Origin("main", manifest)])
    let model = try await hearth.model("smollm2-135m-instruct") { progress in
        print(progress.state, progress.fraction ?? 0)
    }
    let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
    print(try await session.respond(to: "What is the capital of France?").content)
    for try await snapshot in session.streamResponse(to: "And of Germany?") {
        print(snapshot.content, snapshot.summary?.timings.decodeTokensPerSecond ?? 0)
    }
    try await hearth.update()
    await hearth.close()
}
