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
        let families = Set(installed.map(\.identity.family)).union(bundled.map(\.identity.family))
            .filter { wanted == nil || $0 == wanted }.sorted()
        let releases = Dictionary(grouping: installed, by: \.identity.family)
        let sources = families.map { ReleaseOrigin(of: releases[$0] ?? []) }
        let asked = try await originReports(for: sources, policy)

        var findings: [UpdateFinding] = []
        for (family, source) in zip(families, sources) {
            let inUse = try await availability(of: family).identity
            let answer: ReleaseOrigin.Answer =
                if let hub = source.hub {
                    .listing(try await Self.outcome { try await self.source(hub).listing(.now) })
                } else {
                    source.answer(for: family, in: asked)
                }
            findings.append(
                try await finding(
                    family, inUse, releases: releases[family] ?? [], all: installed, answer, hub: source.hub,
                    ignoresMemory: self.ignoresMemory || ignoresMemory))
        }
        return findings
    }

    /// Asks the configured origins, unless every family came from a hub.
    private func originReports(for sources: [ReleaseOrigin], _ policy: CachePolicy) async throws -> [SourceReport] {
        guard sources.isEmpty || sources.contains(where: { $0.hub == nil }) else { return [] }
        let hasHub = sources.contains { $0.hub != nil }
        if hasHub, origins.isEmpty { return [] }
        let asked = try await reports(policy).filter { $0.origin != nil }
        if !hasHub, !sources.isEmpty, !asked.isEmpty, asked.allSatisfy({ $0.listing == nil }) {
            for report in asked { _ = try report.outcome.get() }
        }
        return asked
    }

    private func finding(
        _ family: Family, _ inUse: ReleaseIdentity?, releases: [InstalledRelease], all installed: [InstalledRelease],
        _ answer: ReleaseOrigin.Answer, hub: HubReference?, ignoresMemory: Bool
    ) async throws -> UpdateFinding {
        let state = try await store.state(of: family)
        var finding: UpdateFinding
        let found: CatalogListing?
        switch answer {
        case .listing(.success(let listing)): found = listing
        case .listing(.failure(let error)) where state.pinned == nil:
            let problem = (error as? any HearthFailure)?.message ?? "\(error)"
            return UpdateFinding(family: family, active: inUse?.version, reason: .noUpdate(.unreachable(problem)))
        case .stays(let reason) where state.pinned == nil:
            return UpdateFinding(family: family, active: inUse?.version, reason: .noUpdate(reason))
        case .listing(.failure), .stays: found = nil
        }
        let catalog = found?.catalog ?? Catalog(releases: [])
        var device = hub == nil ? await device(for: catalog) : device(forNamed: catalog)
        // The format of the release in use has an engine, here or in another program.
        if let inUse = releases.first(where: { $0.identity == inUse }) {
            device.formats?.insert(inUse.receipt.format)
        }
        let update = try Resolver(
            catalog: catalog, device: device, heldBack: state.heldBackVersions, ignoresMemory: ignoresMemory
        ).update(of: family, inUse: inUse, pinned: state.pinned, at: time.now)
        if case .newVersion(var offer) = update, let found {
            offer = offer.from(found)
            offer.isOrdered = offer.isOrdered && hub == nil
            offer.reference = hub.map { .hub($0) }
            finding = UpdateFinding(family: family, active: inUse?.version, reason: .newVersion(offer))
            finding.plan = try await plan(offer.release, installed)
        } else {
            finding = UpdateFinding(family: family, active: inUse?.version, reason: update)
        }
        finding.freshness = found?.freshness
        return finding
    }

    /// Plans an update: what pulling a release would change on this device.
    func plan(_ release: Release, _ installed: [InstalledRelease]) async throws -> UpdatePlan {
        try await blocking { [transfer] in
            UpdatePlan(release, installed: installed) { file in
                do {
                    return try transfer.bytesHeld(of: TransferRequest(file))
                } catch {
                    Log.write(.info, "delivery.transfer", "what is there of \(file.name) is not known: \(error)")
                    return 0
                }
            }
        }
    }
}
