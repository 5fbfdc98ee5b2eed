import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// The `models.json` of an origin, as a document that keeps unknown fields.
struct OriginManifest {
    private(set) var document: JSONMembers
    /// The document as devices read it.
    private(set) var catalog: Catalog
    /// The address of the manifest, from which relative addresses start.
    let url: URL
    /// The entity tag of the bytes that were read, if the target has such tags.
    let tag: String?
    /// The digest of the bytes that were read, `nil` for a new manifest.
    let storedDigest: SHA256Digest?

    /// Whether the origin had no manifest.
    var isNew: Bool { storedDigest == nil }

    /// Reads an origin's manifest, or begins a new one.
    /// - Parameter found: the bytes, `nil` if there is no manifest.
    /// - Throws: ``PublishingError`` with `origin-unusable`; `CatalogError` for a manifest that is not well formed.
    init(_ found: StoredBytes?, url: URL, shown: String) throws {
        self.url = url
        tag = found?.tag
        storedDigest = found.map { SHA256Digest(hashing: $0.data) }
        guard let data = found?.data else {
            document = ["schemaVersion": .integer(1), "models": .array([])]
            catalog = Catalog(releases: [])
            return
        }
        catalog = try Catalog(manifest: data, url: url)
        guard case .object(let members) = try JSONValue(parsing: data), case .array? = members["models"] else {
            throw PublishingError(
                .originUnusable, "\(shown) describes a single model and cannot be added to",
                context: ErrorContext(file: shown, remedy: "Choose another folder."))
        }
        document = members
    }

    /// The place of a file in this origin, `nil` for an address elsewhere.
    func place(of location: URL) -> RelativePath? {
        let base = url.beside(".").absoluteString
        let text = location.absoluteString
        guard text.hasPrefix(base), !text.contains("?") else { return nil }
        return text.dropFirst(base.count).removingPercentEncoding.flatMap { RelativePath($0) }
    }

    /// The places of a release's files and chunk indexes in this origin.
    func places(of release: Release) -> Set<RelativePath> {
        let indexes = [release.index].compactMap(\.self) + release.companionIndexes.values
        return Set((release.files + indexes).flatMap(\.locations).compactMap(place))
    }

    /// The place of a release's list of classes; `nil` without one, or for one elsewhere.
    func place(ofClassesOf identity: ReleaseIdentity) -> RelativePath? {
        let labels = catalog.releases.first { $0.identity == identity }?.classes?.labels
        return labels?.locations.first.flatMap(place)
    }

    /// The serial number, 0 if the manifest has none.
    var serial: UInt64 { catalog.serial ?? 0 }

    /// The entry of a release.
    func entry(of identity: ReleaseIdentity) -> JSONMembers? {
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
        _ entry: JSONMembers, of identity: ReleaseIdentity, isCurrent: Bool?
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

    /// Changes the entries of some releases. `change` returns the new entry, or `nil` to remove it.
    /// - Returns: the releases whose entries were changed or removed.
    mutating func change(
        _ isChosen: (ReleaseIdentity) -> Bool, _ change: (JSONMembers) -> JSONMembers?
    ) throws -> [ReleaseIdentity] {
        var kept: [JSONValue] = []
        var left: [Release] = []
        var changed: [ReleaseIdentity] = []
        for (release, entry) in zip(catalog.releases, entries) {
            var next: JSONValue? = entry
            if isChosen(release.identity) {
                next = change(entry.members ?? [:]).map { .object($0) }
                if next != entry { changed.append(release.identity) }
            }
            guard let next else { continue }
            kept.append(next)
            left.append(release)
        }
        guard !changed.isEmpty else { return [] }
        document["models"] = .array(kept)
        catalog.releases = left
        catalog.current = catalog.current.filter { family, version in
            left.contains { $0.identity.family == family && $0.identity.version == version }
        }
        try refresh()
        return changed
    }

    /// Makes another version the current one of each family whose current version was withdrawn, if there is one.
    mutating func leaveYanked() throws {
        for family in catalog.families {
            let releases = catalog.releases.filter { $0.identity.family == family }
            let offered = releases.filter { $0.yanked == nil }
            guard let current = catalog.current[family], !offered.contains(where: { $0.identity.version == current }),
                let next = Catalog(releases: offered).preferredVersion(of: family)
            else { continue }
            catalog.current[family] = next
        }
        try refresh()
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
        document["current"] = .object(JSONMembers(members))
        document["currentVersion"] = families.count == 1 ? current.values.first.map { .string($0.name) } : nil
        catalog = try Catalog(manifest: data, url: url)
    }
}
