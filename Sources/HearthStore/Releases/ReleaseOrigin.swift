import Foundation
import HearthBase
import HearthCatalog

/// The source of a family's updates: the one the family came from.
///
/// A name is no identity: two publishers may list models of the same name. So an origin is followed by its address, and
/// another origin with the name is a reason to stay, not an update.
package enum ReleaseOrigin: Sendable, Hashable {
    /// A repository of a hub or a registry, at the requested revision or tag.
    case repository(RepositoryReference)
    /// A manifest: its address without query and credentials, and the key of its origin.
    case manifest(URL, key: SHA256Digest?)
    /// No origin: a user's own file, a bundled model, or a receipt without an origin.
    case nobody

    /// The answer of the configured origins about a family.
    package enum Answer: Sendable {
        /// The listing of the family's origin, or the error of that origin.
        case listing(Result<CatalogListing, any Error>)
        case stays(NoUpdate)

        /// The reason why a family without a listing stays as it is; `nil` with a listing.
        package var reason: NoUpdate? {
            switch self {
            case .listing(.success): nil
            case .listing(.failure(let error)): .unreachable((error as? any HearthFailure)?.message ?? "\(error)")
            case .stays(let reason): reason
            }
        }

        /// The listing; `nil` without one, and after a failure, whose reason is ``reason``.
        package var listing: CatalogListing? {
            if case .listing(let outcome) = self { try? outcome.get() } else { nil }
        }
    }

    /// The origin of a family: that of its active release, else of the one installed last.
    /// - Parameter releases: the installed ones of that family.
    package init(of releases: [InstalledRelease]) {
        let latest = releases.max { $0.receipt.installed < $1.receipt.installed }
        guard let receipt = (releases.first(where: \.isActive) ?? latest)?.receipt else {
            self = .nobody
            return
        }
        self.init(receipt)
    }

    /// The origin of an installed release.
    package init(_ receipt: Receipt) {
        // An entry that names no repository came from elsewhere.
        if let repository = RepositoryReference(record: receipt.manifestEntry),
            repository.family == receipt.identity.family
        {
            self = .repository(repository)
        } else {
            self = receipt.origin.map { .manifest($0, key: receipt.originDigest) } ?? .nobody
        }
    }

    /// The repository, for a family that came from one.
    package var repository: RepositoryReference? {
        if case .repository(let repository) = self { repository } else { nil }
    }

    /// Decides which configured origin answers for a family.
    /// - Parameter reports: one report of each configured origin.
    package func answer(for family: Family, in reports: [SourceReport]) -> Answer {
        let offering = reports.filter { $0.listing?.catalog.families.contains(family) ?? false }
        let silence = reports.lazy.map(\.outcome).first { if case .failure = $0 { true } else { false } }
        switch self {
        case .repository: return .stays(.notOffered)
        case .manifest(let url, let key):
            if let own = Self.own(url, key, in: reports) {
                // If the family's own origin failed, that is the answer, whatever others list.
                guard own.listing != nil else { return .listing(own.outcome) }
                if offering.contains(where: { $0.source == own.source }) { return .listing(own.outcome) }
                return .stays(offering.isEmpty ? .notOffered : Self.elsewhere(url, offering))
            }
            // A local file that is not configured as an origin, such as one shipped with the app, publishes nothing.
            if !url.isFileURL, !offering.isEmpty { return .stays(Self.elsewhere(url, offering)) }
        case .nobody: break
        }
        if offering.count > 1 { return .stays(.severalOrigins(offering.map(\.source))) }
        // An origin that failed may be the one that lists the family.
        return (offering.first?.outcome ?? silence).map { .listing($0) } ?? .stays(.notOffered)
    }

    /// The report of the configured origin with a key or an address; secrets in addresses are ignored.
    private static func own(_ url: URL, _ key: SHA256Digest?, in reports: [SourceReport]) -> SourceReport? {
        if let key, let same = reports.first(where: { $0.origin?.key == key }) { return same }
        let alike = reports.filter { $0.origin?.manifestURL.withoutSecrets == url.withoutSecrets }
        return alike.count == 1 ? alike[0] : nil
    }

    private static func elsewhere(_ url: URL, _ offering: [SourceReport]) -> NoUpdate {
        .otherOrigin(cameFrom: url.shown, offeredBy: offering.map(\.source))
    }
}
