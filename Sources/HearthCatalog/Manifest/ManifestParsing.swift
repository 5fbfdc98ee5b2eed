import Foundation
import HearthBase

extension Catalog {
    /// The most bytes of a manifest.
    package static let maximumManifestSize = 4 << 20
    /// The newest manifest schema that this version reads.
    package static let schemaVersion: UInt64 = 1

    /// Parses a manifest in either dialect: a list of `models` (Hearth's own is a superset of it), or one model with
    /// `version` and `url`.
    ///
    /// Unknown fields are ignored. The first malformed known field is an error.
    /// - Parameters:
    ///   - manifest: the bytes as received, at most ``maximumManifestSize``.
    ///   - url: the address of the manifest; addresses in it may be relative to this one.
    ///   - familyHint: the family of entries that name none, usually the origin's configured name.
    /// - Throws: ``CatalogError`` with `manifest-invalid` (the context's `field` names the field),
    ///   `manifest-too-large`, `schema-too-new` or `not-a-manifest`.
    package init(manifest: Data, url: URL, familyHint: Family? = nil) throws {
        let document = try Self.document(manifest, url: url)
        let schema = try document.integer("schemaVersion", in: 1...ManifestReader.largestInteger) ?? 1
        guard schema <= Self.schemaVersion else {
            throw CatalogError(
                .schemaTooNew, "\(url.shown) is written in schema \(schema), which this version cannot read",
                context: ErrorContext(
                    url: url.shown, field: "schemaVersion", expected: "at most \(Self.schemaVersion)",
                    found: "\(schema)", remedy: "Update the program."))
        }
        if document.value("models") != nil {
            try self.init(models: document, familyHint: familyHint)
        } else if document.value("url") != nil || document.value("version") != nil {
            try self.init(singleModel: document, familyHint: familyHint)
        } else {
            throw document.failure(
                "models", "it is missing, and so are version and url", expected: "a list of models", found: "nothing")
        }
    }

    private static func document(_ manifest: Data, url: URL) throws(CatalogError) -> ManifestReader {
        guard manifest.count <= maximumManifestSize else { throw .manifestTooLarge(url: url) }
        do {
            guard case .object(let members) = try JSONValue(parsing: manifest) else {
                throw CatalogError(
                    .notAManifest, "\(url.shown) is no manifest: it holds JSON, but no object",
                    context: ErrorContext(url: url.shown, remedy: "Check the address; it usually ends in models.json."))
            }
            return ManifestReader(members: members, place: "", entry: nil, manifest: url)
        } catch let error as JSONSyntaxError {
            if let problem = notAManifest(manifest, url: url) { throw problem }
            throw CatalogError(
                .manifestInvalid,
                "\(url.shown) is not proper JSON: \(error)",
                context: ErrorContext(
                    url: url.shown, found: error.problem, remedy: "The publisher must correct it."))
        } catch let error as CatalogError {
            throw error
        } catch {
            throw CatalogError(.manifestInvalid, "\(url.shown) cannot be read", underlying: error)
        }
    }

    /// Recognizes common mistakes: a web page at the address, the model file itself, a compressed manifest.
    private static func notAManifest(_ bytes: Data, url: URL) -> CatalogError? {
        guard let kind = FileKind(beginning: bytes), kind != .json else {
            let isBlank = bytes.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            return isBlank ? notAManifest(url, .empty) : nil
        }
        return notAManifest(url, kind)
    }

    private static func notAManifest(_ url: URL, _ kind: FileKind) -> CatalogError {
        let remedy: String? =
            switch kind {
            case .gzip, .zstd, .xz, .bzip2, .zip:
                "The publisher must put the unpacked models.json there: devices do not unpack manifests."
            case .lfsPointer: kind.remedy
            default: nil
            }
        return CatalogError(
            .notAManifest, "\(url.shown) is no manifest: it is \(kind.name)",
            context: ErrorContext(
                url: url.shown, expected: "a models.json", found: kind.name,
                remedy: remedy ?? "Check the address; it usually ends in models.json."))
    }

    private init(models document: ManifestReader, familyHint: Family?) throws(CatalogError) {
        self.init(releases: [])
        var identities: [ReleaseIdentity: String] = [:]
        var ids: [String: String] = [:]
        for entry in try document.objects("models") ?? [] {
            let release = try Release(entry: entry, familyHint: familyHint)
            var named = entry
            named.entry = release.id
            if let first = ids.updateValue(entry.place, forKey: release.id) {
                throw named.failure("id", "\(first) has the same", expected: "an id of its own", found: release.id)
            }
            if let first = identities.updateValue(entry.place, forKey: release.identity) {
                throw named.failure(
                    "version", "\(release.identity) is described twice; the other is \(first)",
                    expected: "one entry for each version and variant", found: "\(release.identity)")
            }
            releases.append(release)
        }
        serial = try document.integer("serial")
        issued = try document.moment("issued")
        expires = try document.moment("expires")
        current = try Self.current(document, of: releases)
        hubModels = try Self.hubModels(document)
    }

    /// The versions from `current`, and from `currentVersion` for families that `current` does not mention.
    private static func current(
        _ document: ManifestReader, of releases: [Release]
    ) throws(CatalogError) -> [Family: ReleaseVersion] {
        let versions = Dictionary(grouping: releases.map(\.identity), by: \.family).mapValues { $0.map(\.version) }
        var current: [Family: ReleaseVersion] = [:]
        if let choices = try document.object("current") {
            for key in choices.members.keys.sorted() {
                guard let family = Family(key), let offered = versions[family] else {
                    throw choices.failure(
                        key, "no entry of models is of that family", expected: "a family of this catalog", found: key)
                }
                guard let version = try choices.parsed(key, "a version", { ReleaseVersion($0) }) else { continue }
                guard offered.contains(version) else {
                    throw choices.malformed(key, expected: offered.listed, found: version.name)
                }
                current[family] = version
            }
        }
        if let version = try document.parsed("currentVersion", "a version", { ReleaseVersion($0) }) {
            let having = versions.filter { $0.value.contains(version) }.keys
            guard !having.isEmpty else {
                let offered = releases.map(\.identity.version)
                throw document.malformed("currentVersion", expected: offered.listed, found: version.name)
            }
            for family in having where current[family] == nil { current[family] = version }
        }
        return current
    }
}

extension [ReleaseVersion] {
    /// The versions for a message: newest first, without duplicates.
    package var listed: String {
        let names = Set(self).sorted { $0.isNewer(than: $1) ?? ($0.name > $1.name) }.map(\.name)
        if names.isEmpty { return "no version, as there are no models" }
        return names.count == 1 ? names[0] : "one of " + names.joined(separator: ", ")
    }
}

extension HearthError where Domain == Release {
    static func manifestTooLarge(url: URL) -> Self {
        let limit = "at most \(Catalog.maximumManifestSize >> 20) MiB"
        return Self(
            .manifestTooLarge, "\(url.shown) is larger than a manifest may be",
            context: ErrorContext(
                url: url.shown, expected: limit, remedy: "Check the address; it usually ends in models.json."))
    }
}
