import Foundation
import HearthBase
import HearthCatalog

extension ModelStore {
    /// Records another manifest that lists the same bytes as the origin of a release's updates.
    /// - Throws: `not-installed`, also if other bytes have replaced the release meanwhile.
    package func follow(_ origin: Origin, entry: String, _ release: InstalledRelease) async throws -> InstalledRelease {
        try await committing {
            guard case .whole(let receipt) = try directory.find(release.identity),
                receipt.isSameContent(as: release.receipt)
            else { throw notInstalled(release.identity.description) }
            let path = HomeLayout.receipt(in: layout.folder(of: release.identity))
            try fileSystem.replaceContents(of: path, with: try receipt.following(origin, entry: entry).data())
            return try require(release.identity)
        }
    }
}
