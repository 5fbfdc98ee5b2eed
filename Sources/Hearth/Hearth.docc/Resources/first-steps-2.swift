import Foundation
import Hearth

func firstSteps(manifest: URL, saved: URL) async throws {
    // Where models come from, and where they are kept.
    let hearth = try Hearth(origins: [Origin("main", manifest)])

    // Fetched if it is not here yet, and loaded.
    let model = try await hearth.model("smollm2-135m-instruct") { progress in
        print(progress.state, progress.fraction ?? 0)
    }
}
