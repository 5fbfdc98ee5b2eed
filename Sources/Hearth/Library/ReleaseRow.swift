import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// A release in listings: installed, damaged or offered. Absent values are `null`.
package struct ReleaseRow: Codable, Sendable, Hashable {
    package enum Presence: String, Codable, Sendable, CaseIterable { case installed, damaged, available }

    package let family: String
    package let version: String
    @OrNull package var variant: String?
    package let state: Presence
    package let active: Bool
    package let verified: Bool
    @OrNull package var path: String?
    package let sizeBytes: UInt64
    /// The code why this device may not have an offered release; absent where none is offered.
    package private(set) var reason: OrNull<String>?
    /// The reason in a few words, to display.
    private var reasonText: String?
    /// Records to display: pinned, on probation, held back.
    package var records: [String] = []

    private enum CodingKeys: CodingKey {
        case family, version, variant, state, active, verified, path, sizeBytes, reason
    }

    /// The state to display.
    package var stateText: String {
        if state == .available, let reasonText { return reasonText }
        var words = [active ? "active" : state.rawValue]
        if active && state == .damaged { words.append("damaged") }
        if !verified && state != .damaged { words.append("unverified") }
        return (words + records).joined(separator: ", ")
    }

    package init(_ release: InstalledRelease, _ state: ReleaseState? = nil) {
        self.init(
            release.identity, state: .installed, active: release.isActive, verified: release.receipt.isVerified,
            path: release.folder, sizeBytes: release.receipt.totalSize)
        records = state?.records(of: release.identity) ?? []
    }

    package init(_ release: DamagedRelease) {
        self.init(
            release.identity, state: .damaged, active: release.isActive, verified: false, path: release.folder,
            sizeBytes: release.receipt?.totalSize ?? 0)
    }

    /// An offered release that is not on this device.
    package init(offered release: Release) {
        self.init(
            release.identity, state: .available, active: false, verified: release.files.allSatisfy(\.isVerifiable),
            path: nil, sizeBytes: release.totalSize)
    }

    /// An offered release; `installed` is the same release on this device.
    package init(_ offer: Offer, installed: InstalledRelease?) {
        self.init(
            offer.release.identity, state: installed == nil ? .available : .installed,
            active: installed?.isActive ?? false,
            verified: installed?.receipt.isVerified ?? offer.release.files.allSatisfy(\.isVerifiable),
            path: installed?.folder, sizeBytes: offer.release.totalSize)
        reason = OrNull(wrappedValue: offer.objection?.code)
        reasonText = offer.objection?.shortText
    }

    private init(
        _ identity: ReleaseIdentity, state: Presence, active: Bool, verified: Bool, path: Path?, sizeBytes: UInt64
    ) {
        family = identity.family.name
        version = identity.versionName
        _variant = OrNull(wrappedValue: identity.variant?.name)
        self.state = state
        self.active = active
        self.verified = verified
        _path = OrNull(wrappedValue: path?.string)
        self.sizeBytes = sizeBytes
    }
}

extension ReleaseState {
    /// Records of a release besides its being active, in one or two words each.
    fileprivate func records(of release: ReleaseIdentity) -> [String] {
        var words: [String] = []
        if pinned == release { words.append("pinned") }
        if probation?.release == release { words.append("on probation") }
        if previous == release { words.append("previous") }
        if isHeldBack(release) { words.append("held back") }
        return words
    }
}
