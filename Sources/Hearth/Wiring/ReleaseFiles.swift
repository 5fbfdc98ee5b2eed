import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// The files of a release that an engine opens.
package struct ReleaseFiles: Sendable, Hashable {
    /// The weights: the release's own file or its artifact.
    package var weights: Path
    /// The projector for pictures; `nil` for a model that reads text only.
    package var projector: Path?
    /// The format of the weights, which tells the engine.
    package var format: ModelFormat

    /// The files at the given paths.
    package init(weights: Path, projector: Path? = nil, format: ModelFormat = .gguf) {
        self.weights = weights
        self.projector = projector
        self.format = format
    }

    /// The files of an installed release, with its own weights or an artifact.
    init(opening weights: Path, of release: InstalledRelease) {
        self.init(weights: weights, projector: release.projector, format: release.receipt.format)
    }

    /// The files of a bundled release, `nil` without weights.
    init?(_ release: BundledRelease) {
        guard let weights = release.weights else { return nil }
        self.init(weights: weights, projector: release.projector, format: release.release.format)
    }
}

extension ProbeCandidate {
    /// The files to open, including the projector.
    var files: ReleaseFiles { ReleaseFiles(opening: weights, of: release) }
}
