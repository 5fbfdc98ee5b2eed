import Foundation
import HearthBase

/// A numeric address of a host.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]

    /// Parses `192.0.2.1` or `2001:db8::1`; `nil` for names.
    package init?(_ text: String) {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: &six) { Array($0) }
        } else {
            return nil
        }
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether the address is of a host on the public internet: not of this machine, a private or link-local network, a
    /// group, or an address that holds such an IPv4 address (RFC 6890 and its registries).
    package var isPublic: Bool {
        guard bytes.count == 16 else {
            return !Self.closedNetworks.contains { has($0.bytes, $0.length) }
        }
        // Only 2000::/3 is assigned to hosts: so ::1, fe80::, fc00::, ff00::, ::ffff:0:0/96 and 64:ff9b::/96 are closed.
        return has([0x20], 3) && !Self.closedNetworks6.contains { has($0.bytes, $0.length) }
    }

    private typealias Network = (bytes: [UInt8], length: Int)

    private static let closedNetworks: [Network] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
        ([203, 0, 113], 24), ([224], 4), ([240], 4),
    ]

    /// IETF protocols with Teredo and ORCHID, documentation twice, and 6to4.
    private static let closedNetworks6: [Network] = [
        ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x20, 0x02], 16), ([0x3F, 0xFF, 0x00], 20),
    ]

    private func has(_ network: [UInt8], _ length: Int) -> Bool {
        for bit in 0..<length {
            let byte = bit / 8
            let expected = byte < network.count ? network[byte] : 0
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            if bytes[byte] & mask != expected & mask { return false }
        }
        return true
    }

    /// The addresses of a host's name, as the system resolves it. Blocks.
    /// - Throws: ``AssistantError`` with `page-refused` for an unknown name.
    package static func resolve(_ host: String) throws -> [IPAddress] {
        if let address = IPAddress(host) { return [address] }
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Darwin)
        hints.ai_socktype = SOCK_STREAM
        #else
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else {
            throw AssistantError(
                .pageRefused, "the host \(host) was not found", context: ErrorContext(found: host),
                disposition: .tryLater)
        }
        var addresses: [IPAddress] = []
        var next = list
        while let entry = next {
            if let address = address(of: entry.pointee), !addresses.contains(address) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    private static func address(of entry: addrinfo) -> IPAddress? {
        guard let pointer = entry.ai_addr else { return nil }
        let start = UnsafeRawPointer(pointer)
        switch entry.ai_family {
        case AF_INET where Int(entry.ai_addrlen) >= MemoryLayout<sockaddr_in>.size:
            var address = start.loadUnaligned(as: sockaddr_in.self).sin_addr
            return IPAddress(withUnsafeBytes(of: &address) { Array($0) })
        case AF_INET6 where Int(entry.ai_addrlen) >= MemoryLayout<sockaddr_in6>.size:
            var address = start.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return IPAddress(withUnsafeBytes(of: &address) { Array($0) })
        default: return nil
        }
    }
}
