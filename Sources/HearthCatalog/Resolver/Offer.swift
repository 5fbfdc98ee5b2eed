import Foundation
import HearthBase

/// A release that a source offers this device, with the reason for the choice and the list that names it.
public struct Offer: Sendable, Hashable {
    /// Why this variant was chosen.
    package enum Reason: Sendable, Hashable {
        /// The caller named the variant.
        case asked
        /// The version has no other variant.
        case only
        /// The largest of several variants that fit the device's memory.
        case largestThatFits(among: [Variant])
        /// The quantization that suits the device's memory and speed.
        case suited(among: [Variant])
        /// Not the wanted quantization, because the repository has only others.
        case nearest(to: QuantizationLabel)
        /// A quantization of less than four bits: nothing finer fits, and a large model bears it.
        case coarse(among: [Variant])
        /// The smallest variant that fits after preparation; none fits without.
        case smallestAfterPreparation(among: [Variant])
        /// The smallest of several variants, none of which fits; it needs this many bytes of memory.
        case smallestThoughNoneFits(among: [Variant], needed: UInt64)
    }

    /// A newer release that this device cannot use, and why.
    package struct PassedOver: Sendable, Hashable {
        package let identity: ReleaseIdentity
        package let objection: Ineligibility
    }

    public package(set) var release: Release
    package var reason: Reason
    /// Why this device cannot use the release, `nil` if it can. A pull refuses it unless the user named the version.
    public package(set) var objection: Ineligibility?
    /// Newer releases that this device cannot use, the publisher's choice first.
    package var passedOver: [PassedOver] = []
    /// The origin that lists the release, including a hub's page or a bundled folder; `nil` for a local file.
    public package(set) var origin: Origin?
    /// How recent the list is; `nil` for a local file.
    package var freshness: Freshness?
    /// When the first signature of the list expires; `nil` for an unsigned list.
    package var signedUntil: Date?
    /// The reference that finds the release again; `nil` if the list's address and the release's name suffice.
    public package(set) var reference: ModelReference?
    /// Whether the offer replaces the release in use.
    public package(set) var isUpdate = false
    /// Whether the user named the version, and so overrides an objection.
    public package(set) var isNamed = false
    /// Whether a held-back release is tried again, because the user named it just now.
    package var retryHeldBack = false
    /// The message that a pull tries a held-back release again, with the release's name on this device.
    public package(set) var heldBackNote: String?
    /// Whether the list's versions are ordered. Those of a hub's repository or a single-model list are not.
    package var isOrdered = true
    /// Whether the origin is unambiguous: the reference is an address, or no other origin lists the family.
    package var isOnlyOrigin = false

    /// An offer without a list.
    package init(release: Release, reason: Reason) {
        self.release = release
        self.reason = reason
    }

    /// The address of the list; `nil` for a local file.
    public var location: URL? { origin?.manifestURL }

    /// Whether the offer replaces a release that its publisher withdrew.
    package var replacesYanked = false

    /// Whether the release may replace a newer one.
    public var acceptsOlder: Bool { isNamed || !isOrdered || replacesYanked }

    /// The offer with its list.
    package func from(_ listing: CatalogListing) -> Self {
        var offer = self
        offer.origin = listing.origin
        offer.freshness = listing.freshness
        offer.signedUntil = listing.signedUntil
        offer.isOrdered = listing.catalog.isOrdered
        return offer
    }

    /// The offer, marked as named by the user or not.
    package func named(_ isNamed: Bool) -> Self {
        var offer = self
        offer.isNamed = isNamed
        offer.retryHeldBack = isNamed
        return offer
    }
}
