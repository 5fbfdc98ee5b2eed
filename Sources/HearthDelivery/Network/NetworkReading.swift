import Foundation
import HearthBase

/// What a system's monitor says, and how much of it is worth believing.
struct NetworkReading: Sendable, Hashable {
    /// Who says it.
    enum Kind: Sendable, Hashable {
        /// It manages the connections.
        case networkManager
        /// It speaks for whoever manages them, to programs in a sandbox.
        case portal
        /// It only sees routes.
        case routes

        /// The kind of GIO's monitor of that type.
        init(typeName: String) {
            switch typeName {
            case "GNetworkMonitorNM": self = .networkManager
            case "GNetworkMonitorPortal": self = .portal
            default: self = .routes
            }
        }

        /// For people; `nil` for one that knows nothing of connections.
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

    /// The condition to act by.
    ///
    /// Only who manages connections can know that there is none, and not even always: NetworkManager on a machine whose network is
    /// set up without it says so while everything works. A default route outvotes it: a wrong "offline" would forbid a download
    /// that works, a wrong "online" only has it fail.
    func condition(hasDefaultRoute: () -> Bool) -> NetworkCondition {
        switch kind {
        case .routes: .unrestricted
        case .networkManager, .portal:
            NetworkCondition(isOnline: isAvailable || hasDefaultRoute(), isMetered: isMetered)
        }
    }
}

/// The system's routes, as far as they tell whether a way leads out.
struct RoutingTable: Sendable, Hashable {
    /// Whether packets for anywhere have a way.
    var hasDefaultRoute: Bool

    /// Reads the contents of `/proc/net/route` and `/proc/net/ipv6_route`; lines of another form count for nothing.
    init(version4: String, version6: String) {
        let isUp: UInt32 = 0x1
        let isRefusal: UInt32 = 0x200
        func leads(_ flags: Substring) -> Bool {
            UInt32(flags, radix: 16).map { $0 & isUp != 0 && $0 & isRefusal == 0 } ?? false
        }
        // Interface, destination, gateway, flags, …, mask at 7: all in hexadecimal.
        let hasVersion4 = version4.split(separator: "\n").contains { line in
            let fields = line.split { $0 == "\t" || $0 == " " }
            return fields.count >= 8 && fields[1] == "00000000" && fields[7] == "00000000" && leads(fields[3])
        }
        // Destination, its prefix length, …, flags at 8, interface; the kernel lists a refusing one on `lo` always.
        let hasVersion6 = version6.split(separator: "\n").contains { line in
            let fields = line.split { $0 == "\t" || $0 == " " }
            return fields.count >= 10 && fields[0].allSatisfy { $0 == "0" } && fields[1] == "00" && leads(fields[8])
                && fields[9] != "lo"
        }
        hasDefaultRoute = hasVersion4 || hasVersion6
    }

    /// The routes now. Blocks for the reading of two files of the kernel's, which are empty where they cannot be read.
    static func read() -> RoutingTable {
        func text(_ path: String) -> String { SystemFile.contents(path) ?? "" }
        return RoutingTable(version4: text("/proc/net/route"), version6: text("/proc/net/ipv6_route"))
    }
}
