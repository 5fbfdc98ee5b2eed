import Foundation
import HearthBase

extension ModelManager {
    /// Finds the release a reference means, without fetching it: the publisher's choice of version unless one is named or the
    /// device may not have it, the largest variant that fits this device unless one is named.
    /// - Throws: ``DeliveryError``, ``CatalogError``, `FileError`.
    public func resolve(_ reference: ModelReference, options: PullOptions = PullOptions()) async throws
        -> ResolvedRelease
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
            return ResolvedRelease(ReleaseChoice(release: release, reason: .asked), location: nil, isNamed: true)
        case .hub(let reference):
            let listing = try await source(reference).listing(.now)
            // Whoever names a repository means it, whatever else there would be; and its versions have no order.
            let choice = try Resolution(
                catalog: listing.catalog, device: device(forNamed: listing.catalog),
                ignoresMemory: ignoresMemory || options.ignoreMemory
            ).choose(family: try listing.catalog.onlyFamily(url: listing.location))
            var resolved = ResolvedRelease(choice, location: listing.location, isNamed: true)
            resolved.isOrdered = false
            resolved.reference = .hub(reference)
            resolved.standing = listing.standing
            return resolved
        }
    }

    private struct Wanted: Sendable {
        var family: Family?
        var version: ReleaseVersion?
        var variant: Variant?
    }

    /// Asks as the origins allow; what a list does not know that is some minutes old is looked up in a new one.
    private func askingAgain(
        _ options: PullOptions,
        _ resolve: @Sendable (ListingWish) async throws -> (ResolvedRelease?, (any Error)?, isFresh: Bool)
    ) async throws -> ResolvedRelease {
        let first = try await resolve(options.asksAgain ? .now : .asPublished)
        if let found = first.0 { return found }
        let answer = first.isFresh && !options.asksAgain ? try await resolve(.now) : first
        if let found = answer.0 { return found }
        throw answer.1 ?? Self.noOrigin
    }

    /// Runs a choice that may find nothing of that name.
    private func found(
        in listings: [CatalogListing], _ choose: () async throws -> ResolvedRelease
    ) async throws -> (ResolvedRelease?, (any Error)?, isFresh: Bool) {
        let isFresh = listings.contains { if case .fresh = $0.standing { true } else { false } }
        do {
            return (try await choose(), nil, isFresh)
        } catch let error as CatalogError
            where [.unknownFamily, .unknownVersion, .unknownVariant, .familyNeeded].contains(error.code)
        {
            return (nil, error, isFresh)
        }
    }

    private func resolve(
        _ url: URL, _ wanted: Wanted, _ wish: ListingWish, _ options: PullOptions
    ) async throws -> (ResolvedRelease?, (any Error)?, isFresh: Bool) {
        let origin = Origin(name: url.shown, manifestURL: url)
        let listing = try await source(origin, family: wanted.family).listing(wish)
        return try await found(in: [listing]) {
            let family = try wanted.family ?? listing.catalog.onlyFamily(url: url)
            var resolved = try await self.choose(family, wanted, in: listing, options)
            resolved.isOnlyOrigin = true
            return resolved
        }
    }

    private func resolve(
        _ wanted: Wanted, _ wish: ListingWish, _ options: PullOptions
    ) async throws -> (ResolvedRelease?, (any Error)?, isFresh: Bool) {
        guard let family = wanted.family else { throw Self.noOrigin }
        let reports = try await reports(wish)
        let listings = reports.compactMap(\.listing)
        return try await found(in: listings) {
            let offering = reports.filter { $0.listing?.catalog.families.contains(family) ?? false }
            // What came with the app is only asked where no origin has the family.
            let origins = offering.filter { $0.origin != nil }
            guard origins.count <= 1 else {
                throw Self.ambiguous(family, among: origins.map(\.source), in: origins)
            }
            if let listing = (origins.first ?? offering.first)?.listing {
                var resolved = try await self.choose(family, wanted, in: listing, options)
                resolved.isOnlyOrigin = reports.allSatisfy { $0.listing != nil }
                return resolved
            }
            // An origin that could not be asked may be the one that has it.
            for report in reports { _ = try report.outcome.get() }
            // Nobody offers it: the choice throws, with the near names over all sources.
            let all = Catalog(releases: listings.flatMap(\.catalog.releases))
            let selection = CatalogSelection(deviceMemory: self.deviceMemory)
            return ResolvedRelease(
                try all.choose(family: family, selection: selection), location: nil, isNamed: false)
        }
    }

    /// Several origins list a family, and nobody said which is meant.
    static func ambiguous(_ family: Family, among names: [String], in reports: [SourceReport]) -> DeliveryError {
        let first = reports.first { $0.source == names.first }?.origin?.manifestURL.withoutQuery ?? ""
        return DeliveryError(
            .ambiguous, "several origins offer \(family): \(names.joined(separator: ", "))",
            context: ErrorContext(model: family.name, remedy: "Name one: \(first)#\(family)"))
    }

    private func choose(
        _ family: Family, _ wanted: Wanted, in listing: CatalogListing, _ options: PullOptions
    ) async throws -> ResolvedRelease {
        let catalog = listing.catalog
        let state = try await store.state(of: family)
        let resolution = Resolution(
            catalog: catalog, device: await device(for: catalog), heldBack: state.heldBackReleases,
            heldBackContents: state.heldBackContents, ignoresMemory: ignoresMemory || options.ignoreMemory)
        let choice = try resolution.choose(family: family, version: wanted.version, variant: wanted.variant)
        try refuseExpired(catalog, listing.location, options)
        var resolved = ResolvedRelease(choice, location: listing.location, isNamed: wanted.version != nil)
        resolved.isOrdered = catalog.versionRule != .different
        resolved.standing = listing.standing
        return resolved
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
