import Foundation
import HearthBase
import HearthCatalog
import HearthStore

extension ModelManager {
    /// Records the new origin when identical bytes are pulled from it: updates come from there from then on.
    ///
    /// Bundled models, hub repositories and local folders that are not configured as origins are ignored.
    func changeOver(_ there: InstalledRelease, to resolved: Offer) async -> InstalledRelease {
        guard let origin = resolved.origin, case let location = origin.manifestURL, resolved.isOnlyOrigin,
            resolved.freshness != .bundled,
            there.receipt.origin?.withoutSecrets != location.withoutSecrets,
            !location.isFileURL || origins.contains(where: { $0.manifestURL == location })
        else { return there }
        do {
            return try await store.follow(origin, entry: resolved.release.id, there)
        } catch {
            Log.write(.warning, "delivery", "updates of \(there.identity) come from where they came before: \(error)")
            return there
        }
    }
}
