import Foundation
import HearthBase

/// The addresses under which other machines of the network reach this one.
package struct NetworkAddresses: Sendable, Hashable {
    /// An address of an interface that is up.
    package struct Entry: Sendable, Hashable {
        package var interface: String
        package var host: String

        package init(_ interface: String, _ host: String) {
            self.interface = interface
            self.host = host
        }

        fileprivate var isIPv6: Bool { host.contains(":") }

        /// Whether it leads to other machines: not loopback, and not of the link alone, whose form has no place in an
        /// address of a page.
        fileprivate var leadsOut: Bool {
            let host = host.lowercased()
            let isLinkLocal = ["fe8", "fe9", "fea", "feb"].contains { host.hasPrefix($0) }
            return !host.contains("%") && !host.hasPrefix("127.") && host != "::1" && !host.hasPrefix("169.254.")
                && !(isIPv6 && isLinkLocal) && host != "0.0.0.0" && host != "::"
        }

        /// Whether the interface belongs to containers or virtual machines of this machine.
        fileprivate var isVirtual: Bool {
            ["docker", "br-", "veth", "virbr", "lxc", "lxd", "cni", "flannel", "vmnet", "vboxnet", "podman"].contains {
                interface.hasPrefix($0)
            }
        }
    }

    /// The address of the default route; `nil` without a network.
    package let first: String?
    /// The other addresses of the same kind.
    package let others: [String]

    /// Whether there is no IPv4 address.
    package var isIPv6Only: Bool { first?.contains(":") ?? false }

    /// The most other addresses that are named.
    private static let limit = 4

    /// Chooses the addresses: IPv4 before IPv6, which fewer networks of homes pass on; the default route before the rest.
    /// - Parameters:
    ///   - routes: the addresses from which the default routes of IPv4 and IPv6 begin, as far as there are some.
    ///   - entries: the addresses of all interfaces that are up.
    package init(routes: [String], entries: [Entry]) {
        let usable = entries.filter(\.leadsOut)
        let own = usable.filter { !$0.isVirtual || routes.contains($0.host) }
        func first(isIPv6: Bool) -> String? {
            let kind = own.filter { $0.isIPv6 == isIPv6 }
            return (kind.first { routes.contains($0.host) } ?? kind.first)?.host
        }
        let chosen = first(isIPv6: false) ?? first(isIPv6: true)
        self.first = chosen
        var seen = Set([chosen])
        others = Array(
            own.filter { $0.isIPv6 == (chosen?.contains(":") ?? false) }.map(\.host).filter { seen.insert($0).inserted }
                .prefix(Self.limit))
    }

    /// The present addresses of this machine. Blocks for microseconds, and sends nothing.
    package static func current() -> NetworkAddresses {
        let routes = [source(to: "192.0.2.1"), source(to: "2001:db8::1")].compactMap(\.self)
        return NetworkAddresses(routes: routes, entries: entries())
    }

    private static func entries() -> [Entry] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var entries: [Entry] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard UInt32(entry.ifa_flags) & UInt32(IFF_UP) != 0, let address = entry.ifa_addr,
                let length = length(of: Int32(address.pointee.sa_family)), let host = numericHost(address, length)
            else { continue }
            entries.append(Entry(String(cString: entry.ifa_name), host))
        }
        return entries
    }

    private static func length(of family: Int32) -> socklen_t? {
        switch family {
        case AF_INET: socklen_t(MemoryLayout<sockaddr_in>.size)
        case AF_INET6: socklen_t(MemoryLayout<sockaddr_in6>.size)
        default: nil
        }
    }

    /// The address that the system would send from to an address that no machine has; `nil` without a route. A datagram
    /// socket that is connected sends nothing.
    private static func source(to host: String) -> String? {
        var wanted = addrinfo()
        wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "9", &wanted, &list) == 0, let found = list?.pointee else { return nil }
        defer { freeaddrinfo(list) }
        let descriptor = openSocket(found.ai_family, isStream: false)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // A socket without a name leaves the addresses without this one.
        guard connect(descriptor, found.ai_addr, found.ai_addrlen) == 0,
            let (storage, length) = try? ListeningSocket.name(of: descriptor)
        else { return nil }
        return withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { numericHost($0, length) }
        }
    }
}
