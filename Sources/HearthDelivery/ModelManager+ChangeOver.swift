import Foundation
import HearthBase

extension ModelManager {
    /// Whoever pulls from another list what is here already, byte for byte, wants its updates from there.
    ///
    /// What came with the app, a hub's repository and a folder of this machine that is no origin are no lists to follow.
    func changeOver(_ there: InstalledRelease, to resolved: ResolvedRelease) async -> InstalledRelease {
        guard let location = resolved.location, resolved.isOnlyOrigin, resolved.standing != .bundled,
            there.receipt.origin?.withoutSecrets != location.withoutSecrets,
            !location.isFileURL || origins.contains(where: { $0.manifestURL == location })
        else { return there }
        do {
            return try await store.follow(location, entry: resolved.release.id, there)
        } catch {
            Log.write(.warning, "delivery", "updates of \(there.identity) come from where they came before: \(error)")
            return there
        }
    }
}
