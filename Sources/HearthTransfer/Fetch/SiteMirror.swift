import Foundation
import HearthBase
import HearthHTTP

/// A cache of a site that fetches public files once for all its devices: `https://HOST/PATH` is asked for as
/// `MIRROR/HOST/PATH`.
package struct SiteMirror: Sendable, Hashable {
    /// The address before the host, without a final slash.
    package let address: URL

    package init(_ address: URL) { self.address = address }

    /// The mirror's address of a file; `nil` for a file that no mirror is asked for: one without a SHA-256, one that only
    /// some may read, and one whose address is not https or has a query or a password, which may be secrets.
    package func address(of request: TransferRequest) -> URL? {
        guard request.digest != nil, request.isPublic, let origin = request.locations.first,
            let parts = URLComponents(url: origin, resolvingAgainstBaseURL: true), parts.scheme == "https",
            parts.percentEncodedQuery == nil, parts.user == nil, parts.password == nil,
            let host = parts.encodedHost, !host.isEmpty
        else { return nil }
        let port = parts.port.map { $0 == 443 ? "" : ":\($0)" } ?? ""
        let base = address.absoluteString
        return URL(
            address: "\(base.hasSuffix("/") ? String(base.dropLast()) : base)/\(host)\(port)\(parts.percentEncodedPath)"
        )
    }
}
