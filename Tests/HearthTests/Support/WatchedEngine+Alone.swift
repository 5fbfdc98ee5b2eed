import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

@testable import Hearth

extension WatchedEngine {
    /// Watches an engine that shares its end with no other.
    init(_ engine: any InferenceEngine, of release: ReleaseIdentity, in manager: ModelManager) {
        self.init(engine: engine, manager: manager, release: release, answers: WorkUnderWay(), deaths: nil)
    }

    /// Stops answers, which end with `CancellationError`, and starts no other.
    func stop(within limit: Duration = .seconds(5), _ time: TimeSource = .system) async {
        await answers.stop(within: limit, time, "an answer of \(release)")
    }
}
