import Foundation
import HearthBase

/// Decides which release of a catalog a device gets. Pure.
///
/// ```
/// named version ──> that version, despite any objection (the pull may still refuse)
/// else: the publisher's current, else the newest       ─ eligible ──> it
///         │ not eligible
///         v
///       the next older version, and so on               ─ eligible ──> it, and why not the newer ones
///         │ none left
///         v
///       the publisher's choice, with the objection
/// ```
/// A version newer than the publisher's choice is used only if it is named. An unnamed pre-release is used only if the
/// publisher chose it or the list has no other version. The variant is the largest whose ``Release/requiredMemory``
/// fits, else the smallest that fits after preparation, else the smallest; of a hub's repository the one that
/// ``QuantizationRule`` chooses.
package struct Resolver: Sendable {
    package var catalog: Catalog
    package var device: DeviceProfile
    /// The releases that are held back on this device.
    package var heldBack: Set<ReleaseIdentity>
    /// Whether a release may need more memory than the device has.
    package var ignoresMemory: Bool
    /// Chooses among the quantizations of a hub's repository; `nil` takes the largest variant that fits.
    package var quantizations: QuantizationRule?

    /// Memberwise.
    package init(
        catalog: Catalog, device: DeviceProfile, heldBack: Set<ReleaseIdentity> = [], ignoresMemory: Bool = false,
        quantizations: QuantizationRule? = nil
    ) {
        self.catalog = catalog
        self.device = device
        self.heldBack = heldBack
        self.ignoresMemory = ignoresMemory
        self.quantizations = quantizations
    }

    /// The release of a family for this device: the named version and variant, or the best.
    /// - Throws: ``CatalogError`` with `unknown-family`, `unknown-version` or `unknown-variant`, each listing the
    ///   offered ones.
    package func offer(
        of family: Family, version: ReleaseVersion? = nil, variant: Variant? = nil
    ) throws -> Offer {
        let preferred = try catalog.version(version, of: family)
        let candidates = try catalog.releases(of: family, preferred, variant)
        var offer = best(of: candidates, isAsked: variant != nil)
        guard version == nil else { return offer.named(true) }
        var passedOver: [Offer.PassedOver] = []
        for version in versions(of: family, upTo: preferred) {
            let offered = catalog.releases(of: family, version: version)
                .filter { variant == nil || $0.identity.variant == variant }
            let eligible = offered.filter { objection(to: $0) == nil }
            guard eligible.isEmpty else {
                offer = best(of: eligible, isAsked: variant != nil)
                offer.passedOver = passedOver
                return offer
            }
            guard !offered.isEmpty else { continue }
            let passed = best(of: offered, isAsked: false)
            if let objection = passed.objection {
                passedOver.append(Offer.PassedOver(identity: passed.release.identity, objection: objection))
            }
        }
        offer.passedOver = passedOver.filter { $0.identity != offer.release.identity }
        return offer
    }

    /// Why this device cannot use a release, `nil` if it can.
    package func objection(to release: Release) -> Ineligibility? {
        var device = device
        if ignoresMemory { device.memory = .max }
        return release.ineligibility(on: device, heldBack: heldBack)
    }

    /// The versions that may be used unnamed: the publisher's choice, then older ones, the newest first.
    private func versions(of family: Family, upTo preferred: ReleaseVersion) -> [ReleaseVersion] {
        guard let limit = preferred.semantic else { return [preferred] }
        let others = Set(catalog.releases(of: family).map(\.identity.version)).filter { version in
            guard version != preferred, let semantic = version.semantic else { return false }
            return semantic.prerelease.isEmpty && semantic < limit
        }
        return [preferred] + others.sorted { $0.isNewer(than: $1) ?? false }
    }

    /// The best of several releases of the same version; there must be at least one.
    private func best(of releases: [Release], isAsked: Bool) -> Offer {
        var bySize = releases.sorted {
            ($0.modelSize, $0.identity.variant?.name ?? "") < ($1.modelSize, $1.identity.variant?.name ?? "")
        }
        if let quantizations { bySize = quantizations.acceptable(bySize) }
        let variants = bySize.compactMap(\.identity.variant)
        var offer: Offer
        if bySize.count == 1 {
            offer = Offer(release: bySize[0], reason: .only)
        } else if let chosen = quantizations?.offer(among: bySize, variants) {
            offer = chosen
        } else if let release = bySize.last(where: { $0.requiredMemory <= device.memory }) {
            offer = Offer(release: release, reason: .largestThatFits(among: variants))
        } else if let release = bySize.first(where: { device.fitsAfterPreparation.contains($0.identity) }) {
            offer = Offer(release: release, reason: .smallestAfterPreparation(among: variants))
        } else {
            let needed = bySize[0].requiredMemory
            offer = Offer(release: bySize[0], reason: .smallestThoughNoneFits(among: variants, needed: needed))
        }
        if isAsked { offer = Offer(release: offer.release, reason: .asked) }
        offer.objection = objection(to: offer.release)
        return offer
    }

    // MARK: - Updates

    /// The decision on updating a family: the new release, or the reason for none.
    package enum Update: Sendable, Hashable {
        case newVersion(Offer)
        case noUpdate(NoUpdate)

        /// The release in use is the publisher's choice.
        package static var upToDate: Self { .noUpdate(.upToDate) }
    }

    /// Decides on the update of one family. The first rule that applies wins:
    ///
    /// 1. a pinned family stays;
    /// 2. a family that the catalog does not list stays, and so does every family if the catalog has expired;
    /// 3. the offered release is used if it is newer, or merely different if versions have no order
    ///    (a catalog that is not ordered, or names that cannot be compared) or the release in use was withdrawn;
    /// 4. otherwise the family stays. The reason is the objection to the first newer release passed over, if any.
    /// - Parameters:
    ///   - inUse: the active or bundled release.
    package func update(
        of family: Family, inUse: ReleaseIdentity?, pinned: ReleaseIdentity? = nil,
        at now: Date
    ) throws -> Update {
        if let pinned { return .noUpdate(.pinned(pinned)) }
        guard let preferred = catalog.preferredVersion(of: family) else { return .noUpdate(.notOffered) }
        if let expires = catalog.expires, expires < now {
            return .noUpdate(.catalogStale(since: expires))
        }
        // Keep the variant in use if the publisher's version has it.
        let hasVariant = catalog.releases(of: family, version: preferred)
            .contains { $0.identity.variant == inUse?.variant }
        var offer = try offer(of: family, variant: hasVariant ? inUse?.variant : nil)
        let identity = offer.release.identity
        let isInUse = identity.version == inUse?.version
        if let objection = offer.objection, !isInUse { return .noUpdate(.notEligible(identity, objection)) }
        guard let inUse else { return .newVersion(offer) }
        if isWanted(identity.version, over: inUse.version) {
            offer.isUpdate = true
            return .newVersion(offer)
        }
        if let why = withdrawal(of: inUse) {
            // Without another release the device keeps the one it has.
            guard identity != inUse.published, offer.objection == nil else {
                return .noUpdate(.notEligible(inUse, .yanked(why)))
            }
            offer.isUpdate = true
            offer.replacesYanked = true
            return .newVersion(offer)
        }
        // An objection to a newer release is a better reason than "up to date".
        if let newer = offer.passedOver.first(where: { isWanted($0.identity.version, over: inUse.version) }) {
            return .noUpdate(.notEligible(newer.identity, newer.objection))
        }
        return .noUpdate(isInUse || preferred == inUse.version ? .upToDate : .offeredIsOlder(preferred))
    }

    /// The publisher's reason for withdrawing the release in use, `nil` if it is offered or not listed.
    private func withdrawal(of inUse: ReleaseIdentity) -> String? {
        catalog.releases.first { $0.identity == inUse.published }?.yanked
    }

    private func isWanted(_ version: ReleaseVersion, over other: ReleaseVersion) -> Bool {
        guard version != other else { return false }
        if !catalog.isOrdered { return true }
        return version.isNewer(than: other) ?? true
    }
}
