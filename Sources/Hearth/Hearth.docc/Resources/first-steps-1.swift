import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthInference

func firstSteps(manifest: URL, saved: URL) async throws {
    // Where models come from, and where they are kept.
    let manager = try ModelManager(
        home: try HearthHome.path(), configuration: Configuration(origins: ["main": manifest]))
    guard let family = Family("smollm2-135m-instruct") else { return }
}
