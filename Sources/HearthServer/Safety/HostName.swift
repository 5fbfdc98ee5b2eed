import Foundation

#if Server
import CMicrohttpd
#endif

/// The host and port in a `Host` or `Origin` field.
struct HostName: Sendable, Hashable {
    /// Lower-case, without brackets.
    let host: String
    let port: UInt16?

    /// Parses `host[:port]`; `nil` for other text.
    init?(_ text: some StringProtocol) {
        let text = text.lowercased()
        guard !text.isEmpty, text.utf8.count <= 260 else { return nil }
        let (host, rest): (Substring, Substring)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard Self.isAddress(String(host), AF_INET6) else { return nil }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
            let isName = host.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 46 || byte == 95
            }
            guard isName, !host.isEmpty else { return nil }
        }
        if rest.isEmpty {
            port = nil
        } else {
            guard rest.first == ":", let number = UInt16(rest.dropFirst()) else { return nil }
            port = number
        }
        self.host = String(host)
    }

    /// Whether the name cannot be an attacker's: an address, or this machine. A page that rebinds a name of its own to
    /// this machine sends that name.
    var isAddressOrThisMachine: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || Self.isAddress(host, AF_INET)
            || Self.isAddress(host, AF_INET6)
    }

    private static func isAddress(_ text: String, _ family: Int32) -> Bool {
        var buffer = in6_addr()
        return inet_pton(family, text, &buffer) == 1
    }
}
