import Foundation
import HearthBase

/// What is wanted of a family, and the device it is wanted for.
public struct CatalogSelection: Sendable, Hashable {
    /// `nil` for the publisher's choice.
    public var version: ReleaseVersion?
    /// `nil` for what fits the device.
    public var variant: Variant?
    /// The bytes of memory a model may take.
    public var deviceMemory: UInt64
    /// The releases that need more, and fit once they are prepared.
    public var madeToFit: Set<ReleaseIdentity>

    /// A selection of the given wishes.
    public init(
        version: ReleaseVersion? = nil, variant: Variant? = nil, deviceMemory: UInt64,
        madeToFit: Set<ReleaseIdentity> = []
    ) {
        self.version = version
        self.variant = variant
        self.deviceMemory = deviceMemory
        self.madeToFit = madeToFit
    }
}

/// A release that was chosen, and why that one.
public struct ReleaseChoice: Sendable, Hashable {
    /// Why this variant.
    public enum Reason: Sendable, Hashable {
        /// It was asked for.
        case asked
        /// There is no other.
        case only
        /// The largest of several that fit the device's memory.
        case largestThatFits(among: [Variant])
        /// None of several fits as it comes; the smallest that can be made to.
        case smallestMadeToFit(among: [Variant])
        /// None of several fits; the smallest needs this many bytes of memory.
        case smallestThoughNoneFits(among: [Variant], needed: UInt64)
    }

    public let release: Release
    public let reason: Reason
    /// What speaks against it on this device, where nothing better is on offer or it was named.
    public internal(set) var objection: Ineligibility?
    /// Newer releases that were passed over, the publisher's choice first.
    public internal(set) var passedOver: [PassedOver] = []

    /// A choice for a reason.
    init(release: Release, reason: Reason) {
        self.release = release
        self.reason = reason
    }
}

extension Release {
    /// The memory the release needs to run, in bytes: what the publisher says, else an estimate: the files' size, a fifth
    /// more for the KV cache and compute buffers, and 256 MiB for the rest of the program.
    public var requiredMemory: UInt64 {
        if let memory = requirements.memoryBytes { return memory }
        let size = totalSize
        return size + size / 5 + (256 << 20)
    }

    /// The bytes of the model itself, by which variants are ordered: its weights with every shard, or the archive they come in;
    /// a projector or a tokenizer beside them makes no variant a larger one.
    var modelSize: UInt64 {
        files.filter { $0.name == file.name || [.weights, .shard].contains($0.role) }.map(\.size.estimate).saturatedSum
    }
}

extension Catalog {
    /// The release of a family that a device should have.
    /// - Throws: ``CatalogError`` with `unknown-family`, `unknown-version` or `unknown-variant`, each listing what there is.
    public func select(family: Family, selection: CatalogSelection) throws -> Release {
        try choose(family: family, selection: selection).release
    }

    /// The release of a family that a device should have, and why.
    ///
    /// The version is the one asked for, else the publisher's `current`, else the newest by Semantic Versioning
    /// (pre-releases only if there is nothing else, opaque versions only if nothing is semantic: then the last listed). The
    /// variant is the one asked for, else the largest, all its shards counted, whose ``Release/requiredMemory`` fits, else
    /// the smallest that a ``ReleasePreparer`` can make fit, else the smallest.
    /// - Throws: ``CatalogError`` with `unknown-family`, `unknown-version` or `unknown-variant`, each listing what there is.
    public func choose(family: Family, selection: CatalogSelection) throws -> ReleaseChoice {
        let releases = releases.filter { $0.identity.family == family }
        guard !releases.isEmpty else { throw unknown(family) }
        let versions = releases.map(\.identity.version)
        guard let version = selection.version ?? preferredVersion(of: family), versions.contains(version) else {
            let found = selection.version?.name ?? current[family]?.name
            throw CatalogError(
                .unknownVersion, "there is no version \((found ?? "").quoted) of \(family)",
                context: ErrorContext(
                    model: family.name, expected: versions.listed, found: found,
                    remedy: "On offer is \(versions.listed)."))
        }
        let candidates = releases.filter { $0.identity.version == version }
        guard let wanted = selection.variant else {
            return Self.fitting(candidates, memory: selection.deviceMemory, madeToFit: selection.madeToFit)
        }
        if let release = candidates.first(where: { $0.identity.variant == wanted }) {
            return ReleaseChoice(release: release, reason: .asked)
        }
        throw unknown(wanted, among: candidates, elsewhere: releases)
    }

    /// The catalog's only family, for a reference that names none.
    /// - Throws: ``CatalogError`` with `family-needed`, listing the families.
    public func onlyFamily(url: URL) throws -> Family {
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

    /// The version a device should have if none is asked for, `nil` for a family that is not here.
    public func preferredVersion(of family: Family) -> ReleaseVersion? {
        if let version = current[family] { return version }
        let versions = releases.map(\.identity).filter { $0.family == family }.map(\.version)
        let ordered = versions.compactMap { version in version.semantic.map { (version: version, semantic: $0) } }
        let finished = ordered.filter { $0.semantic.prerelease.isEmpty }
        let newest = (finished.isEmpty ? ordered : finished).max { $0.semantic < $1.semantic }
        return newest?.version ?? versions.last
    }

    static func fitting(
        _ candidates: [Release], memory: UInt64, madeToFit: Set<ReleaseIdentity>
    ) -> ReleaseChoice {
        let bySize = candidates.sorted {
            ($0.modelSize, $0.identity.variant?.name ?? "") < ($1.modelSize, $1.identity.variant?.name ?? "")
        }
        let variants = bySize.compactMap(\.identity.variant)
        if bySize.count == 1 { return ReleaseChoice(release: bySize[0], reason: .only) }
        if let release = bySize.last(where: { $0.requiredMemory <= memory }) {
            return ReleaseChoice(release: release, reason: .largestThatFits(among: variants))
        }
        if let release = bySize.first(where: { madeToFit.contains($0.identity) }) {
            return ReleaseChoice(release: release, reason: .smallestMadeToFit(among: variants))
        }
        return ReleaseChoice(
            release: bySize[0], reason: .smallestThoughNoneFits(among: variants, needed: bySize[0].requiredMemory))
    }

    private func unknown(_ wanted: Variant, among candidates: [Release], elsewhere: [Release]) -> CatalogError {
        let identity = candidates[0].identity
        let release = "\(identity.family)@\(identity.version)"
        let variants = candidates.compactMap(\.identity.variant).sorted().map(\.name)
        let others = elsewhere.filter { $0.identity.variant == wanted }.map(\.identity.version)
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
