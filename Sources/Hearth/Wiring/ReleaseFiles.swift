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
        // An artifact may have another format than the release that it was made of.
        let own = weights == release.weights ? nil : ModelFormat(fileName: weights.lastComponent)
        let projector = own.flatMap { _ in Self.imported(beside: weights) }
        self.init(
            weights: weights, projector: release.projector ?? projector, format: own ?? release.receipt.format)
    }

    /// The projector that an import wrote beside the weights; `nil` without one.
    private static func imported(beside weights: Path) -> Path? {
        #if Llama
        let path = WorkerJob.projector(beside: weights)
        // A folder that cannot be read has no weights either, whose load reports the error.
        return (try? LocalFileSystem().status(at: path))?.kind == .file ? path : nil
        #else
        return nil
        #endif
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
