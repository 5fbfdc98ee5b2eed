import HearthBase

extension RouteDecision: ErrorDomain {}

/// A request that no engine could be chosen for, or a fault in the files of the routing.
public typealias RoutingError = HearthError<RouteDecision>

extension ErrorCode<RouteDecision> {
    /// The cloud was asked for, but a setting or a private conversation forbids it.
    public static var cloudOff: Self { "cloud-off" }
    /// The cloud was asked for, but none is set up.
    public static var cloudMissing: Self { "cloud-missing" }
    /// The file of the credits is broken, so that nothing is taken from it.
    public static var creditsUnreadable: Self { "credits-unreadable" }
    /// No answer of the conversation was interrupted.
    public static var nothingToContinue: Self { "nothing-to-continue" }
}
