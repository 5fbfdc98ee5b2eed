import Foundation
import HearthBase
import HearthCatalog

/// The `models.json` of an origin, as a document that keeps unknown fields.
struct OriginManifest {
    private(set) var document: [String: JSONValue]
    /// The document as devices read it.
    private(set) var catalog: Catalog
    private let path: Path

    /// Reads an origin's manifest, or begins a new one.
    /// - Throws: ``PublishingError`` with `origin-unusable`; `CatalogError` for a manifest that is not well formed.
    init(path: Path, fileSystem: any FileSystem) throws {
        self.path = path
        guard try fileSystem.status(at: path) != nil else {
            document = ["schemaVersion": .integer(1), "models": .array([])]
            catalog = Catalog(releases: [])
            return
        }
        let data = try fileSystem.contents(ofFile: path, limit: Catalog.maximumManifestSize)
        catalog = try Catalog(manifest: data, url: path.url)
        guard case .object(let members) = try JSONValue(parsing: data), case .array? = members["models"] else {
            throw PublishingError(
                .originUnusable, "\(path) describes a single model and cannot be added to",
                context: ErrorContext(file: path.string, remedy: "Choose another folder."))
        }
        document = members
    }

    /// The serial number, 0 if the manifest has none.
    var serial: UInt64 { catalog.serial ?? 0 }

    /// The entry of a release.
    func entry(of identity: ReleaseIdentity) -> [String: JSONValue]? {
        guard let index = index(of: identity), case .object(let members) = entries[index] else { return nil }
        return members
    }

    private var entries: [JSONValue] {
        if case .array(let entries)? = document["models"] { entries } else { [] }
    }

    /// The index of a release's entry: the catalog's releases have the order of the document's entries.
    private func index(of identity: ReleaseIdentity) -> Int? {
        catalog.releases.firstIndex { $0.identity == identity }
    }

    /// Adds or replaces a release's entry, and makes its version the current one as `isCurrent` says.
    mutating func put(
        _ entry: [String: JSONValue], of identity: ReleaseIdentity, isCurrent: Bool?
    ) throws {
        var entries = entries
        if let index = index(of: identity) {
            entries[index] = .object(entry)
        } else {
            entries.append(.object(entry))
        }
        document["models"] = .array(entries)
        let previous = catalog.current[identity.family] ?? catalog.preferredVersion(of: identity.family)
        if Self.becomesCurrent(identity.version, after: previous, isCurrent) {
            catalog.current[identity.family] = identity.version
        } else if let previous {
            catalog.current[identity.family] = previous
        }
        try refresh()
    }

    /// Makes a published version the current one; `false` if it was already.
    mutating func makeCurrent(_ identity: ReleaseIdentity) throws -> Bool {
        guard catalog.current[identity.family] != identity.version else { return false }
        catalog.current[identity.family] = identity.version
        try refresh()
        return true
    }

    /// Whether a version becomes the current one: as the publisher says, or else if it is newer.
    static func becomesCurrent(
        _ version: ReleaseVersion, after previous: ReleaseVersion?, _ isCurrent: Bool?
    ) -> Bool {
        guard let previous else { return true }
        if let isCurrent { return isCurrent }
        let isPrerelease = version.semantic?.prerelease.isEmpty == false
        let wasPrerelease = previous.semantic?.prerelease.isEmpty == false
        return version.isNewer(than: previous) == true && (!isPrerelease || wasPrerelease)
    }

    /// Raises the serial number and sets the date; the time between issue and expiry stays the same.
    mutating func stamp(_ now: Date) throws {
        let issued = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        if let expires = catalog.expires, let before = catalog.issued, expires > before {
            document["expires"] = .string((issued + expires.timeIntervalSince(before)).timestamp)
        }
        document["issued"] = .string(issued.timestamp)
        document["serial"] = .integer(serial + 1)
        document["schemaVersion"] = .integer(1)
        try refresh()
    }

    /// The bytes to write.
    var data: Data { JSONValue.object(document).data }

    /// Writes `current`, then parses the document as a device would: an unreadable manifest is never published.
    private mutating func refresh() throws {
        var current = catalog.current
        // A manifest of another tool may lack `current`.
        let families = Set(catalog.families).union(current.keys)
        for family in families where current[family] == nil { current[family] = catalog.preferredVersion(of: family) }
        let members = current.map { ($0.key.name, JSONValue.string($0.value.name)) }
        document["current"] = .object(Dictionary(members) { first, _ in first })
        document["currentVersion"] = families.count == 1 ? current.values.first.map { .string($0.name) } : nil
        catalog = try Catalog(manifest: data, url: path.url)
    }
}
