import Foundation
import HearthBase

extension ModelManager {
    /// What the sources have for the installed families and those that came with the app, without changing anything.
    ///
    /// Each family is looked for where it came from: a hub's repository at the revision it was asked for at, else the
    /// configured origins. A source that cannot be asked is the reason why its families stay, not an error, unless there
    /// is no other.
    /// - Throws: ``DeliveryError`` with `no-origin`; the origin's error if no source at all can be asked.
    public func updates(of wanted: Family? = nil, _ wish: ListingWish = .asPublished) async throws -> [UpdateFinding] {
        let installed = try await store.installed()
        let bundled = await bundledReleases()
        let families = Set(installed.map(\.identity.family)).union(bundled.map(\.identity.family))
            .filter { wanted == nil || $0 == wanted }.sorted()
        let hubs = Self.hubReferences(installed)
        let needsOrigins = families.contains { hubs[$0] == nil } || families.isEmpty
        let reports = needsOrigins || !origins.isEmpty ? try await reports(wish) : []
        let asked = reports.filter { $0.origin != nil }
        if families.contains(where: { hubs[$0] == nil }), !asked.isEmpty, asked.allSatisfy({ $0.listing == nil }) {
            for report in asked { _ = try report.outcome.get() }
        }

        var findings: [UpdateFinding] = []
        for family in families {
            let releases = installed.filter { $0.identity.family == family }
            let inUse = try await availability(of: family).identity
            let listing: Result<CatalogListing, any Error>? =
                if let hub = hubs[family] { try await listing(hub) } else { Self.listing(of: family, in: asked) }
            findings.append(
                try await finding(family, inUse, releases: releases, all: installed, listing, hub: hubs[family]))
        }
        return findings
    }

    /// The repository an installed family came from, by its active release where there is one.
    private static func hubReferences(_ installed: [InstalledRelease]) -> [Family: HubReference] {
        var references: [Family: HubReference] = [:]
        for release in installed where references[release.identity.family] == nil || release.isActive {
            guard release.receipt.manifestEntry.hasPrefix("hf:"),
                case .hub(let reference)? = try? ModelReference(parsing: release.receipt.manifestEntry),
                reference.family == release.identity.family
            else { continue }
            references[release.identity.family] = reference
        }
        return references
    }

    private func listing(_ hub: HubReference) async throws -> Result<CatalogListing, any Error> {
        do {
            return .success(try await source(hub).listing(.now))
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(error)
        }
    }

    /// The listing that has a family; else the failure of an origin that may have it.
    private static func listing(of family: Family, in reports: [SourceReport]) -> Result<CatalogListing, any Error>? {
        let listings = reports.compactMap(\.listing)
        if let listing = listings.first(where: { $0.catalog.families.contains(family) }) { return .success(listing) }
        return reports.map(\.outcome).first { if case .failure = $0 { true } else { false } }
    }

    private func finding(
        _ family: Family, _ inUse: ReleaseIdentity?, releases: [InstalledRelease], all installed: [InstalledRelease],
        _ listing: Result<CatalogListing, any Error>?, hub: HubReference?
    ) async throws -> UpdateFinding {
        var question = UpdateQuestion(
            family: family, inUse: inUse, pinned: try await store.state(of: family).pinned)
        question.heldBack = try await heldBack(family)
        let found: CatalogListing?
        switch listing {
        case .success(let listing)?: found = listing
        case .failure(let error)? where question.pinned == nil:
            let problem = (error as? any HearthFailure)?.message ?? "\(error)"
            return UpdateFinding(family: family, active: inUse?.version, reason: .noUpdate(.unreachable(problem)))
        case .failure, nil: found = nil
        }
        var device =
            if let found, hub == nil { await device(for: found.catalog) } else { DeviceProfile(memory: deviceMemory) }
        // Whatever is in use has an engine somewhere.
        if let inUse = releases.first(where: { $0.identity == inUse }) {
            device.formats?.insert(inUse.receipt.format)
        }
        var finding: UpdateFinding
        switch try question.advice(from: found?.catalog, for: device, at: time.now) {
        case .stay(let reason):
            finding = UpdateFinding(family: family, active: inUse?.version, reason: .noUpdate(reason))
        case .take(let choice):
            finding = UpdateFinding(family: family, active: inUse?.version, reason: .newVersion(choice.release))
            var resolved = ResolvedRelease(choice, location: found?.location, isNamed: hub != nil)
            resolved.acceptsOlder = hub != nil || found?.catalog.versionRule == .different
            resolved.reference = hub.map { .hub($0) }
            resolved.standing = found?.standing
            finding.resolved = resolved
            finding.plan = try await plan(choice.release, installed)
        }
        finding.standing = found?.standing
        return finding
    }

    /// What bringing a release would change on this device.
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
