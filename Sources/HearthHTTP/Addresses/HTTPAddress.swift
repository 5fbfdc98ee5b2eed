import Foundation
import HearthBase

/// An allowed `http` or `https` address, parsed once so that no later code parses it differently.
struct HTTPAddress: Sendable, Hashable {
    enum Scheme: String, Sendable, Hashable {
        case http, https

        var standardPort: Int { self == .http ? 80 : 443 }
    }

    let scheme: Scheme
    /// Lower-case; an IPv6 address has no brackets.
    let host: String
    let port: Int
    /// The path and the query as sent; begins with a slash.
    let target: String

    /// Parses and checks an address.
    /// - Parameter allowsHTTP: whether other machines may be asked over `http`.
    /// - Throws: ``HTTPError`` with `unsupported-url` unless the address is `https`, or `http` to this machine, and has
    ///   no user name or password.
    init(_ url: URL, allowsHTTP: Bool = false) throws {
        let shown = url.withoutQuery
        func refuse(_ why: String, remedy: String? = nil) -> HTTPError {
            HTTPError(.unsupportedURL, why, context: ErrorContext(url: shown, remedy: remedy), disposition: .usage)
        }
        guard let scheme = Scheme(rawValue: url.scheme?.lowercased() ?? "") else {
            throw refuse("\(shown) is not an https address", remedy: "Use an address that begins with https://.")
        }
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
            throw refuse("the address of \(url.host() ?? "the server") has a user name or password in it")
        }
        guard let host = url.host(percentEncoded: true).flatMap(Self.validHost) else {
            throw refuse("\(shown) names no proper host")
        }
        let port = url.port ?? scheme.standardPort
        guard (1...65535).contains(port) else { throw refuse("\(shown) has a port that does not exist") }
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        let target = (path.hasPrefix("/") ? "" : "/") + path + query
        guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw refuse("\(shown) has characters an address cannot have")
        }
        self.scheme = scheme
        self.host = host
        self.port = port
        self.target = target
        guard scheme == .https || isLoopback || allowsHTTP else {
            throw refuse(
                "\(host) would be asked over http, where any host on the way can change the bytes",
                remedy: "Use https; http is for this machine only.")
        }
    }

    /// Whether the host is this machine by definition; no name server is asked.
    var isLoopback: Bool { LoopbackHost.contains(host) }

    /// Whether credentials for `self` may be sent to `other`.
    func isSameOrigin(as other: Self) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The whole address in the form that was checked.
    var text: String { "\(scheme.rawValue)://\(hostText)\(target)" }

    /// The host for messages, with the port if it is not the standard one.
    var hostText: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == scheme.standardPort ? name : "\(name):\(port)"
    }

    /// The address without its query, which may contain a secret.
    var display: String {
        "\(scheme.rawValue)://\(hostText)\(target.prefix { $0 != "?" })"
    }

    private static func validHost(_ text: String) -> String? {
        var host = text.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.contains(":") {
            var address = in6_addr()
            return inet_pton(AF_INET6, host, &address) == 1 ? host : nil
        }
        let isPlain = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && (1...253).contains(host.utf8.count) ? host : nil
    }
}
