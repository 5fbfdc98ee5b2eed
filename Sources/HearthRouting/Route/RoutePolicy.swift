/// The settings and rights that the route depends on.
package struct RoutePolicy: Sendable, Hashable {
    /// The user's setting that local models answer everything.
    package var forceLocal: Bool
    /// The address of the cloud without its query; `nil` if no cloud is set up.
    package var endpoint: String?
    /// Whether the endpoint is on this machine, so that the network does not matter.
    package var isThisMachine: Bool
    /// The name of the user's tier.
    package var tier: String
    /// Whether the tier includes the cloud.
    package var canUseCloudAI: Bool
    /// The credits left this month; `nil` if they are not counted.
    package var credits: Int?

    /// A policy of the given facts; by default, of a device without a cloud.
    package init(
        forceLocal: Bool = false, endpoint: String? = nil, isThisMachine: Bool = false, tier: String = "free",
        canUseCloudAI: Bool = false, credits: Int? = nil
    ) {
        self.forceLocal = forceLocal
        self.endpoint = endpoint
        self.isThisMachine = isThisMachine
        self.tier = tier
        self.canUseCloudAI = canUseCloudAI
        self.credits = credits
    }

    /// Whether the settings and the tier include the cloud.
    var includesCloud: Bool { !forceLocal && endpoint != nil && canUseCloudAI }
    /// Whether the settings and rights allow the cloud; the network is another question.
    var allowsCloud: Bool { includesCloud && credits.map { $0 > 0 } ?? true }
}

/// The times and limits of the route.
package struct RouteSettings: Sendable, Hashable {
    /// The time for which a first connection has to be stable before the cloud is used.
    package var firstWindow: Duration = .seconds(2)
    /// The same for a connection that returns.
    package var reconnectWindow: Duration = .seconds(30)
    /// The starts of the health checks after the first one is due; later ones follow in ``healthInterval``.
    package var healthSchedule: [Duration] = [.zero, .seconds(5), .seconds(15)]
    package var healthInterval: Duration = .seconds(60)
    /// The age up to which the last answer of the cloud makes another check needless.
    package var healthAge: Duration = .seconds(60)
    /// The time from a confirmed switch to the cloud to the eviction of local models.
    package var evictionDelay: Duration = .seconds(30)
    /// The time without requests after a refused key.
    package var refusalPause: Duration = .seconds(60)

    /// The usual times.
    package init() {}
}
