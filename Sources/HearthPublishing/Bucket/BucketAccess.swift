import Foundation
import HearthBase
import HearthHTTP

/// The place of an origin in a bucket, as `REMOTE:bucket/path`.
package struct BucketLocation: Sendable, Hashable, CustomStringConvertible {
    package let remote: String
    package let bucket: String
    /// The path below which the origin's files are; `nil` for the whole bucket.
    package let prefix: RelativePath?

    /// Reads a location; `nil` for the path of a folder, such as `./origin` or `/srv/a:b`.
    /// - Throws: ``PublishingError`` with `remote-unusable` for a bucket's name that cannot be.
    package init?(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return nil }
        let remote = text[..<colon]
        guard remote.allSatisfy({ $0.isLetter || $0.isNumber || "_-.+@ ".contains($0) }), !remote.hasPrefix(".") else {
            return nil
        }
        let path = text[text.index(after: colon)...].split(separator: "/")
        let rest = path.dropFirst().joined(separator: "/")
        let prefix = RelativePath(rest)
        let isBucketName = path.first.map { name in
            (3...63).contains(name.utf8.count)
                && name.utf8.allSatisfy { byte in
                    (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "-")
                        || byte == UInt8(ascii: ".")
                }
        }
        guard isBucketName == true, let bucket = path.first, rest.isEmpty || prefix != nil else {
            throw Self.unusable(text)
        }
        self.remote = String(remote)
        self.bucket = String(bucket)
        self.prefix = prefix
    }

    static func unusable(_ text: String) -> PublishingError {
        PublishingError(
            .remoteUnusable, "\(text.quoted) names no bucket",
            context: ErrorContext(
                field: "to", expected: "REMOTE:bucket or REMOTE:bucket/path", found: text,
                remedy: "For a folder of that name, begin with ./"), disposition: .usage)
    }

    package var description: String { "\(remote):\(bucket)" + (prefix.map { "/\($0)" } ?? "") }
}

/// The server of a bucket, and the key to it.
package struct BucketAccess: Sendable, Hashable {
    /// The server's address, without a path.
    package let endpoint: URL
    package let region: String
    package let accessKey: String
    package let secretKey: Secret
    package var sessionToken: Secret?

    /// Signs requests with the key.
    var signer: SigV4 {
        SigV4(accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken, region: region)
    }
}
