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
}
