import Foundation
import HearthBase

extension ModelManager {
    /// What the sources have for the installed families and those that came with the app, without changing anything.
    ///
    /// Each family is looked for where it came from: a hub's repository at the revision it was asked for at, else the
    /// configured origin that its receipt names. Another origin that lists the same name is a reason to stay
    /// (``NoUpdate/otherOrigin(cameFrom:offeredBy:)``). What came from no origin follows the only one that lists it. A source that
    /// cannot be asked, or is not configured, is the reason why its families stay, not an error, unless there is no other.
    /// - Parameter ignoresMemory: whether what needs more memory than the device has is an update too, because the user insists.
    /// - Throws: ``DeliveryError`` with `no-origin` where no family came from a hub; the origin's error if no source at all can be
    ///   asked.
    public func updates(
        of wanted: Family? = nil, _ wish: ListingWish = .asPublished, ignoresMemory: Bool = false
    ) async throws -> [UpdateFinding] {
        let installed = try await installed()
        let bundled = await bundledReleases()
        let families = Set(installed.map(\.identity.family)).union(bundled.map(\.identity.family))
            .filter { wanted == nil || $0 == wanted }.sorted()
        let releases = Dictionary(grouping: installed, by: \.identity.family)
        let sources = families.map { ReleaseOrigin(of: releases[$0] ?? []) }
        let asked = try await originReports(for: sources, wish)

        var findings: [UpdateFinding] = []
        for (family, source) in zip(families, sources) {
            let inUse = try await availability(of: family).identity
            let answer: ReleaseOrigin.Answer =
                if let hub = source.hub { .listing(try await listing(hub)) } else {
                    source.answer(for: family, in: asked)
                }
            findings.append(
                try await finding(
                    family, inUse, releases: releases[family] ?? [], all: installed, answer, hub: source.hub,
                    ignoresMemory: self.ignoresMemory || ignoresMemory))
        }
        return findings
    }

    /// What the configured origins list, where somebody's updates come from one.
    private func originReports(for sources: [ReleaseOrigin], _ wish: ListingWish) async throws -> [SourceReport] {
        guard sources.isEmpty || sources.contains(where: { $0.hub == nil }) else { return [] }
        let hasHub = sources.contains { $0.hub != nil }
        if hasHub, origins.isEmpty { return [] }
        let asked = try await reports(wish).filter { $0.origin != nil }
        if !hasHub, !sources.isEmpty, !asked.isEmpty, asked.allSatisfy({ $0.listing == nil }) {
            for report in asked { _ = try report.outcome.get() }
        }
        return asked
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

    private func finding(
        _ family: Family, _ inUse: ReleaseIdentity?, releases: [InstalledRelease], all installed: [InstalledRelease],
        _ answer: ReleaseOrigin.Answer, hub: HubReference?, ignoresMemory: Bool
    ) async throws -> UpdateFinding {
        var question = UpdateQuestion(family: family, inUse: inUse, try await store.state(of: family))
        question.ignoresMemory = ignoresMemory
        let found: CatalogListing?
        switch answer {
        case .listing(.success(let listing)): found = listing
        case .listing(.failure(let error)) where question.pinned == nil:
            let problem = (error as? any HearthFailure)?.message ?? "\(error)"
            return UpdateFinding(family: family, active: inUse?.version, reason: .noUpdate(.unreachable(problem)))
        case .stays(let reason) where question.pinned == nil:
            return UpdateFinding(family: family, active: inUse?.version, reason: .noUpdate(reason))
        case .listing(.failure), .stays: found = nil
        }
        let catalog = found?.catalog ?? Catalog(releases: [])
        var device = hub == nil ? await device(for: catalog) : device(forNamed: catalog)
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
            var resolved = ResolvedRelease(choice, location: found?.location, isNamed: false)
            resolved.isOrdered = hub == nil && found?.catalog.versionRule != .different
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
