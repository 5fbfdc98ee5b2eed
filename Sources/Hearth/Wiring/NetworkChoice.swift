import HearthBase
import HearthDelivery
import HearthHTTP

/// Chooses the network monitor.
package enum NetworkChoice {
    /// The system's monitor, unless `HEARTH_NETWORK` says `metered`, `unmetered` or `offline`: the system may not
    /// know that a cable leads to a telephone.
    /// - Throws: ``ConfigurationError`` with `invalid-configuration` for any other word.
    package static func monitor(environment: [String: String]) throws -> any NetworkMonitor {
        guard let word = environment["HEARTH_NETWORK"], !word.isEmpty else { return SystemNetwork.monitor() }
        let condition: NetworkCondition
        switch word {
        case "metered": condition = NetworkCondition(isOnline: true, isMetered: true)
        case "unmetered": condition = .unrestricted
        case "offline": condition = NetworkCondition(isOnline: false, isMetered: false)
        default:
            throw ConfigurationError.invalid("HEARTH_NETWORK", "metered, unmetered or offline", found: word)
        }
        return UnmonitoredNetwork(assuming: condition, source: "HEARTH_NETWORK")
    }
}
