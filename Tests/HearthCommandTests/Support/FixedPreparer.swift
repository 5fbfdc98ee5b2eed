import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTransfer

/// Makes the same file of every release, as an engine of another app does, which speaks for itself.
struct FixedPreparer: ReleasePreparer {
    let name: String
    let contents: Data

    func recipe(for release: InstalledRelease) -> Recipe? {
        Recipe(
            engine: "made", engineVersion: "1", settings: "fixed", fileName: name,
            expectedSize: UInt64(contents.count), summary: "always the same")
    }

    func build(
        _ recipe: Recipe, of release: InstalledRelease, at target: Path,
        progress: @escaping @Sendable (Double) -> Void
    ) throws { try contents.write(to: target.url) }
}
