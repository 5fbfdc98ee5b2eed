import Foundation
import HearthHTTP

/// Recognises requests that came through a proxy or a tunnel by the header fields that these add.
///
/// A program on this machine has no reason to send such a field. A field too many in this list costs such a program a key;
/// one too few lets every client of a proxy in.
enum ProxyFields {
    private static let names: Set<String> = [
        "cdn-loop", "client-ip", "forwarded", "forwarded-for", "front-end-https", "proxy-connection", "remote-addr",
        "surrogate-capability", "via", "x-cloud-trace-context", "x-real-host", "x-request-start", "x-scheme",
        "x-url-scheme", "x-varnish", "wl-proxy-client-ip", "http-x-forwarded-for",
    ]
    /// The beginnings of the names that a kind of proxy gives to its fields.
    private static let beginnings = [
        "akamai-", "cf-", "cloudfront-", "fastly-", "fly-", "ngrok-", "tailscale-", "true-client-", "x-akamai-",
        "x-amz-cf-", "x-amzn-", "x-appengine-", "x-appgw-", "x-arr-", "x-azure-", "x-cluster-",
        "x-envoy-", "x-forwarded", "x-forward-", "x-fd-", "x-nginx-", "x-original-", "x-originating-", "x-proxy",
        "x-remote-", "x-sent-from", "x-traefik-", "x-vercel-",
    ]
    /// The ends of names such as `X-Real-IP` and `Fastly-Client-IP`.
    private static let ends = ["-client-ip", "-connecting-ip", "-real-ip", "-remote-ip", "-forwarded-for"]

    /// Whether a field of this name is one that proxies add.
    static func contains(_ name: String) -> Bool {
        // Some proxies and gateways write underscores.
        let name = name.lowercased().replacing("_", with: "-")
        return names.contains(name) || beginnings.contains { name.hasPrefix($0) }
            || ends.contains { name.hasSuffix($0) }
    }

    /// Whether a request came through a proxy.
    static func areIn(_ headers: HTTPHeaders) -> Bool { headers.fields.contains { contains($0.name) } }

    /// The scheme with which the client asked the first proxy; `nil` if no field tells.
    static func scheme(_ headers: HTTPHeaders) -> String? {
        if let text = headers.joined("X-Forwarded-Proto") { return first(of: text) }
        guard let text = headers.joined("Forwarded") else { return nil }
        for pair in text.prefix(while: { $0 != "," }).split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0].trimmed.lowercased() == "proto" {
                return first(of: parts[1].trimmed.trimmingCharacters(in: ["\""]))
            }
        }
        return nil
    }

    private static func first(of list: some StringProtocol) -> String {
        list.prefix { $0 != "," }.trimmed.lowercased()
    }
}
