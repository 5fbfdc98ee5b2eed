import Hearth
import HearthBase
import HearthRouting

struct CloudBody: Codable, Sendable, Hashable {
    var model: String
    var kind: String?
    /// What may leave the device with a question.
    var shares: String
    /// Whether the user's own key pays.
    var hasOwnKey: Bool
}

struct CreditsBody: Codable, Sendable, Hashable {
    var left: Int
    var of: Int

    /// The credits of rights; `nil` where they are not counted.
    init?(_ rights: PremiumManager.Rights) {
        guard let left = rights.credits, let of = rights.entitlement.monthlyCredits else { return nil }
        (self.left, self.of) = (left, of)
    }
}

/// The engine that answers now, and why.
struct RouteBody: Codable, Sendable, Hashable {
    /// The word of the badge.
    var badge: String
    var source: String
    var reason: String
    var reasonText: String
    var forceLocal: Bool
    var cloud: CloudBody?
    /// Why the cloud of the settings cannot be used.
    var problem: String?
    var tier: String
    var canUseCloud: Bool
    var credits: CreditsBody?

    init(
        _ decision: RouteDecision, forceLocal: Bool, cloud: ServedCloud, kind: String?, shares: String?
    ) {
        source = decision.source.rawValue
        badge = decision.source == .cloud ? "Cloud" : "Local"
        reason = decision.reasonCode
        reasonText = decision.reasonText
        self.forceLocal = forceLocal
        self.cloud = cloud.model.map {
            CloudBody(
                model: $0.name, kind: kind, shares: shares ?? CloudShares.all.text, hasOwnKey: $0.hasOwnKey)
        }
        problem = cloud.problem
        let rights = cloud.premium.rights
        tier = rights.entitlement.tier.name
        canUseCloud = rights.entitlement.canUseCloudAI
        credits = CreditsBody(rights)
    }
}

struct RouteOrder: Codable, Sendable { var forceLocal: Bool }
