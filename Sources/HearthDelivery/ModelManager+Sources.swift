import Foundation
import HearthBase

/// What one source had to say, or why it said nothing.
public struct SourceReport: Sendable {
    /// The source's name.
    public let source: String
    /// The manifest's address; `nil` for what came with the app.
    public let origin: Origin?
    public let outcome: Result<CatalogListing, any Error>

    /// The listing, if there is one.
    public var listing: CatalogListing? { try? outcome.get() }  // the error is told where nothing else is found
}

extension ModelManager {
    // MARK: - What is offered

    /// Every release of every configured origin and of what came with the app.
    ///
    /// An origin that gives no answer does not hide the others: ``reports(_:)`` tells which did.
    /// - Throws: ``DeliveryError`` with `no-origin`; the first origin's error if none can be listed.
    public func available(_ wish: ListingWish = .asPublished) async throws -> [AvailableRelease] {
        try await available(in: try await reports(wish))
    }

    /// The releases of listings, and what speaks against each on this device.
    /// - Throws: the first error if there is no listing.
    public func available(in reports: [SourceReport]) async throws -> [AvailableRelease] {
        var offers: [AvailableRelease] = []
        for report in reports {
            guard let listing = report.listing else { continue }
            var device = await device(for: listing.catalog)
            // Whoever insists may have what needs more.
            if ignoresMemory { device.memory = .max }
            for release in listing.catalog.releases {
                let family = release.identity.family
                let state = try await store.state(of: family)
                offers.append(
                    AvailableRelease(
                        release: release,
                        origin: report.origin ?? Origin(name: report.source, manifestURL: listing.location),
                        isCurrent: listing.catalog.current[family] == release.identity.version,
                        objection: release.ineligibility(
                            on: device, heldBack: state.heldBackReleases, heldBackContents: state.heldBackContents)))
            }
        }
        if !reports.contains(where: { $0.listing != nil }) { for report in reports { _ = try report.outcome.get() } }
        return offers
    }

    /// Asks every configured origin, and looks at what came with the app.
    /// - Throws: ``DeliveryError`` with `no-origin` where there is neither; `CancellationError`.
    public func reports(_ wish: ListingWish = .asPublished) async throws -> [SourceReport] {
        guard !origins.isEmpty || !bundled.isEmpty else { throw Self.noOrigin }
        var reports: [SourceReport] = []
        for origin in origins {
            // A name that is no family's gives none.
            let source = source(origin, family: Family(origin.name.lowercased()))
            reports.append(
                SourceReport(source: origin.name, origin: origin, outcome: try await listing(source, wish)))
        }
        for source in bundled {
            reports.append(SourceReport(source: source.name, origin: nil, outcome: try await listing(source, wish)))
        }
        return reports
    }

    private func listing(_ source: any ModelSource, _ wish: ListingWish) async throws -> Result<
        CatalogListing, any Error
    > {
        do {
            return .success(try await source.listing(wish))
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(error)
        }
    }

    /// An origin as a source that keeps its copies in this home.
    nonisolated func source(_ origin: Origin, family: Family?) -> OriginSource {
        OriginSource(
            origin, family: family, folder: store.layout.catalogs, fetcher: fetcher, fileSystem: fileSystem, time: time)
    }

    /// A repository of the configured hub.
    /// - Throws: ``CatalogError`` with `bad-endpoint`.
    nonisolated func source(_ reference: HubReference) throws -> HubSource {
        HubSource(reference, http: http, settings: try hubSettings?.get() ?? HubSettings())
    }

    static var noOrigin: DeliveryError {
        DeliveryError(
            .noOrigin, "no origin is configured",
            context: ErrorContext(
                remedy: "Give the address of a models.json with HEARTH_ORIGIN or 'hearth config set origins.NAME URL'.")
        )
    }

    // MARK: - This device

    /// What decides about releases here. The device gets its name when a rollout first asks for it.
    func device(for catalog: Catalog) async -> DeviceProfile {
        var device = DeviceProfile(
            memory: deviceMemory, formats: formats, appVersion: appVersion, madeToFit: madeToFit(in: catalog))
        let needsCohort = catalog.releases.contains { release in
            release.rollout.map { (1..<100).contains($0.percent) } ?? false
        }
        guard needsCohort else { return device }
        let identifier = DeviceIdentifier(layout: store.layout, fileSystem: fileSystem)
        do {
            device.cohort = try await blocking { try identifier.cohort() }
        } catch {
            // Without a name it is in no rollout that is not complete.
            Log.write(.warning, "delivery.catalog", "this device has no name for rollouts: \(error)")
        }
        return device
    }

    /// What decides about the releases of a hub's repository, of which the user named one.
    nonisolated func device(forNamed catalog: Catalog) -> DeviceProfile {
        DeviceProfile(memory: deviceMemory, madeToFit: madeToFit(in: catalog))
    }

    private nonisolated func madeToFit(in catalog: Catalog) -> Set<ReleaseIdentity> {
        guard let preparer else { return [] }
        return Set(catalog.releases.lazy.filter { preparer.makesFit($0) }.map(\.identity))
    }

    // MARK: - Availability

    /// Whether there is a model of a family to be used, without touching the network or reading a model's bytes: the one
    /// that came with the app, unless the active downloaded one is newer or pinned.
    ///
    /// A bundled folder or a downloaded release that cannot be used is logged and counts as not there.
    public func availability(of family: Family) async throws -> ModelAvailability {
        await recoverAtFirst()
        return try await whatIsLive(of: family)
    }

    /// The same, whatever ended processes left.
    func whatIsLive(of family: Family) async throws -> ModelAvailability {
        var active: InstalledRelease?
        do {
            active = try await store.active(family)
        } catch let error as StoreError where [.receiptDamaged, .releaseDamaged].contains(error.code) {
            Log.write(.warning, "delivery.store", "\(error)")
        }
        return ModelAvailability.deciding(
            bundled: await bundledReleases().first { $0.identity.family == family }, active: active,
            pinned: try await store.state(of: family).pinned)
    }

    /// What came with the app, one release of each family.
    func bundledReleases() async -> [BundledRelease] {
        var releases: [BundledRelease] = []
        for source in bundled {
            do {
                let device = DeviceProfile(memory: deviceMemory, formats: formats, appVersion: appVersion)
                releases += try await source.releases(for: device)
            } catch {
                Log.write(.warning, "delivery.catalog", "\(source.folder) holds no models: \(error)")
            }
        }
        return releases
    }

    /// Compares what came with the app with its digests, once: the result is remembered for as long as the files stay.
    /// To be called before the first use.
    /// - Throws: ``StoreError`` with `release-damaged`; `FileError`.
    public func checked(_ release: BundledRelease) async throws -> BundledRelease {
        let checks = BundledChecks(layout: store.layout, fileSystem: fileSystem)
        try await StopFlag.blocking { try checks.check(release, $0) }
        return release
    }
}
