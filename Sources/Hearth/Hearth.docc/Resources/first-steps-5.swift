import Foundation
import Hearth

func firstSteps(manifest: URL, saved: URL) async throws {
    // Where models come from, and where they are kept.
    let hearth = try Hearth(origins: [Origin("main", manifest)])

    // Fetched if it is not here yet, and loaded.
    let model = try await hearth.model("smollm2-135m-instruct") { progress in
        print(progress.state, progress.fraction ?? 0)
    }

    // A question and its answer.
    let session = LanguageModelSession(model: model, instructions: "Answer in one sentence.")
    let response = try await session.respond(to: "What is the capital of France?")
    print(response.content)

    // The next answer, streamed.
    for try await snapshot in session.streamResponse(to: "And of Germany?") {
        print(snapshot.content)
    }

    // The same in pieces, with the facts at the end.
    let options = GenerationOptions(sampling: SamplingOptions(temperature: 0.8), maximumNewTokens: 200)
    for try await event in session.streamResponse(to: "Tell me a story.", options: options).events {
        switch event {
        case .text(let piece): print(piece, terminator: "")
        case .finish(let summary): print("\n", summary.reason, summary.usage.generatedTokens)
        default: break
        }
    }
}
