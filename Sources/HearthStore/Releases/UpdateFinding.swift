import HearthBase
import HearthCatalog

/// The result of a check for updates of one family.
public struct UpdateFinding: Sendable, Hashable {
    public let family: Family
    /// The version in use, `nil` if none is.
    public let active: ReleaseVersion?
    /// The newer release, or why the family stays as it is.
    package let reason: Resolver.Update
    /// The changes that pulling the newer release would make.
    package var plan: UpdatePlan?
    /// The freshness of the source's list, `nil` if none was read.
    package var freshness: Freshness?
    /// The signatures of the source's list, if they end soon.
    package var expiring: ExpiringSignatures?

    package init(family: Family, active: ReleaseVersion?, reason: Resolver.Update) {
        self.family = family
        self.active = active
        self.reason = reason
    }

    /// The newer release, `nil` if there is none.
    public var offer: Offer? {
        if case .newVersion(let offer) = reason { offer } else { nil }
    }
}
