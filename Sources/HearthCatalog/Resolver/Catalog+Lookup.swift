import Foundation
import HearthBase

extension Release {
    /// The memory the release needs to run, in bytes: the publisher's number, else an estimate. The estimate adds a
    /// fifth of the files' size for the KV cache and compute buffers, and 256 MiB for the rest of the program.
    public var requiredMemory: UInt64 {
        requirements.memoryBytes ?? Self.requiredMemory(of: totalSize)
    }

    /// The publisher's own figure of the memory in bytes; `nil` for none, and for the estimate from the size that
    /// publishing writes.
    package var declaredMemory: UInt64? {
        requirements.memoryBytes.flatMap { $0 == Self.requiredMemory(of: totalSize) ? nil : $0 }
    }

    /// The memory that is compared with the device's before a fetch: the publisher's number; without one the estimate, unless
    /// the header of the weights tells more.
    package var comparedMemory: UInt64? {
        requirements.memoryBytes ?? (format == .gguf && archive == nil ? nil : requiredMemory)
    }

    /// The estimated memory of a release whose files have that size.
    static func requiredMemory(of size: UInt64) -> UInt64 { [size, size / 5, 256 << 20].saturatedSum }

    /// The size that orders variants: the weights with all shards, or their archive, without other companions.
    var modelSize: UInt64 {
        files.filter { $0.name == file.name || [.weights, .shard].contains($0.role) }.map(\.size.estimate).saturatedSum
    }
}

extension Catalog {
    /// The releases of a family: of one version, or of all.
    func releases(of family: Family, version: ReleaseVersion? = nil) -> [Release] {
        releases.filter { $0.identity.family == family && (version == nil || $0.identity.version == version) }
    }

    private func versions(of family: Family) -> [ReleaseVersion] { releases(of: family).map(\.identity.version) }

    /// The named version of a family, else the publisher's choice.
    /// - Throws: ``CatalogError`` with `unknown-family` or `unknown-version`, each listing the offered ones.
    package func version(_ named: ReleaseVersion?, of family: Family) throws -> ReleaseVersion {
        let versions = versions(of: family)
        guard !versions.isEmpty else { throw unknown(family) }
        if let version = named ?? preferredVersion(of: family), versions.contains(version) { return version }
        let found = (named ?? current[family])?.name
        throw CatalogError(
            .unknownVersion, "there is no version \((found ?? "").quoted) of \(family)",
            context: ErrorContext(
                model: family.name, expected: versions.listed, found: found, remedy: "On offer is \(versions.listed)."))
    }

    /// The releases of a version, in the named variant or in all variants; at least one.
    /// - Throws: ``CatalogError`` with `unknown-variant`, listing the offered ones.
    package func releases(of family: Family, _ version: ReleaseVersion, _ variant: Variant?) throws -> [Release] {
        let candidates = releases(of: family, version: version)
        guard let variant else { return candidates }
        let found = candidates.filter { $0.identity.variant == variant }
        guard !found.isEmpty else { throw unknown(variant, among: candidates) }
        return found
    }

    /// The catalog's only family, for a reference without one.
    /// - Throws: ``CatalogError`` with `family-needed`, listing the families.
    package func onlyFamily(url: URL) throws -> Family {
        let families = families
        if families.count == 1 { return families[0] }
        let names = families.map(\.name).joined(separator: ", ")
        let problem = families.isEmpty ? "offers no model" : "offers several models"
        throw CatalogError(
            .familyNeeded, "\(url.shown) \(problem)",
            context: ErrorContext(
                url: url.shown, expected: families.isEmpty ? nil : "one of \(names)",
                remedy: families.first.map {
                    "Name one after the address, such as \(url.shown)#\($0); there are \(names)."
                }))
    }

    /// The default version: the publisher's choice, else the newest; `nil` for an unknown family.
    package func preferredVersion(of family: Family) -> ReleaseVersion? {
        if let version = current[family] { return version }
        let versions = versions(of: family)
        let ordered = versions.compactMap { version in version.semantic.map { (version: version, semantic: $0) } }
        let finished = ordered.filter { $0.semantic.prerelease.isEmpty }
        let newest = (finished.isEmpty ? ordered : finished).max { $0.semantic < $1.semantic }
        return newest?.version ?? versions.last
    }

    private func unknown(_ wanted: Variant, among candidates: [Release]) -> CatalogError {
        let identity = candidates[0].identity
        let release = "\(identity.family)@\(identity.version)"
        let variants = candidates.compactMap(\.identity.variant).sorted().map(\.name)
        let others = releases(of: identity.family).filter { $0.identity.variant == wanted }.map(\.identity.version)
        var remedy =
            variants.isEmpty
            ? "It comes in one form, without a variant." : "On offer is \(variants.joined(separator: ", "))."
        if !others.isEmpty { remedy += " That variant exists of version \(others.listed)." }
        return CatalogError(
            .unknownVariant, "there is no variant \(wanted.name.quoted) of \(release)",
            context: ErrorContext(
                model: release, expected: variants.joined(separator: ", "), found: wanted.name, remedy: remedy))
    }

    private func unknown(_ family: Family) -> CatalogError {
        let near = nearNames(to: family.name)
        let remedy: String
        if !near.isEmpty {
            remedy = "Did you mean \(near.map(\.name).joined(separator: " or "))?"
        } else if families.isEmpty {
            remedy = "The catalog is empty."
        } else {
            let shown = families.prefix(10).map(\.name).joined(separator: ", ")
            remedy = "On offer is \(shown)\(families.count > 10 ? " and \(families.count - 10) more" : "")."
        }
        return CatalogError(
            .unknownFamily, "there is no model named \(family.name.quoted)",
            context: ErrorContext(
                model: family.name, expected: near.map(\.name).joined(separator: ", "), found: family.name,
                remedy: remedy))
    }
}
