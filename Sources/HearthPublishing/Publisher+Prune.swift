import Foundation
import HearthBase
import HearthCatalog

/// The result of pruning an origin.
package struct PruneReport: Sendable, Hashable {
    /// The removed files, or those that would be removed.
    package let removed: [StoredFile]
    /// The unfinished uploads that were given up.
    package let abandonedUploads: Int
    /// The files that stay.
    package let keptCount: Int

    package var freedBytes: UInt64 { removed.map(\.size).saturatedSum }
}

extension Publisher {
    /// The age up to which a file may belong to a publication that is under way.
    static let youngestRemoved = 86400.0

    /// Removes files that no catalog names: neither the present one, nor one of the last days, which devices may still
    /// use. Copies of older catalogs are removed too.
    /// - Parameter days: how long a replaced catalog counts. With 0, only the present one does; then no publication may be
    ///   under way.
    /// - Throws: errors as ``publish(_:progress:)``. If any catalog cannot be read, nothing is removed.
    package func prune(keeping days: Int, isDryRun: Bool = false) async throws -> PruneReport {
        try await requireCatalog()
        let session: (any Sendable)? = isDryRun ? nil : try await target.begin()
        defer { withExtendedLifetime(session) {} }
        let window = Double(max(0, days)) * 86400
        let catalogsSince = time.now.addingTimeInterval(-window)
        let youngSince = time.now.addingTimeInterval(-min(window, Self.youngestRemoved))
        let manifest = try await manifest()
        let files = try await target.list()
        let isCopy = { (file: StoredFile) in file.place.string.hasPrefix("\(OriginPlaces.copies)/") }
        // Devices with a root read the signed list, which may be older than the present one.
        let signed = try await SignedOrigin(target).signedPlaces()
        var keep = NamedPlaces()
        keep.add(manifest)
        if let digest = manifest.storedDigest { keep.add(try OriginPlaces.copy(of: digest)) }
        for file in files
        where file.place.parent == nil || signed.contains(file.place)
            || (isCopy(file) && file.modified >= catalogsSince)
        {
            guard file.place.last.name.hasSuffix(".json"), file.size <= Catalog.maximumManifestSize,
                let found = try await target.contents(of: file.place, limit: Catalog.maximumManifestSize)
            else { continue }
            if isCopy(file) { keep.add(file.place) }
            do {
                try keep.add(found, in: manifest)
            } catch let error where !isCopy(file) {
                // A JSON file beside the catalog need not be one.
                Log.write(.info, "\(file.place) is no catalog: \(error)")
            }
        }
        let removable = files.filter { file in
            Self.isPrunable(file.place) && !keep.contains(file.place) && file.modified < youngSince
        }
        var abandoned = 0
        if !isDryRun {
            for file in removable {
                try Task.checkCancellation()
                try await target.remove(file.place)
            }
            abandoned = try await target.abandonUploads(before: youngSince)
        }
        return PruneReport(
            removed: removable, abandonedUploads: abandoned, keptCount: files.count - removable.count)
    }

    /// Whether a place is one that publishing makes; other files of the folder or bucket are never removed.
    private static func isPrunable(_ place: RelativePath) -> Bool {
        let folder = place.components[0].name
        switch folder {
        case OriginPlaces.models, OriginPlaces.classes: return place.components.count > 1
        case OriginPlaces.copies: return place.string.hasSuffix(".models.json")
        default: return false
        }
    }
}

/// The places that catalogs name.
private struct NamedPlaces {
    private var places: Set<RelativePath> = []
    /// The paths of addresses elsewhere, which may be this origin under another name.
    private var paths: Set<String> = []

    mutating func add(_ place: RelativePath) { places.insert(place) }

    mutating func add(_ manifest: OriginManifest) { add(manifest.catalog, manifest) }

    /// Adds what a catalog in either dialect names. The copy of a catalog is read as if it were in the catalog's place.
    mutating func add(_ found: StoredBytes, in manifest: OriginManifest) throws {
        let hint = Family("single")
        add(try Catalog(manifest: found.data, url: manifest.url, familyHint: hint), manifest)
    }

    private mutating func add(_ catalog: Catalog, _ manifest: OriginManifest) {
        for release in catalog.releases {
            places.formUnion(manifest.places(of: release))
            let indexes = [release.index].compactMap(\.self) + release.companionIndexes.values
            paths.formUnion((release.files + indexes).flatMap(\.locations).map(\.path))
            if let list = release.classes?.listAddress { paths.insert(list.path) }
        }
    }

    func contains(_ place: RelativePath) -> Bool {
        places.contains(place) || paths.contains { $0.hasSuffix("/\(place)") }
    }
}
