import Foundation
import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

extension ModelManager {
    /// Finds the release a reference means, without fetching it.
    ///
    /// The version is the named one, else the publisher's choice or, if this device may not have that, another. The
    /// variant is the named one, else the largest that fits this device.
    /// - Throws: ``DeliveryError``, `CatalogError`, `FileError`.
    public func resolve(_ reference: ModelReference, options: PullOptions = PullOptions()) async throws
        -> Offer
    {
        switch reference {
        case .family(let family, let version, let variant):
            let wanted = Wanted(family: family, version: version, variant: variant)
            return try await askingAgain(options) { try await self.resolve(wanted, $0, options) }
        case .manifest(let url, let family, let version, let variant):
            let wanted = Wanted(family: family, version: version, variant: variant)
            return try await askingAgain(options) { try await self.resolve(url, wanted, $0, options) }
        case .file(let path):
            let release = try await LocalRelease.describe(path, in: fileSystem)
            return Offer(release: release, reason: .asked).named(true)
        case .hub(let reference):
            let listing = try await source(reference).listing(.now)
            // Naming a repository counts as naming the version, and its versions have no order.
            var offer = try Resolver(
                catalog: listing.catalog, device: device(forNamed: listing.catalog),
                ignoresMemory: ignoresMemory || options.ignoreMemory
            ).offer(of: try listing.catalog.onlyFamily(url: listing.location)).from(listing).named(true)
            offer.isOrdered = false
            offer.reference = .hub(reference)
            return offer
        }
    }

    private struct Wanted: Sendable {
        var family: Family?
        var version: ReleaseVersion?
        var variant: Variant?
    }

    /// Asks as the origins allow. If a cached list has no match, resolves once more with a new list.
    private func askingAgain(
        _ options: PullOptions,
        _ resolve: @Sendable (CachePolicy) async throws -> (Offer?, (any Error)?, isFresh: Bool)
    ) async throws -> Offer {
        let first = try await resolve(options.asksAgain ? .now : .asPublished)
        if let found = first.0 { return found }
        let answer = first.isFresh && !options.asksAgain ? try await resolve(.now) : first
        if let found = answer.0 { return found }
        throw answer.1 ?? Self.noOrigin
    }

    /// Runs a choice; returns no offer but the error if a name is unknown.
    private func found(
        in listings: [CatalogListing], _ choose: () async throws -> Offer
    ) async throws -> (Offer?, (any Error)?, isFresh: Bool) {
        let isFresh = listings.contains { if case .fresh = $0.freshness { true } else { false } }
        do {
            return (try await choose(), nil, isFresh)
        } catch let error as CatalogError
            where [.unknownFamily, .unknownVersion, .unknownVariant, .familyNeeded].contains(error.code)
        {
            return (nil, error, isFresh)
        }
    }

    private func resolve(
        _ url: URL, _ wanted: Wanted, _ policy: CachePolicy, _ options: PullOptions
    ) async throws -> (Offer?, (any Error)?, isFresh: Bool) {
        let origin = origins.first { $0.manifestURL == url } ?? Origin(address: url)
        let listing = try await source(origin, family: wanted.family).listing(policy)
        return try await found(in: [listing]) {
            let family = try wanted.family ?? listing.catalog.onlyFamily(url: url)
            var resolved = try await self.choose(family, wanted, in: listing, options)
            resolved.isOnlyOrigin = true
            return resolved
        }
    }

    private func resolve(
        _ wanted: Wanted, _ policy: CachePolicy, _ options: PullOptions
    ) async throws -> (Offer?, (any Error)?, isFresh: Bool) {
        guard let family = wanted.family else { throw Self.noOrigin }
        let reports = try await reports(policy)
        let listings = reports.compactMap(\.listing)
        return try await found(in: listings) {
            let offering = reports.filter { $0.listing?.catalog.families.contains(family) ?? false }
            // Bundled models count only if no origin lists the family.
            let origins = offering.filter { $0.origin != nil }
            guard origins.count <= 1 else {
                throw Self.ambiguous(family, among: origins.map(\.source), in: origins)
            }
            if let listing = (origins.first ?? offering.first)?.listing {
                var resolved = try await self.choose(family, wanted, in: listing, options)
                resolved.isOnlyOrigin = reports.allSatisfy { $0.listing != nil }
                return resolved
            }
            // An origin that failed may be the one that lists the family.
            for report in reports { _ = try report.outcome.get() }
            // No source lists the family: the choice throws, with similar names from all sources.
            let all = Catalog(releases: listings.flatMap(\.catalog.releases))
            return try Resolver(catalog: all, device: self.device(forNamed: all)).offer(of: family)
        }
    }

    /// The error for a family that several origins list.
    static func ambiguous(_ family: Family, among names: [String], in reports: [SourceReport]) -> DeliveryError {
        let first = reports.first { $0.source == names.first }?.origin?.manifestURL.withoutQuery ?? ""
        return DeliveryError(
            .ambiguous, "several origins offer \(family): \(names.joined(separator: ", "))",
            context: ErrorContext(model: family.name, remedy: "Name one: \(first)#\(family)"))
    }

    private func choose(
        _ family: Family, _ wanted: Wanted, in listing: CatalogListing, _ options: PullOptions
    ) async throws -> Offer {
        let catalog = listing.catalog
        let state = try await store.state(of: family)
        let resolver = Resolver(
            catalog: catalog, device: await device(for: catalog),
            heldBack: options.triesHeldBack ? [] : state.heldBackVersions,
            ignoresMemory: ignoresMemory || options.ignoreMemory)
        var offer = try choose(family, wanted, by: resolver).from(listing)
        try refuseExpired(catalog, listing.location, options)
        offer.triesHeldBack = offer.isNamed || options.triesHeldBack
        if offer.triesHeldBack {
            let held = state.heldBack(try await identity(of: offer.release))
            offer.heldBackNote = held.map { "\($0.release) is held back: \($0.reason)." }
        }
        return offer
    }

    /// Chooses the release of a version. A version with a content tag means the plain version whose files have that
    /// digest.
    private func choose(_ family: Family, _ wanted: Wanted, by resolver: Resolver) throws -> Offer {
        do {
            return try resolver.offer(of: family, version: wanted.version, variant: wanted.variant)
        } catch let error as CatalogError where error.code == .unknownVersion {
            guard let (name, tag) = wanted.version.flatMap({ ContentTag.split($0.name) }),
                let version = ReleaseVersion(name),
                let offer = try? resolver.offer(of: family, version: version, variant: wanted.variant),
                offer.release.content.map(ContentTag.init(of:)) == tag
            else { throw error }
            return offer
        }
    }

    private func refuseExpired(_ catalog: Catalog, _ url: URL, _ options: PullOptions) throws {
        guard let expires = catalog.expires, expires < time.now, !options.allowStale else { return }
        throw DeliveryError(
            .catalogExpired, "the catalog expired on \(expires.formatted(.iso8601))",
            context: ErrorContext(
                url: url.withoutQuery,
                remedy:
                    "What is installed keeps working. Ask the publisher for a fresh catalog, or insist with --allow-stale."
            ))
    }
}
