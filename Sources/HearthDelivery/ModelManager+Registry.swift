import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// Models of OCI registries.
extension ModelManager {
    /// Finds the installed release of a reference: of that tag, and of that digest if it names one.
    /// - Returns: the active one; `nil` if there is none.
    package func installed(_ reference: RegistryReference) async throws -> InstalledRelease? {
        let releases = try await installed().filter { release in
            guard case .registry(let source)? = ReleaseOrigin(release.receipt).repository,
                source.path == reference.path
            else { return false }
            guard let digest = reference.digest else { return source.tag == reference.tag }
            return release.receipt.origin?.lastPathComponent == digest.tagged
        }
        return releases.first(where: \.isActive) ?? releases.last
    }

    /// Resolves a model that a person names: that counts as naming the version.
    func resolve(_ reference: RegistryReference, _ options: PullOptions) async throws -> Offer {
        let listing = try await sources.source(.registry(reference)).listing(.now)
        let catalog = listing.catalog
        var offer = try Resolver(
            catalog: catalog, device: device.profile(forNamed: catalog),
            ignoresMemory: device.ignoresMemory || options.ignoreMemory
        ).offer(of: try catalog.onlyFamily(url: listing.location)).from(listing).named(true)
        offer.reference = RegistryReference(record: offer.release.id).map { .registry($0) }
        return offer
    }
}
