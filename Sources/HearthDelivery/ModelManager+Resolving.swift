import Foundation
import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// What sources offer, and the release a reference means; nothing is fetched.
extension ModelManager {
    /// Finds the release a reference means, without fetching it.
    ///
    /// The version is the named one, else the publisher's choice or, if this device may not have that, another. The
    /// variant is the named one, else the largest that fits this device; of a repository of the Hub, the one that
    /// `QuantizationRule` chooses. A family that no origin lists may be a short name of the catalog.
    /// - Throws: ``DeliveryError``, `CatalogError`, `FileError`.
    public func resolve(
        _ reference: ModelReference, options: PullOptions = PullOptions()
    ) async throws -> Offer {
        switch reference {
        case .family(let family, let version, let variant):
            let wanted = Wanted(family: family, version: version, variant: variant)
            do {
                return try await resolve(wanted, options, among: sources.reports)
            } catch let error where Self.isUnlisted(error) {
                if let offer = try await resolve(short: family, version: version, variant: variant, options) {
                    return offer
                }
                try await refuseUnknown(family, beside: error)
            }
        case .manifest(let url, let family, let version, let variant):
            let wanted = Wanted(family: family, version: version, variant: variant)
            let origin = sources.origins.first { $0.manifestURL == url } ?? Origin(address: url)
            return try await resolve(wanted, options) { policy in
                let listing = try await sources.source(origin, family: family).listing(policy)
                return [SourceReport(source: listing.source, origin: origin, outcome: .success(listing))]
            }
        case .file(let path):
            let release = try await LocalRelease.describe(path, family: options.family, in: sources.fileSystem)
            try await refuseClash(release, path)
            return Offer(release: release, reason: .asked).named(true)
        case .hub(let reference):
            return try await resolve(reference, options)
        case .registry(let reference):
            return try await resolve(reference, options)
        }
    }

    /// Refuses a local file whose family another written name made: it would become a version of another model.
    private func refuseClash(_ release: Release, _ path: Path) async throws {
        guard let written = release.writtenName.flatMap({ WrittenName($0) }) else { return }
        let others = try await installed().filter { $0.identity.family == written.family }
        guard let other = written.clash(among: others.compactMap(\.receipt.writtenName)) else { return }
        throw CatalogError(
            .nameClash, "\(written.text.quoted) and \(other.quoted) are both the family \(written.family)",
            context: ErrorContext(
                model: release.identity.description, file: path.string, field: "family", found: other.quoted,
                remedy:
                    "If they are one model, give the family \(written.family); else give the file a family of its own.")
        )
    }

    /// Whether an error means that no source lists a family, and the catalog may.
    private static func isUnlisted(_ error: any Error) -> Bool {
        switch error {
        case let error as CatalogError: error.code == .unknownFamily
        case let error as DeliveryError: error.code == .noOrigin
        default: false
        }
    }

    /// Resolves the release of a transfer, with the options that its plan remembers.
    ///
    /// The version is that of the transfer, even if a newer one exists. It counts as named if the user named it.
    /// - Throws: `TransferError` with `not-resumable`; otherwise as `resolve`.
    package func resolve(
        again plan: TransferPlan, options: PullOptions = PullOptions()
    ) async throws -> (Offer, PullOptions) {
        let purpose = plan.purpose
        guard let purpose, let reference = purpose.reference else {
            throw TransferError(
                .notResumable, "the plan of \(plan.label) does not tell which model it belongs to",
                context: ErrorContext(
                    model: purpose?.release.description, file: plan.label,
                    remedy: "Pull the model again, which keeps the received bytes, or cancel the transfer."))
        }
        var options = options
        options.activate = options.activate && purpose.activates
        var resolved = try await resolve(reference, options: options)
        resolved.isNamed = resolved.isNamed && purpose.isNamed
        resolved.retryHeldBack = resolved.isNamed
        return (resolved, options)
    }

    /// Lists every release of the configured origins and bundled folders, each with the objection to it on this device.
    ///
    /// An origin that fails hides no other.
    /// - Throws: ``DeliveryError`` with `no-origin`; the first origin's error if all fail.
    public func available(_ policy: CachePolicy = .asPublished) async throws -> [Offer] {
        try await available(in: try await reports(policy))
    }

