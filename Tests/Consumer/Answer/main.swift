import Foundation
import HearthBase
import HearthInference
import HearthLlama

// Answers a question with a model file: an app that takes llama.cpp along.
guard CommandLine.arguments.count == 3 else {
    print("usage: Answer MODEL.GGUF QUESTION")
    exit(64)
}
do {
    let engine = try await LlamaActor.load(Path(CommandLine.arguments[1]))
    let session = LanguageModelSession(model: engine)
    // The most likely token each time, so that every run gives the same answer.
    let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 40)
    print(try await session.respond(to: CommandLine.arguments[2], options: options).content)
} catch {
    print(error)
    exit(1)
}
