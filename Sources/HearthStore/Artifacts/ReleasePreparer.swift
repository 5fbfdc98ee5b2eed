import HearthBase
import HearthCatalog

/// Makes an artifact from a release: a file its engine runs better on this device, such as a smaller quantization.
///
/// Delivery knows no engine: `Hearth` passes one to `ModelManager`. An artifact is kept below `prepared/`, and made
/// again if it is missing, damaged, or of another recipe. If that fails, the release is used as it came, unless the
/// artifact is required.
package protocol ReleasePreparer: Sendable {
    /// The recipe of a release's artifact, `nil` if it needs none. Cheap: reads at most the head of a file.
    func recipe(for release: InstalledRelease) async throws -> Recipe?

    /// Whether no engine runs the release without its artifact: then a failed build is the failure of the release.
    func isRequired(for release: InstalledRelease) -> Bool

    /// Whether a release that needs more memory than this device has fits as an artifact. Decided before a fetch from
    /// the catalog's entry; `false` if that says too little.
    func fitsAfterPreparation(_ release: Release) -> Bool

    /// Checks the preconditions of a build that are known without reading all of the source.
    /// - Throws: the reason against the build.
    func check(_ recipe: Recipe, of release: InstalledRelease) async throws

    /// Builds the file of a recipe. The caller syncs it to the disk, hashes it and moves it to its place.
    /// - Parameters:
    ///   - recipe: the result of ``recipe(for:)``.
    ///   - release: the source; its files are read and never changed.
    ///   - target: the path of the new file, which does not exist yet.
    ///   - progress: 0...1, on any thread.
    func build(
        _ recipe: Recipe, of release: InstalledRelease, at target: Path, progress: @escaping @Sendable (Double) -> Void
    ) async throws
}

extension ReleasePreparer {
    /// Whether there is an engine only for the artifact: `false`.
    package func isRequired(for release: InstalledRelease) -> Bool { false }

    /// Checks nothing.
    package func check(_ recipe: Recipe, of release: InstalledRelease) async throws {}

    /// Assumes that the artifact is no smaller than the release.
    package func fitsAfterPreparation(_ release: Release) -> Bool { false }
}
