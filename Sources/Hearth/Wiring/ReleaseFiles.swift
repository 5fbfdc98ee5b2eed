import HearthBase
import HearthDelivery

/// The files of a release that an engine opens.
public struct ReleaseFiles: Sendable, Hashable {
    /// The weights: the release's own, or what was prepared from them for this device.
    public var weights: Path
    /// What makes pictures readable for the model; `nil` for one that answers with text alone.
    public var projector: Path?

    /// The given files.
    public init(weights: Path, projector: Path? = nil) {
        self.weights = weights
        self.projector = projector
    }
}

extension ProbeCandidate {
    /// What is tried is what answers later, projector and all.
    var files: ReleaseFiles { ReleaseFiles(weights: weights, projector: release.projector) }
}
