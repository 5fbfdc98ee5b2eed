/// The settings and rights that the route depends on; by default, those of a device without a cloud.
package struct RoutePolicy: Sendable, Hashable {
    /// The user's setting that local models answer everything.
    package var forceLocal = false
    /// The address of the cloud without its query; `nil` if no cloud is set up.
    package var endpoint: String?
    /// Whether the endpoint is on this machine, so that the network does not matter.
    package var isThisMachine = false
    /// The name of the user's tier.
    package var tier = "free"
    /// Whether the tier includes the cloud.
    package var canUseCloudAI = false
    /// The credits left this month; `nil` if they are not counted.
    package var credits: Int?

    /// A policy that allows a cloud at an unknown address.
    package static func anyCloud(forceLocal: Bool) -> RoutePolicy {
        RoutePolicy(forceLocal: forceLocal, endpoint: "", tier: "", canUseCloudAI: true)
    }

    /// Whether the settings and the tier include the cloud.
    var includesCloud: Bool { !forceLocal && endpoint != nil && canUseCloudAI }
    /// Whether the settings and rights allow the cloud; the network is another question.
    var allowsCloud: Bool { includesCloud && credits.map { $0 > 0 } ?? true }
}

/// The times and limits of the route.
extension Route {
    /// The time for which a first connection has to be stable before the cloud is used.
    static let firstWindow: Duration = .seconds(2)
    /// The same for a connection that returns.
    static let reconnectWindow: Duration = .seconds(30)
    /// The starts of the health checks after the first one is due; later ones follow in ``healthInterval``.
    static let healthSchedule: [Duration] = [.zero, .seconds(5), .seconds(15)]
    static let healthInterval: Duration = .seconds(60)
    /// The age up to which the last answer of the cloud makes another check needless.
    static let healthAge: Duration = .seconds(60)
    /// The time from a confirmed switch to the cloud to the eviction of local models.
    static let evictionDelay: Duration = .seconds(30)
    /// The time without requests after a refused key.
    static let refusalPause: Duration = .seconds(60)
}
