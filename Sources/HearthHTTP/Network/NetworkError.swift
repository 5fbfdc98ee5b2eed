import HearthBase

extension MeteredUse: ErrorDomain {}

/// The network does not allow a request now.
public typealias NetworkError = HearthError<MeteredUse>

extension ErrorCode<MeteredUse> {
    /// The network is metered, and this download may use only unmetered networks.
    public static var meteredNetwork: Self { "metered-network" }
    /// There is no network.
    public static var offline: Self { "offline" }
}

/// Why the network cannot be used now.
package enum NetworkHold: Sendable, Hashable {
    /// There is no network.
    case offline
    /// The network is metered, and the policy allows only unmetered ones.
    case metered

    /// The error for a request that does not wait.
    var failure: NetworkError {
        switch self {
        case .offline:
            NetworkError(
                .offline, "there is no network",
                context: ErrorContext(remedy: "Try again when there is; what was received is kept."),
                disposition: .tryLater)
        case .metered:
            NetworkError(
                .meteredNetwork, "Wi-Fi required: this network is metered",
                context: ErrorContext(
                    remedy: "Try again on another network, or allow metered ones."),
                disposition: .tryLater)
        }
    }
}
