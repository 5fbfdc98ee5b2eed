import Foundation
import HearthBase

/// Decides which release of a catalog a device gets. Pure: values in, a choice and its reasons out.
///
/// ```
/// named version ──> that version, whatever speaks against it (the pull may still refuse)
/// else: the publisher's current, else the newest       ─ eligible ──> it
///         │ not for this device
///         v
///       the next older version, and so on               ─ eligible ──> it, and why not the newer ones
///         │ none
///         v
///       the publisher's choice, with what speaks against it
/// ```
/// Nothing newer than the publisher's choice is ever taken by itself. A pre-release is, only where there is nothing else or
/// the publisher chose it. Among the variants of a version, the largest that fits the memory, else the smallest that can be
/// made to.
///
/// Bytes that are held back are no reason to go back to an older version: what is live under their name stays.
public struct Resolution: Sendable {
    public let catalog: Catalog
    public let device: DeviceProfile
    /// Releases that did not prove themselves on this device.
    public let heldBack: Set<ReleaseIdentity>
    /// Bytes of releases that did not, as in ``ReleaseState/heldBackContents``.
    public let heldBackContents: [HeldBack]
    /// Whether a release may need more memory than there is, because somebody insists.
    public let ignoresMemory: Bool

    /// A resolution over the given facts.
    public init(
        catalog: Catalog, device: DeviceProfile, heldBack: Set<ReleaseIdentity> = [],
        heldBackContents: [HeldBack] = [], ignoresMemory: Bool = false
    ) {
        self.catalog = catalog
        self.device = device
        self.heldBack = heldBack
        self.heldBackContents = heldBackContents
        self.ignoresMemory = ignoresMemory
    }

    /// The release a family's users get, or the one that was named.
    /// - Throws: ``CatalogError`` with `unknown-family`, `unknown-version` or `unknown-variant`, each listing what there is.
    public func choose(
        family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) throws -> ReleaseChoice {
        let selection = CatalogSelection(
            version: version, variant: variant, deviceMemory: device.memory, madeToFit: device.madeToFit)
        // Throws for what is not there at all, whatever is eligible.
        var preferred = try catalog.choose(family: family, selection: selection)
        guard version == nil else {
            preferred.objection = objection(to: preferred.release)
            return preferred
        }
        var passedOver: [PassedOver] = []
        for candidate in candidates(of: family, upTo: preferred.release.identity.version) {
            let offered = catalog.releases.filter {
                $0.identity.family == family && $0.identity.version == candidate
                    && (variant == nil || $0.identity.variant == variant)
            }
            guard !offered.isEmpty else { continue }
            let eligible = offered.filter { [nil, .bytesHeldBack].contains(objection(to: $0)) }
            if !eligible.isEmpty {
                var choice = fitting(eligible)
                // One that was asked for is no accident of what else there is.
                if variant != nil { choice = ReleaseChoice(release: choice.release, reason: .asked) }
                choice.objection = objection(to: choice.release)
                choice.passedOver = passedOver
                return choice
            }
            let best = fitting(offered).release
            if let objection = objection(to: best) {
                passedOver.append(PassedOver(identity: best.identity, objection: objection))
            }
        }
        preferred.objection = objection(to: preferred.release)
        preferred.passedOver = passedOver.filter { $0.identity != preferred.release.identity }
        return preferred
    }

    private func fitting(_ releases: [Release]) -> ReleaseChoice {
        Catalog.fitting(releases, memory: device.memory, madeToFit: device.madeToFit)
    }

    /// What speaks against a release here.
    public func objection(to release: Release) -> Ineligibility? {
        var device = device
        if ignoresMemory { device.memory = .max }
        return release.ineligibility(on: device, heldBack: heldBack, heldBackContents: heldBackContents)
    }

    /// The versions that may be taken without being named: the publisher's choice, then what is older, the newest first.
    private func candidates(of family: Family, upTo preferred: ReleaseVersion) -> [ReleaseVersion] {
        guard let limit = preferred.semantic else { return [preferred] }
        let others = Set(catalog.releases.lazy.filter { $0.identity.family == family }.map(\.identity.version))
            .filter { version in
                guard version != preferred, let semantic = version.semantic else { return false }
                return semantic.prerelease.isEmpty && semantic < limit
            }
        return [preferred] + others.sorted { $0.isNewer(than: $1) ?? false }
    }
}

/// A release that was not taken, and why.
public struct PassedOver: Sendable, Hashable {
    public let identity: ReleaseIdentity
    public let objection: Ineligibility
}
