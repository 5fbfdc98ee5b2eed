import Foundation
import HearthBase

/// A reading of the system's network monitor, and its reliability.
struct NetworkReading: Sendable, Hashable {
    /// The name of the connection manager behind the monitor; `nil` for a monitor that sees only routes.
    var source: String?
    var isAvailable: Bool
    var isMetered: Bool

    /// The source of GIO's monitor of that type. The portal reports the manager's facts to sandboxed programs.
    static func source(typeName: String) -> String? {
        ["GNetworkMonitorNM": "NetworkManager", "GNetworkMonitorPortal": "portal"][typeName]
    }

    /// The condition derived from the reading.
    ///
    /// Only a connection manager can know that there is no connection, and NetworkManager is wrong if the network was
    /// set up without it. A default route therefore overrides it: a wrong "offline" would forbid a working download,
    /// and a wrong "online" only lets a download fail.
    func condition(hasDefaultRoute: () -> Bool) -> NetworkCondition {
        guard source != nil else { return .unrestricted }
        return NetworkCondition(isOnline: isAvailable || hasDefaultRoute(), isMetered: isMetered)
    }
}

/// The system's routes, reduced to whether a default route exists.
enum RoutingTable {
    /// Whether a route for any destination exists in `/proc/net/route` and `/proc/net/ipv6_route`; malformed lines are
    /// ignored.
    static func hasDefaultRoute(version4: String, version6: String) -> Bool {
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
        return hasVersion4 || hasVersion6
    }

    /// Reads the current routes from two kernel files; an unreadable file counts as empty. Blocks.
    static func hasDefaultRoute() -> Bool {
        func text(_ path: String) -> String { SystemFile.contents(path) ?? "" }
        return hasDefaultRoute(version4: text("/proc/net/route"), version6: text("/proc/net/ipv6_route"))
    }
}
