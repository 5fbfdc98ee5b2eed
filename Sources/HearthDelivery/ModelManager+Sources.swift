import Foundation
import HearthBase
import HearthCatalog
import HearthStore

extension ModelManager {
    // MARK: - Offers

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
                catalog: listing.catalog, device: await device(for: listing.catalog), ignoresMemory: ignoresMemory)
            for release in listing.catalog.releases {
                resolver.heldBack = try await store.state(of: release.identity.family).heldBackVersions
                var offer = Offer(release: release, reason: .asked).from(listing)
                offer.objection = resolver.objection(to: release)
                offers.append(offer)
            }
        }
        try Self.requireListing(in: reports)
        return offers
    }

    /// Throws the first error of reports if none has a listing.
    static func requireListing(in reports: [SourceReport]) throws {
        if !reports.contains(where: { $0.listing != nil }) { _ = try reports.first?.outcome.get() }
    }

    /// Asks all configured origins and reads the bundled folders at the same time; reports come in the configured
    /// order.
    /// - Throws: ``DeliveryError`` with `no-origin` if there is neither; `CancellationError`.
    package func reports(_ policy: CachePolicy = .asPublished) async throws -> [SourceReport] {
        guard !origins.isEmpty || !bundled.isEmpty else { throw Self.noOrigin }
        let sources: [(origin: Origin?, source: any ModelSource)] =
            origins.map { ($0, source($0, family: Family($0.name.lowercased()))) } + bundled.map { (nil, $0) }
        return try await withThrowingTaskGroup(of: (Int, SourceReport).self) { group in
            for (index, entry) in sources.enumerated() {
                group.addTask {
                    let outcome = try await Self.outcome { try await entry.source.listing(policy) }
                    return (index, SourceReport(source: entry.source.name, origin: entry.origin, outcome: outcome))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// The listing or the error of a source.
    /// - Throws: `CancellationError`.
    static func outcome(
        of listing: @Sendable () async throws -> CatalogListing
    ) async throws -> Result<CatalogListing, any Error> {
        do {
            return .success(try await listing())
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(error)
        }
    }

    /// An origin as a source that keeps its cached catalogs in this home.
    nonisolated func source(_ origin: Origin, family: Family?) -> OriginSource {
        OriginSource(
            origin, family: family, folder: store.layout.catalogs, fetcher: fetcher, fileSystem: fileSystem, time: time,
            asksForRoot: asksForRoots)
    }

    /// A repository of the configured hub.
    /// - Throws: `CatalogError` with `bad-endpoint`.
    nonisolated func source(_ reference: HubReference) throws -> HubSource {
        HubSource(reference, http: http, settings: try hubSettings?.get() ?? HubSettings())
    }

    static var noOrigin: DeliveryError {
        DeliveryError(
            .noOrigin, "no origin is configured",
            context: ErrorContext(remedy: "Give the address of a models.json."))
    }

    // MARK: - This device

    /// The facts about this device that decide which releases it may have. Its identifier is created when a rollout
    /// needs it.
    func device(for catalog: Catalog) async -> DeviceProfile {
        var device = DeviceProfile(
            memory: deviceMemory, formats: formats, appVersion: appVersion,
            fitsAfterPreparation: fitsAfterPreparation(in: catalog))
        let needsCohort = catalog.releases.contains { release in
            release.rollout.map { (1..<100).contains($0.percent) } ?? false
        }
        guard needsCohort else { return device }
        let identifier = DeviceIdentifier(path: store.layout.deviceIdentifier, fileSystem: fileSystem)
        do {
            device.cohort = try await blocking { try identifier.cohort() }
        } catch {
            // Without an identifier, the device is only in complete rollouts.
            Log.write(.warning, "catalog", "this device has no name for rollouts: \(error)")
        }
        return device
    }

    /// The facts that decide about releases of a hub repository. The user named it, so any format is accepted.
    nonisolated func device(forNamed catalog: Catalog) -> DeviceProfile {
        DeviceProfile(memory: deviceMemory, fitsAfterPreparation: fitsAfterPreparation(in: catalog))
    }

    private nonisolated func fitsAfterPreparation(in catalog: Catalog) -> Set<ReleaseIdentity> {
        guard let preparer else { return [] }
        return Set(catalog.releases.lazy.filter { preparer.fitsAfterPreparation($0) }.map(\.identity))
    }

    // MARK: - Availability

    /// Finds the usable model of a family: the bundled one, unless the active download is newer or pinned.
    ///
    /// Never uses the network and reads no model bytes. A bundled folder or download that is unusable is logged and
    /// ignored.
    public func availability(of family: Family) async throws -> ModelAvailability {
        await recoverAtFirst()
        return try await usableModel(of: family)
    }

    /// Finds the usable model of a family without recovering first.
    func usableModel(of family: Family) async throws -> ModelAvailability {
        let state = try await store.state(of: family)
        var active: InstalledRelease?
        if let identity = state.active { active = try await undamaged(identity) }
        return .deciding(bundled: await bundledReleases()[family], active: active, pinned: state.pinned)
    }

    /// An installed release; `nil` if it is missing, or damaged, which is logged.
    func undamaged(_ identity: ReleaseIdentity) async throws -> InstalledRelease? {
        do {
            return try await store.installed(identity)
        } catch let error as StoreError where [.receiptDamaged, .releaseDamaged].contains(error.code) {
            Log.write(.warning, "store", "\(error)")
            return nil
        }
    }

    /// The bundled release of each family.
    func bundledReleases() async -> [Family: BundledRelease] {
        var releases: [Family: BundledRelease] = [:]
        let device = DeviceProfile(memory: deviceMemory, formats: formats, appVersion: appVersion)
        for source in bundled {
            do {
                let found = try await source.releases(for: device).map { ($0.identity.family, $0) }
                releases.merge(found) { first, _ in first }
            } catch {
                Log.write(.warning, "catalog", "\(source.folder) holds no models: \(error)")
            }
        }
        return releases
    }

    /// Verifies a bundled release, once: the result is remembered until its files change. Call it before the first use.
    /// - Throws: `StoreError` with `release-damaged`; `FileError`.
    public func checked(_ release: BundledRelease) async throws -> BundledRelease {
        let checks = BundledChecks(folder: store.layout.catalogs, fileSystem: fileSystem)
        try await StopFlag.blocking { try checks.check(release, $0) }
        return release
    }
}
