/// A level of the user's plan; apps may add their own.
public struct Tier: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name, such as `starter`.
    public let name: String
    /// The order of the tiers: a higher rank includes everything of a lower one.
    public let rank: Int

    /// A tier of an app's own. The ranks of the usual ones are 0, 100 and 200.
    public init(_ name: String, rank: Int) {
        self.name = name
        self.rank = rank
    }

    /// Local models only.
    public static let free = Tier("free", rank: 0)
    /// The first tier with the cloud.
    public static let starter = Tier("starter", rank: 100)
    public static let pro = Tier("pro", rank: 200)

    /// The usual tiers, the lowest first.
    public static let all = [free, starter, pro]

    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    public var description: String { name }
}

/// The user's rights: a tier, and the messages to the cloud that it includes.
public struct Entitlement: Sendable, Hashable {
    public var tier: Tier
    /// The messages to the cloud in each month (UTC); `nil` if they are not counted.
    public var monthlyCredits: Int?

    /// A tier with its credits; not counted unless given.
    public init(_ tier: Tier, monthlyCredits: Int? = nil) {
        self.tier = tier
        self.monthlyCredits = monthlyCredits.map { max(0, $0) }
    }

    /// Whether the tier includes the cloud.
    public var canUseCloudAI: Bool { tier >= .starter }

    /// The rights of a user with a key of their own: the provider bills them, so nothing is counted.
    public static let ownKey = Entitlement(.pro)
}

extension Entitlement {
    /// The rights in settings, which do not change while the program runs.
    /// - Parameters:
    ///   - tier: the name of a usual tier; `nil` for ``Tier/pro`` with the user's own key, else ``Tier/free``.
    ///   - credits: the messages in each month; `nil` if they are not counted.
    ///   - hasOwnKey: requests carry the user's own key and do not pass through a relay.
    package init(tier: String?, credits: Int?, hasOwnKey: Bool) {
        let known = tier.flatMap { name in Tier.all.first { $0.name == name } }
        self.init(known ?? (hasOwnKey ? .pro : .free), monthlyCredits: credits)
    }
}
