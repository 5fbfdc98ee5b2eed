import Foundation
import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

extension ModelManager {
    /// Finds updates of the installed and bundled families, without changing anything.
    ///
    /// A family is looked up where it came from: in its hub repository at the requested revision, else in the
    /// configured origin that its receipt names. If only another origin lists the family, it stays as it is
    /// (`NoUpdate.otherOrigin`). A family without an origin follows the only origin that lists it. If a source fails or
    /// is not configured, its families stay; this is no error, unless all sources fail.
    /// - Parameter ignoresMemory: whether releases that need more memory than the device has are updates too.
    /// - Throws: ``DeliveryError`` with `no-origin` if no family came from a hub and no source is configured; the
    ///   origin's error if all sources fail.
    public func updates(
        of wanted: Family? = nil, _ policy: CachePolicy = .asPublished, ignoresMemory: Bool = false
    ) async throws -> [UpdateFinding] {
        let installed = try await installed()
        let bundled = await bundledReleases()
        let families = Set(installed.map(\.identity.family)).union(bundled.keys)
            .filter { wanted == nil || $0 == wanted }.sorted()
        let releases = Dictionary(grouping: installed, by: \.identity.family)
        let sources = families.map { ReleaseOrigin(of: releases[$0] ?? []) }
        let asked = try await originReports(for: sources, policy)

        var findings: [UpdateFinding] = []
        for (family, source) in zip(families, sources) {
            var finding = try await finding(
                family, inUse: try await availability(of: family).identity, releases[family] ?? [],
                try await answer(of: source, for: family, in: asked), source.hub,
                ignoresMemory: self.ignoresMemory || ignoresMemory)
            if let offer = finding.offer { finding.plan = try await plan(offer.release, installed) }
            findings.append(finding)
        }
        return findings
    }

    /// The answer of a family's source: its hub repository, asked now, or the configured origins' reports.
    func answer(
        of source: ReleaseOrigin, for family: Family, in reports: [SourceReport]
    ) async throws -> ReleaseOrigin.Answer {
        guard let hub = source.hub else { return source.answer(for: family, in: reports) }
        return .listing(try await Self.outcome { try await self.source(hub).listing(.now) })
    }

    /// Asks the configured origins, unless every family came from a hub.
    private func originReports(for sources: [ReleaseOrigin], _ policy: CachePolicy) async throws -> [SourceReport] {
        guard sources.isEmpty || sources.contains(where: { $0.hub == nil }) else { return [] }
        let hasHub = sources.contains { $0.hub != nil }
        if hasHub, origins.isEmpty { return [] }
        let asked = try await reports(policy).filter { $0.origin != nil }
        if !hasHub, !sources.isEmpty { try Self.requireListing(in: asked) }
        return asked
    }

    /// Decides by a source's answer whether a family has an update.
    func finding(
        _ family: Family, inUse: ReleaseIdentity?, _ releases: [InstalledRelease], _ answer: ReleaseOrigin.Answer,
        _ hub: HubReference?, ignoresMemory: Bool
    ) async throws -> UpdateFinding {
        let state = try await store.state(of: family)
        if state.pinned == nil, let reason = answer.reason {
            return UpdateFinding(family: family, active: inUse?.version, reason: .noUpdate(reason))
        }
        let found = answer.listing
        let catalog = found?.catalog ?? Catalog(releases: [])
        var device = hub == nil ? await device(for: catalog) : device(forNamed: catalog)
        // The format of the release in use has an engine, here or in another program.
        if let inUse = releases.first(where: { $0.identity == inUse }) {
            device.formats?.insert(inUse.receipt.format)
        }
        var update = try Resolver(
            catalog: catalog, device: device, heldBack: state.heldBackVersions, ignoresMemory: ignoresMemory
        ).update(of: family, inUse: inUse, pinned: state.pinned, at: time.now)
        if case .newVersion(var offer) = update, let found {
            offer = offer.from(found)
            offer.isOrdered = offer.isOrdered && hub == nil
            offer.reference = hub.map { .hub($0) }
            update = .newVersion(offer)
        }
        var finding = UpdateFinding(family: family, active: inUse?.version, reason: update)
        finding.freshness = found?.freshness
        finding.expiring = found.flatMap { ExpiringSignatures($0.source, until: $0.signedUntil, now: time.now) }
        return finding
    }

    /// Plans an update: what pulling a release would change on this device.
    func plan(_ release: Release, _ installed: [InstalledRelease]) async throws -> UpdatePlan {
        try await blocking { [transfer] in
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

    /// Records the new origin of an installed release whose identical bytes are pulled from there: its updates come from
    /// that origin from then on.
    ///
    /// Bundled models, hub repositories and local folders that are not configured as origins are ignored.
    func follow(_ offer: Offer, _ there: InstalledRelease) async -> InstalledRelease {
        guard let origin = offer.origin, case let location = origin.manifestURL, offer.isOnlyOrigin,
            offer.freshness != .bundled,
            there.receipt.origin?.withoutSecrets != location.withoutSecrets,
            !location.isFileURL || origins.contains(where: { $0.manifestURL == location })
        else { return there }
        do {
            return try await store.follow(origin, entry: offer.release.id, there)
        } catch {
            Log.write(.warning, "updates of \(there.identity) come from where they came before: \(error)")
            return there
        }
    }
}
