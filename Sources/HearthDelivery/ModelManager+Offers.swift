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
    package var kept: [KeptList] = []
}

extension ModelManager {
    /// Finds the usable model of every family, as ``availability(of:)`` does.
    public func availabilities() async throws -> [Family: ModelAvailability] {
        let installed = try await installed()
        let bundled = Dictionary(
            await bundledReleases().map { ($0.identity.family, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [Family: ModelAvailability] = [:]
        for family in Set(installed.map(\.identity.family)).union(bundled.keys) {
            let availability = ModelAvailability.deciding(
                bundled: bundled[family],
                active: installed.first { $0.identity.family == family && $0.isActive },
                pinned: try await store.state(of: family).pinned)
            if availability != .none { found[family] = availability }
        }
        return found
    }

    /// Offers one release of each family: the one this device would get, or has. Bundled models are no offers. A source
    /// that fails hides no other.
    ///
    /// An installed family is offered only by its own origin. If several origins list a family that is not installed,
    /// there is no offer, and the problem is `ambiguous-reference`, as for a pull by that name.
    /// - Throws: the first source's error if all sources fail; `FileError`.
    package func offers(_ policy: CachePolicy = .asPublished) async throws -> FamilyOffers {
        let local = try await availabilities()
        let inUse = local.compactMapValues(\.identity)
        var found = FamilyOffers(offers: [])
        let reports = origins.isEmpty ? [] : try await reports(policy).filter { $0.origin != nil }
        let installed = Dictionary(grouping: try await store.installed(), by: \.identity.family)
        for case .failure(let error) in reports.map(\.outcome) { found.problem = found.problem ?? error }
        found.kept = reports.compactMap { report in report.listing.flatMap { KeptList(report.source, $0.freshness) } }
        if let problem = found.problem, !reports.contains(where: { $0.listing != nil }) { throw problem }
        for family in Self.families(of: reports, and: inUse.keys) {
            let source = ReleaseOrigin(of: installed[family] ?? [])
            guard source.hub == nil else { continue }
            switch source.answer(for: family, in: reports) {
            case .listing(.success(let listing)):
                let device = await device(for: listing.catalog)
                let (offer, stays) = try await offer(of: family, in: listing, to: device, inUse: inUse[family])
                if let offer { found.offers.append(offer) }
                found.stays[family] = stays
            case .stays(.severalOrigins(let names)) where inUse[family] == nil:
                found.problem = found.problem ?? Self.ambiguous(family, among: names, in: reports)
            case .stays(let reason): found.stays[family] = reason
            case .listing(.failure(let error)):
                found.stays[family] = .unreachable((error as? any HearthFailure)?.message ?? "\(error)")
            }
        }
        for (family, model) in local where !found.offers.contains(where: { $0.release.identity.family == family }) {
            try await addUpdate(of: family, model, policy, to: &found)
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

    /// Adds the update of a model from a hub. A hub has no list, so the model's repository is asked.
    private func addUpdate(
        of family: Family, _ model: ModelAvailability, _ policy: CachePolicy, to found: inout FamilyOffers
    ) async throws {
        guard case .downloaded(let release) = model, release.receipt.manifestEntry.hasPrefix("hf:") else { return }
        do {
            for finding in try await updates(of: family, policy) {
                switch finding.reason {
                case .newVersion(let offer):
                    found.stays[family] = nil
                    found.offers.append(offer)
                case .noUpdate(let reason): found.stays[family] = reason
                }
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            found.problem = found.problem ?? error
        }
    }

    private func offer(
        of family: Family, in listing: CatalogListing, to device: DeviceProfile, inUse: ReleaseIdentity?
    ) async throws -> (Offer?, stays: NoUpdate?) {
        let state = try await store.state(of: family)
        let resolver = Resolver(
            catalog: listing.catalog, device: device, heldBack: state.heldBackVersions, ignoresMemory: ignoresMemory)
        func listed(_ offer: Offer) -> Offer {
            var offer = offer.from(listing)
            let identity = offer.release.identity
            offer.reference = .manifest(
                listing.location, family: family, version: identity.version, variant: identity.variant)
            return offer
        }
        guard let inUse else { return (listed(try resolver.offer(of: family)), nil) }
        switch try resolver.update(of: family, inUse: inUse, pinned: state.pinned, at: time.now) {
        case .newVersion(let offer): return (listed(offer), nil)
        case .noUpdate(let reason):
            // Another variant of the release in use is no update.
            let same = listing.catalog.releases.first { $0.identity == inUse.published }
            return (same.map { listed(Offer(release: $0, reason: .asked)) }, reason)
        }
    }
}
