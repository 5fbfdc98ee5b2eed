import Foundation
import HearthBase

/// An address at which a publisher lists releases, and the user's name for it.
public struct Origin: Sendable, Hashable {
    /// The user's name for the origin, and the family of entries that name none.
    public var name: String
    /// The address of the origin's `models.json`.
    public var manifestURL: URL
    /// The publisher's `root.json`, if the origin is signed. The device then accepts nothing unsigned from that address
    /// any more, also without this value. A later root of the publisher is followed automatically.
    public var root: Data?
    /// The SHA-256 of a `root.json` of the publisher, in place of ``root``: the device then fetches that root from the
    /// origin, once.
    package var rootDigest: SHA256Digest?

    /// Memberwise.
    public init(name: String, manifestURL: URL, root: Data? = nil) {
        self.name = name
        self.manifestURL = manifestURL
        self.root = root
    }

    /// An origin that the user did not configure. Its name is the address, plus a digest of the query, because
    /// manifests may differ only in the query.
    package init(address url: URL) {
        let query = URLComponents(url: url, resolvingAgainstBaseURL: true)?.query
        let digest = query.map { "?" + SHA256Digest(hashing: Array($0.utf8)).hex.prefix(16) } ?? ""
        self.init(name: url.shown + digest, manifestURL: url)
    }

    /// Identifies the origin in records: the SHA-256 of its name and its address without query, user and password.
    ///
    /// A token in the query or a password may change; the origin stays the same.
    package var key: SHA256Digest {
        SHA256Digest(hashing: Array("\(name)\n\((manifestURL.withoutSecrets ?? manifestURL).absoluteString)".utf8))
    }

    /// Identifies the origin's trusted metadata: the SHA-256 of its normalized address without query, user and password.
    /// The name and the spelling do not count, so that neither makes a signed origin an unsigned one.
    package var trustKey: SHA256Digest {
        SHA256Digest(hashing: Array((manifestURL.withoutSecrets ?? manifestURL).normalized.absoluteString.utf8))
    }
}

extension URL {
    /// The address with scheme and host in lower case and without the usual port of its scheme (RFC 3986, sections 6.2.2.1
    /// and 6.2.3).
    fileprivate var normalized: URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased()
        else { return self }
        parts.scheme = scheme
        parts.encodedHost = parts.encodedHost?.lowercased()
        if parts.port == ["https": 443, "http": 80][scheme] { parts.port = nil }
        return parts.url ?? self
    }
}
