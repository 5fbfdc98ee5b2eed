import Foundation
import HearthBase

extension ModelManager {
    /// What the configured origins have for the installed families, without changing anything.
    /// - Throws: ``DeliveryError`` with `no-origin`, ``CatalogError``.
    public func updates(of wanted: Family? = nil) async throws -> [UpdateFinding] {
        guard !origins.isEmpty else { throw Self.noOrigin }
        let installed = try await store.installed()
        let families = Set(installed.map(\.identity.family)).filter { wanted == nil || $0 == wanted }.sorted()
        var catalogs: [Catalog] = []
        for origin in origins { catalogs.append(try await catalog(of: origin)) }

        var findings: [UpdateFinding] = []
        for family in families {
            let active = installed.first { $0.identity.family == family && $0.isActive }
            let catalog = catalogs.first { $0.families.contains(family) }
            let offered = try catalog.map { try offer(of: family, in: $0, besides: active) }
            let reason = Self.compare(active: active, offered: offered)
            findings.append(UpdateFinding(family: family, active: active?.identity.version, reason: reason))
        }
        return findings
    }

    /// The publisher's version, in the variant in use where there is one.
    private nonisolated func offer(of family: Family, in catalog: Catalog, besides active: InstalledRelease?) throws
        -> Release
    {
        let version = catalog.preferredVersion(of: family)
        let offered = catalog.releases.filter { $0.identity.family == family && $0.identity.version == version }
        let variant = active?.identity.variant
        let isOffered = variant != nil && offered.contains { $0.identity.variant == variant }
        let selection = CatalogSelection(
            version: version, variant: isOffered ? variant : nil, deviceMemory: deviceMemory)
        return try catalog.select(family: family, selection: selection)
    }

    private static func compare(active: InstalledRelease?, offered: Release?) -> UpdateFinding.Reason {
        guard let offered else { return .notOffered }
        guard let active else { return .newVersion(offered) }
        let version = offered.identity.version
        if version == active.identity.version { return .upToDate }
        if active.identity.version.isNewer(than: version) == true { return .offeredIsOlder(version) }
        return .newVersion(offered)
    }
}
