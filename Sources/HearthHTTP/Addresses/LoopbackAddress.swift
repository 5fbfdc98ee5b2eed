import Foundation

extension URL {
    /// Whether the host is this machine: `localhost`, `127.0.0.0/8`, `::1`.
    package var isLoopback: Bool { host().map(LoopbackHost.contains) ?? false }
}

/// The hosts that are this machine by definition; no name server is asked.
enum LoopbackHost {
    /// - Parameter host: a name, or an address in any spelling, with or without brackets.
    static func contains(_ host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" { return true }
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        var six = in6_addr()
        let isLiteral = host.hasPrefix("[") && host.hasSuffix("]")
        guard inet_pton(AF_INET6, isLiteral ? String(host.dropFirst().dropLast()) : host, &six) == 1 else {
            return false
        }
        return withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
}
