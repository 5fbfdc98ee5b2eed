import Foundation
import HearthBase
import HearthDelivery

/// Leaves each release to the preparer of its format; one of a format without any is used as it came.
public struct FormatPreparer: ReleasePreparer {
    private let preparers: [ModelFormat: any ReleasePreparer]

    /// A preparer of the given ones.
    public init(_ preparers: [ModelFormat: any ReleasePreparer]) { self.preparers = preparers }

    public func recipe(for release: InstalledRelease) async throws -> PreparationRecipe? {
        try await preparers[release.receipt.format]?.recipe(for: release)
    }

    public func speaks(for engine: String) -> Bool { preparers.values.contains { $0.speaks(for: engine) } }

    public func makesFit(_ release: Release) -> Bool { preparers[release.format]?.makesFit(release) ?? false }

    public func check(_ recipe: PreparationRecipe, of release: InstalledRelease) async throws {
        try await preparers[release.receipt.format]?.check(recipe, of: release)
    }

    public func build(
        _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        guard let preparer = preparers[release.receipt.format] else {
            throw FileError(errno: ENOENT, doing: "prepare", path: release.folder)
        }
        try await preparer.build(recipe, of: release, at: target, progress: progress)
    }
}
