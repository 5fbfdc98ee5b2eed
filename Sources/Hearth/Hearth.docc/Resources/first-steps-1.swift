import Foundation
import Hearth

func firstSteps(manifest: URL, saved: URL) async throws {
    // Where models come from, and where they are kept.
    let hearth = try Hearth(origins: [Origin("main", manifest)])
}
