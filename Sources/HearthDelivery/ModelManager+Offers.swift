import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// The offers of the sources for this device.
package struct FamilyOffers: Sendable {
    /// One offer for each family.
    package var offers: [Offer]
    /// Why a family keeps its release, for the families that a source was asked about.
    package var stays: [Family: NoUpdate] = [:]
    /// The first failure: a source did not answer, or several origins list one family.
    package var problem: (any Error)?
    /// The sources that did not answer; their last lists are used instead.
    package var cachedLists: [CachedList] = []
    /// The signed sources whose signatures end soon.
    package var expiring: [ExpiringSignatures] = []
}

extension ModelManager {
    /// Finds the usable model of every family, as ``availability(of:)`` does.
    public func availabilities() async throws -> [Family: ModelAvailability] {
        await recoverAtFirst()
        let (models, problems) = try await store.usable(beside: await bundledReleases())
        for (family, problem) in problems { Self.log(problem, of: family) }
        return models
    }

    static func log(_ problem: any Error, of family: Family) {
        Log.write(.warning, "live", "\(family) cannot be used: \(problem)")
    }

    /// Offers one release of each family: the one this device would get, or has. Bundled models are no offers. A source
    /// that fails hides no other.
    ///
    /// An installed family is offered only by its own origin. If several origins list a family that is not installed,
    /// there is no offer, and the problem is `ambiguous-reference`, as for a pull by that name.
    /// - Throws: the first source's error if all sources fail; `FileError`.
    package func offers(_ policy: CachePolicy = .asPublished) async throws -> FamilyOffers {
        let inUse = try await availabilities().compactMapValues(\.identity)
        var found = FamilyOffers(offers: [])
        let reports = origins.isEmpty ? [] : try await reports(policy).filter { $0.origin != nil }
        let installed = Dictionary(grouping: try await store.installed(), by: \.identity.family)
        for case .failure(let error) in reports.map(\.outcome) { found.problem = found.problem ?? error }
        found.cachedLists = reports.compactMap { report in
            report.listing.flatMap { CachedList(report.source, $0.freshness) }
        }
        found.expiring = reports.compactMap { report in
            ExpiringSignatures(report.source, until: report.listing?.signedUntil, now: time.now)
        }
        if let problem = found.problem, !reports.contains(where: { $0.listing != nil }) { throw problem }
        for family in Self.families(of: reports, and: inUse.keys) {
            let source = ReleaseOrigin(of: installed[family] ?? [])
            let answer = try await answer(of: source, for: family, in: reports)
            if let inUse = inUse[family] {
                let finding = try await finding(
                    family, inUse: inUse, installed[family] ?? [], answer, source.hub, ignoresMemory: ignoresMemory)
                if case .noUpdate(let reason) = finding.reason { found.stays[family] = reason }
                // The release in use is offered too; another variant of it is no update.
                let same = source.hub == nil ? answer.listing.flatMap { Self.offer(of: inUse, in: $0) } : nil
                if let offer = finding.offer ?? same { found.offers.append(offer.exactlyReferenced()) }
            } else if let listing = answer.listing {
                let resolver = Resolver(
                    catalog: listing.catalog, device: await device(for: listing.catalog),
                    heldBack: try await store.state(of: family).heldBackVersions, ignoresMemory: ignoresMemory)
                found.offers.append(try resolver.offer(of: family).from(listing).exactlyReferenced())
            } else if case .stays(.severalOrigins(let names)) = answer {
                found.problem = found.problem ?? Self.ambiguous(family, among: names, in: reports)
            } else {
                found.stays[family] = answer.reason
            }
        }
        return found
    }

    /// The listed families in the order of the lists, then the others on this device.
    private static func families(
        of reports: [SourceReport], and here: some Sequence<Family>
    ) -> [Family] {
        var seen: Set<Family> = []
        let listed = reports.flatMap { $0.listing?.catalog.families ?? [] }
        return (listed + here.sorted()).filter { seen.insert($0).inserted }
    }

    private static func offer(of inUse: ReleaseIdentity, in listing: CatalogListing) -> Offer? {
        listing.catalog.releases.first { $0.identity == inUse.published }
            .map { Offer(release: $0, reason: .asked).from(listing) }
    }
}

extension Offer {
    /// The offer with a reference that names its version and variant.
    fileprivate func exactlyReferenced() -> Self {
        var offer = self
        let identity = release.identity
        offer.reference =
            reference
            ?? location.map {
                .manifest($0, family: identity.family, version: identity.version, variant: identity.variant)
            }
        return offer
    }
}
