import Foundation
import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// Finds updates of the models on this device, and the offers of their sources.
extension ModelManager {
    /// Finds updates of the installed and bundled families, without changing anything.
    ///
    /// A family is looked up where it came from: in its repository at the requested revision or tag, else in the
    /// configured origin that its receipt names. If only another origin lists the family, it stays as it is
    /// (`NoUpdate.otherOrigin`). A family without an origin follows the only origin that lists it. If a source fails or
    /// is not configured, its families stay; this is no error, unless all sources fail.
    /// - Parameter ignoresMemory: whether releases that need more memory than the device has are updates too.
    /// - Throws: ``DeliveryError`` with `no-origin` if no family came from a repository and no source is configured; the
    ///   origin's error if all sources fail.
    public func updates(
        of wanted: Family? = nil, _ policy: CachePolicy = .asPublished, ignoresMemory: Bool = false
    ) async throws -> [UpdateFinding] {
        let installed = try await self.installed()
        let bundled = await live.bundledReleases()
        let families = Set(installed.map(\.identity.family)).union(bundled.keys)
            .filter { wanted == nil || $0 == wanted }.sorted()
        let releases = Dictionary(grouping: installed, by: \.identity.family)
        let kept = families.map { ReleaseOrigin(of: releases[$0] ?? []) }
        let asked = try await originReports(for: kept, policy)

        var findings: [UpdateFinding] = []
        for (family, source) in zip(families, kept) {
            var finding = try await finding(
                family, inUse: try await availability(of: family).identity, releases[family] ?? [],
                try await sources.answer(of: source, for: family, in: asked), source.repository,
                ignoresMemory: device.ignoresMemory || ignoresMemory)
            if let offer = finding.offer { finding.plan = await plan(offer.release, installed) }
            findings.append(finding)
        }
        return findings
    }

    /// Asks the configured origins, unless every family came from a repository.
    private func originReports(for wanted: [ReleaseOrigin], _ policy: CachePolicy) async throws -> [SourceReport] {
        guard wanted.isEmpty || wanted.contains(where: { $0.repository == nil }) else { return [] }
        let hasRepository = wanted.contains { $0.repository != nil }
        if hasRepository, sources.origins.isEmpty { return [] }
        let asked = try await sources.reports(policy).filter { $0.origin != nil }
        if !hasRepository, !wanted.isEmpty { try CatalogSources.requireListing(in: asked) }
        return asked
    }

    /// Decides by a source's answer whether a family has an update.
    private func finding(
        _ family: Family, inUse: ReleaseIdentity?, _ releases: [InstalledRelease], _ answer: ReleaseOrigin.Answer,
        _ repository: RepositoryReference?, ignoresMemory: Bool
    ) async throws -> UpdateFinding {
        let state = try await store.state(of: family)
        if state.pinned == nil, let reason = answer.reason {
            return UpdateFinding(family: family, active: inUse?.version, reason: .noUpdate(reason))
        }
        let found = answer.listing
        let catalog = found?.catalog ?? Catalog(releases: [])
        var profile = repository == nil ? await device.profile(for: catalog) : device.profile(forNamed: catalog)
        // The format of the release in use has an engine, here or in another program.
        if let inUse = releases.first(where: { $0.identity == inUse }) {
            profile.formats?.insert(inUse.receipt.format)
        }
        var update = try Resolver(
            catalog: catalog, device: profile, heldBack: state.heldBackVersions, ignoresMemory: ignoresMemory
        ).update(of: family, inUse: inUse, pinned: state.pinned, at: sources.time.now)
        // A tag that moved gives the version in use other bytes.
        if case .registry? = repository, case .noUpdate(.upToDate) = update, let release = catalog.releases.first,
            let present = releases.first(where: { $0.identity == inUse }), !present.holds(release)
        {
            var offer = Offer(release: release, reason: .only)
            offer.isUpdate = true
            update = .newVersion(offer)
        }
        if case .newVersion(var offer) = update, let found {
            offer = offer.from(found)
            offer.isOrdered = offer.isOrdered && repository == nil
            offer.reference = repository?.reference
            if case .hub(let hub)? = repository, let short = hub.alias,
                let model = try await sources.hubModels()?.models.first(where: { $0.family == short })
            {
                offer.release.describe(as: model)
            }
            update = .newVersion(offer)
        }
        var finding = UpdateFinding(family: family, active: inUse?.version, reason: update)
        finding.freshness = found?.freshness
        finding.expiring = found.flatMap { ExpiringSignatures($0.source, until: $0.signedUntil, now: sources.time.now) }
        return finding
    }

    /// Plans an update: what pulling a release would change on this device.
    private func plan(_ release: Release, _ installed: [InstalledRelease]) async -> UpdatePlan {
        await blocking { [transfer = fetching.transfer] in
            UpdatePlan(release, installed: installed) { file in
                do {
                    return try transfer.bytesHeld(of: TransferRequest(file))
                } catch {
                    Log.write(.info, "transfer", "what is there of \(file.name) is not known: \(error)")
                    return 0
                }
            }
        }
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
        let reports = sources.origins.isEmpty ? [] : try await sources.reports(policy).filter { $0.origin != nil }
        let installed = Dictionary(grouping: try await store.installed(), by: \.identity.family)
        for case .failure(let error) in reports.map(\.outcome) { found.problem = found.problem ?? error }
        found.cachedLists = reports.compactMap { report in
            report.listing.flatMap { CachedList(report.source, $0.freshness) }
        }
        found.expiring = reports.compactMap { report in
            ExpiringSignatures(report.source, until: report.listing?.signedUntil, now: sources.time.now)
        }
        if let problem = found.problem, !reports.contains(where: { $0.listing != nil }) { throw problem }
        for family in Self.families(of: reports, and: inUse.keys) {
            let source = ReleaseOrigin(of: installed[family] ?? [])
            let answer = try await sources.answer(of: source, for: family, in: reports)
            if let inUse = inUse[family] {
                let finding = try await finding(
                    family, inUse: inUse, installed[family] ?? [], answer, source.repository,
                    ignoresMemory: device.ignoresMemory)
                if case .noUpdate(let reason) = finding.reason { found.stays[family] = reason }
                // The release in use is offered too; another variant of it is no update.
                let same = source.repository == nil ? answer.listing.flatMap { Self.offer(of: inUse, in: $0) } : nil
                if let offer = finding.offer ?? same { found.offers.append(offer.exactlyReferenced()) }
            } else if let listing = answer.listing {
                let resolver = Resolver(
                    catalog: listing.catalog, device: await device.profile(for: listing.catalog),
                    heldBack: try await store.state(of: family).heldBackVersions, ignoresMemory: device.ignoresMemory)
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
    package func exactlyReferenced() -> Self {
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
