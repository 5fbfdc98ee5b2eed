import Foundation
import HearthBase

/// Whether downloads use metered networks.
public enum MeteredUse: String, Sendable, Hashable, Codable, CaseIterable {
    /// Download anyway.
    case allow
    /// Ask the person first. A library call that cannot ask refuses, like ``deny``.
    case ask
    /// Wait for another network.
    case deny
}

/// Decides which downloads may use the network in which condition.
///
/// Local addresses and files are exempt, because they use no network.
package struct NetworkPolicy: Sendable, Hashable {
    /// Whether downloads use metered networks.
    package var metered: MeteredUse

    /// A policy; by default it refuses metered networks.
    package init(metered: MeteredUse = .deny) { self.metered = metered }

    /// Why a download from those addresses must wait; `nil` if it may run.
    ///
    /// If one address is not exempt, all are held, because a transfer may use any of them. A caller that needs only the
    /// exempt addresses uses ``exempt(_:)``, as ``NetworkGate/admitted(_:)`` does.
    package func hold(for locations: [URL], in condition: NetworkCondition) -> NetworkHold? {
        guard concerns(locations) else { return nil }
        guard condition.isOnline else { return .offline }
        return condition.isMetered && metered != .allow ? .metered : nil
    }

    /// Whether the policy applies to one of the addresses.
    package func concerns(_ locations: [URL]) -> Bool { !locations.allSatisfy(Self.isExempt) }

    /// The addresses that use no network, in their order.
    package func exempt(_ locations: [URL]) -> [URL] { locations.filter(Self.isExempt) }

    /// Whether an address leads only to this machine: a file, a Unix socket, `localhost`, `127.0.0.0/8`, `::1`. A
    /// redirect from such an address to another host is still followed.
    private static func isExempt(_ location: URL) -> Bool {
        switch location.scheme?.lowercased() {
        case "file": (location.host ?? "").isEmpty
        case "unix", "http+unix": true
        default: location.isLoopback
        }
    }
}
