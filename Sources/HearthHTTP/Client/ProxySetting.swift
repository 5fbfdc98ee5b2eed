import Foundation

/// The proxy between this machine and a server, as the environment names it to libcurl. For messages only: libcurl reads
/// the same variables and decides.
struct ProxySetting: Sendable, Hashable {
    /// The variable that names the proxy, such as `https_proxy`.
    let variable: String
    /// Host and port of the proxy, without user and password.
    let place: String

    /// The proxy for an address; `nil` if none is set, or `no_proxy` exempts the host.
    init?(for address: HTTPAddress, in environment: [String: String]) {
        let scheme = "\(address.scheme.rawValue)_proxy"
        // `HTTP_PROXY` is not read: servers set it from a request's header.
        let names = [scheme] + (address.scheme == .https ? [scheme.uppercased()] : []) + ["all_proxy", "ALL_PROXY"]
        guard let variable = names.first(where: { environment[$0] != nil }), let text = environment[variable],
            !text.isEmpty, !Self.isExempt(address.host, environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
        else { return nil }
        self.variable = variable
        let url = URL(address: text.contains("://") ? text : "http://\(text)")
        guard let url, let host = url.host(percentEncoded: true), !host.isEmpty else {
            place = "of \(variable)"
            return
        }
        place = "\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(url.port ?? 1080)"
    }

    /// Whether a list of names, separated by commas or spaces, contains a host or a domain above it; `*` contains all.
    private static func isExempt(_ host: String, _ list: String) -> Bool {
        list.lowercased().split { $0 == "," || $0 == " " }.contains { name in
            let name = name.drop { $0 == "." }
            return name == "*" || host == name || (!name.isEmpty && host.hasSuffix("." + name))
        }
    }
}