    /// Lists the releases of reports, each with the objection to it on this device.
    /// - Throws: the first error if there is no listing.
    package func available(in reports: [SourceReport]) async throws -> [Offer] {
        var offers: [Offer] = []
        for listing in reports.compactMap(\.listing) {
            var resolver = Resolver(
                catalog: listing.catalog, device: await device.profile(for: listing.catalog),
                ignoresMemory: device.ignoresMemory)
            for release in listing.catalog.releases {
                resolver.heldBack = try await store.state(of: release.identity.family).heldBackVersions
                var offer = Offer(release: release, reason: .asked).from(listing)
                offer.objection = resolver.objection(to: release)
                offers.append(offer)
            }
        }
        try CatalogSources.requireListing(in: reports)
        return offers
    }

    private struct Wanted: Sendable {
        var family: Family?
        var version: ReleaseVersion?
        var variant: Variant?
    }

    /// Resolves by the lists of sources. If a cached list has no match, asks the sources and resolves once more.
    private func resolve(
        _ wanted: Wanted, _ options: PullOptions, among reports: (CachePolicy) async throws -> [SourceReport]
    ) async throws -> Offer {
        let first = try await reports(options.refresh ? .now : .asPublished)
        do {
            return try await offer(wanted, in: first, options)
        } catch let error as CatalogError
            where [.unknownFamily, .unknownVersion, .unknownVariant, .familyNeeded].contains(error.code)
        {
            let isCached = first.contains { if case .fresh = $0.listing?.freshness { true } else { false } }
            guard isCached, !options.refresh else { throw error }
            return try await offer(wanted, in: try await reports(.now), options)
        }
    }

    private func offer(_ wanted: Wanted, in reports: [SourceReport], _ options: PullOptions) async throws -> Offer {
        let listings = reports.compactMap(\.listing)
        let only = try wanted.family ?? listings.first.map { try $0.catalog.onlyFamily(url: $0.location) }
        guard let family = only else { throw CatalogSources.noOrigin }
        let offering = reports.filter { $0.listing?.catalog.families.contains(family) ?? false }
        // Bundled models count only if no origin lists the family.
        let origins = offering.filter { $0.origin != nil }
        guard origins.count <= 1 else {
            throw Self.ambiguous(family, among: origins.map(\.source), in: origins)
        }
        guard let listing = (origins.first ?? offering.first)?.listing else {
            // An origin that failed may be the one that lists the family.
            for report in reports { _ = try report.outcome.get() }
            // No source lists the family: the choice throws, with similar names from all sources.
            let all = Catalog(releases: listings.flatMap(\.catalog.releases))
            return try Resolver(catalog: all, device: device.profile(forNamed: all)).offer(of: family)
        }
        var offer = try await choose(family, wanted, in: listing, options)
        offer.isOnlyOrigin = listings.count == reports.count
        return offer
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
            catalog: catalog, device: await device.profile(for: catalog),
            heldBack: options.retryHeldBack ? [] : state.heldBackVersions,
            ignoresMemory: device.ignoresMemory || options.ignoreMemory)
        var offer = try choose(family, wanted, by: resolver).from(listing)
        try refuseExpired(catalog, listing.location, options)
        offer.retryHeldBack = offer.isNamed || options.retryHeldBack
        if offer.retryHeldBack {
            let held = state.heldBack(try await store.identity(of: offer.release))
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
            // If the plain version has no offer either, the first error names what was asked for.
            guard let (name, tag) = wanted.version.flatMap({ ContentTag.split($0.name) }),
                let version = ReleaseVersion(name),
                let offer = try? resolver.offer(of: family, version: version, variant: wanted.variant),
                offer.release.content.map(ContentTag.init(of:)) == tag
            else { throw error }
            return offer
        }
    }

    private func refuseExpired(_ catalog: Catalog, _ url: URL, _ options: PullOptions) throws {
        guard let expires = catalog.expires, expires < sources.time.now, !options.allowStale else { return }
        throw DeliveryError(
            .catalogExpired, "the catalog expired on \(expires.formatted(.iso8601))",
            context: ErrorContext(
                url: url.withoutQuery,
                remedy:
                    "Installed models keep working. Ask the publisher for a fresh catalog, or accept the expired one."
            ))
    }
}
