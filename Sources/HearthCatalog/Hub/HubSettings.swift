import Foundation
import HearthBase
import HearthHTTP

/// The hub's address, its access token, and the cache folder of the Hub's own client.
package struct HubSettings: Sendable, Hashable {
    /// The public Hub.
    package static let publicEndpoint = "https://huggingface.co"

    /// The base of all addresses.
    package let endpoint: URL
    /// Sent only to the endpoint's host.
    package let token: Secret?
    /// The cache folder of the `huggingface_hub` client; `nil` for none. Files from it are hashed before use.
    package let cacheFolder: Path?

    /// Validates the endpoint.
    /// - Throws: ``CatalogError`` with `bad-endpoint` unless the endpoint is an `https` address, or `http` to this
    ///   machine, without user, query and fragment.
    package init(endpoint: String = publicEndpoint, token: Secret? = nil, cacheFolder: Path? = nil) throws {
        var text = endpoint
        while text.hasSuffix("/") { text.removeLast() }
        guard text.utf8.count <= 1024, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(address: text), url.user() == nil, url.password() == nil, url.query() == nil,
            url.fragment() == nil, url.host()?.isEmpty == false,
            url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
        else {
            throw CatalogError(
                .badEndpoint, "the address of the hub cannot be used",
                context: ErrorContext(
                    field: "endpoint", expected: "an https address, or http to this machine",
                    remedy: "Give an address such as \(Self.publicEndpoint), or none."))
        }
        self.endpoint = url
        self.token = token
        self.cacheFolder = cacheFolder
    }

    /// Reads the environment variables of the Hub's own client: `HF_ENDPOINT`, `HF_TOKEN`, and for the cache
    /// `HF_HUB_CACHE`, `HF_HOME`, `XDG_CACHE_HOME` and `HOME`.
    /// - Throws: ``CatalogError`` with `bad-endpoint`.
    package init(environment: [String: String]) throws {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        try self.init(
            endpoint: value("HF_ENDPOINT") ?? Self.publicEndpoint, token: value("HF_TOKEN").flatMap { Secret($0) },
            cacheFolder: Self.cacheFolder(value))
    }

    private static func cacheFolder(_ value: (String) -> String?) -> Path? {
        func below(_ base: String, _ names: String...) -> Path {
            Path(([base] + names).joined(separator: "/"))
        }
        let folder =
            value("HF_HUB_CACHE").map { Path($0) }
            ?? value("HF_HOME").map { below($0, "hub") }
            ?? value("XDG_CACHE_HOME").map { below($0, "huggingface", "hub") }
            ?? value("HOME").map { below($0, ".cache", "huggingface", "hub") }
        // The shell did not expand `~`. A relative folder is refused, because it depends on the working directory.
        guard let folder else { return nil }
        if folder.string == "~" || folder.string.hasPrefix("~/") {
            return value("HOME").map { Path($0 + folder.string.dropFirst()) }
        }
        return folder.string.hasPrefix("/") ? folder : nil
    }

    /// A client that sends the token to the hub's host.
    package func authorized(_ http: any HTTPClient) -> any HTTPClient {
        guard let token else { return http }
        do {
            return try HostCredentials(http, host: endpoint, bearer: token)
        } catch {
            // Not expected, because the endpoint was checked; without a usable host, no token is needed.
            Log.write(.warning, "no token is sent: \(error)")
            return http
        }
    }
}
