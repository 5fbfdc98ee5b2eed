import HearthBase
import HearthDelivery

/// The files of a release that an engine opens.
public struct ReleaseFiles: Sendable, Hashable {
    /// The weights: the release's own, or what was prepared from them for this device. Of a Core ML model the package they are in:
    /// as it came, or compiled.
    public var weights: Path
    /// What makes pictures readable for the model; `nil` for one that answers with text alone.
    public var projector: Path?

    /// The given files.
    public init(weights: Path, projector: Path? = nil) {
        self.weights = weights
        self.projector = projector
    }

    /// What is opened of an installed release: what was prepared, or its own weights.
    init(opening weights: Path, of release: InstalledRelease) {
        let package = weights == release.weights ? CoreMLPackage(release) : nil
        self.init(weights: package?.path ?? weights, projector: release.projector)
    }

    /// What is opened of a release that came with the app.
    init?(_ release: BundledRelease) {
        guard let weights = CoreMLPackage(release)?.path ?? release.weights else { return nil }
        self.init(weights: weights, projector: release.projector)
    }
}

extension ProbeCandidate {
    /// What is tried is what answers later, projector and all.
    var files: ReleaseFiles { ReleaseFiles(opening: weights, of: release) }
}
