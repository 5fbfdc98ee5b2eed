import Foundation
import HearthBase

/// A reading of the system's network monitor, and its reliability.
struct NetworkReading: Sendable, Hashable {
    /// The kind of monitor.
    enum Kind: Sendable, Hashable {
        /// Manages the connections.
        case networkManager
        /// Reports the connection manager's facts to sandboxed programs.
        case portal
        /// Sees only routes.
        case routes

        /// The kind of GIO's monitor of that type.
        init(typeName: String) {
            switch typeName {
            case "GNetworkMonitorNM": self = .networkManager
            case "GNetworkMonitorPortal": self = .portal
            default: self = .routes
            }
        }

        /// The name for people; `nil` for a monitor that sees only routes.
        var source: String? {
            switch self {
            case .networkManager: "NetworkManager"
            case .portal: "portal"
            case .routes: nil
            }
        }
    }

    var kind: Kind
    var isAvailable: Bool
    var isMetered: Bool

    /// The condition derived from the reading.
    ///
    /// Only a connection manager can know that there is no connection, and NetworkManager is wrong if the network was
    /// set up without it. A default route therefore overrides it: a wrong "offline" would forbid a working download,
    /// and a wrong "online" only lets a download fail.
    func condition(hasDefaultRoute: () -> Bool) -> NetworkCondition {
        switch kind {
        case .routes: .unrestricted
        case .networkManager, .portal:
            NetworkCondition(isOnline: isAvailable || hasDefaultRoute(), isMetered: isMetered)
        }
    }
}

/// The system's routes, reduced to whether a default route exists.
struct RoutingTable: Sendable, Hashable {
    /// Whether a route for any destination exists.
    var hasDefaultRoute: Bool

    /// Parses `/proc/net/route` and `/proc/net/ipv6_route`; malformed lines are ignored.
    init(version4: String, version6: String) {
        let isUp: UInt32 = 0x1
        let isRefusal: UInt32 = 0x200
        func leads(_ flags: Substring) -> Bool {
            UInt32(flags, radix: 16).map { $0 & isUp != 0 && $0 & isRefusal == 0 } ?? false
        }
        // Interface, destination, gateway, flags, …, mask in field 7: all in hexadecimal.
        let hasVersion4 = version4.split(separator: "\n").contains { line in
            let fields = line.split { $0 == "\t" || $0 == " " }
            return fields.count >= 8 && fields[1] == "00000000" && fields[7] == "00000000" && leads(fields[3])
        }
        // Destination, prefix length, …, flags in field 8, interface. `lo` always has a rejecting route.
        let hasVersion6 = version6.split(separator: "\n").contains { line in
            let fields = line.split { $0 == "\t" || $0 == " " }
            return fields.count >= 10 && fields[0].allSatisfy { $0 == "0" } && fields[1] == "00" && leads(fields[8])
                && fields[9] != "lo"
        }
        hasDefaultRoute = hasVersion4 || hasVersion6
    }

    /// Reads the current routes from two kernel files; an unreadable file counts as empty. Blocks.
    static func read() -> RoutingTable {
        func text(_ path: String) -> String { SystemFile.contents(path) ?? "" }
        return RoutingTable(version4: text("/proc/net/route"), version6: text("/proc/net/ipv6_route"))
    }
}
