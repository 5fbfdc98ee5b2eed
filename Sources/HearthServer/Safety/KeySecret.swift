import Foundation
import HearthBase

/// A new key: its id, its text, which is shown once, and the digest that is kept.
///
/// A key has 256 random bits, so that a plain digest cannot be searched for it.
struct KeySecret: Sendable {
    /// The beginning of every key.
    static let prefix = "hearth-"

    /// Eight hexadecimal digits.
    let id: String
    /// The key as clients send it.
    let text: String

    /// A random key.
    init() {
        id = String(Claim.newToken().prefix(8))
        text = "\(Self.prefix)\(id)-\(Claim.newToken())\(Claim.newToken())"
    }

    var digest: SHA256Digest { Self.digest(of: text) }

    /// The digest of a text that a client presents.
    static func digest(of text: String) -> SHA256Digest { SHA256Digest(hashing: Data(text.utf8)) }

    /// Whether a text can be a key: then it is worth a search.
    static func hasForm(_ text: String) -> Bool {
        text.utf8.count == prefix.utf8.count + 8 + 1 + 64 && text.hasPrefix(prefix)
    }
}
