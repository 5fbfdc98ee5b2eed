import Foundation
import HearthBase
import HearthHTTP
import HearthTransfer

/// Makes time-limited addresses of the files in a bucket.
package struct AddressSigner: Sendable {
    /// Signs the address of an object: a query that works from `date` on for `lifetime` seconds.
    package typealias Presign = @Sendable (_ object: URL, _ lifetime: Int, _ date: Date) throws -> URL

    /// The longest life of a signed address in seconds: S3 allows a week.
    package static let longestLife = 7 * 24 * 3600

    /// The address of the bucket's folder: `https://HOST/BUCKET[/FOLDER]`, or `https://BUCKET.HOST[/FOLDER]`.
    private let bucket: URL
    /// The beginning of the files' addresses in the catalog.
    private let published: URL
    /// The life of an address in seconds.
    let lifetime: Int
    private let presign: Presign

    /// A signer of the files below `published`, which lie below `bucket` with the same names.
    package init(bucket: URL, published: URL, lifetime: Int, presign: @escaping Presign) {
        self.bucket = bucket
        self.published = published
        self.lifetime = min(max(1, lifetime), Self.longestLife)
        self.presign = presign
    }

    /// The object of a file by the address in the catalog; `nil` for an address that is not served.
    ///
    /// Each part of the path is read once and written anew, so that the bucket's server reads the same name. A part that
    /// would leave the folder, or hold a slash or a control character, is refused.
    func object(of location: String) -> BucketObject? {
        guard location.utf8.count <= 4096, location.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(string: location, encodingInvalidCharacters: false), url.isBelow(published),
            url.query() == nil, url.fragment() == nil,
            url.user() == nil
        else { return nil }
        let folder = published.path(percentEncoded: true).split(separator: "/").count
        let path = url.path(percentEncoded: true)
        guard !path.hasSuffix("/"), !path.contains("//") else { return nil }
        var names: [String] = []
        for part in path.split(separator: "/").dropFirst(folder) {
            guard let name = String(part).removingPercentEncoding, Self.isName(name) else { return nil }
            names.append(name)
        }
        return names.isEmpty ? nil : BucketObject(names: names)
    }

    private static func isName(_ text: String) -> Bool {
        !["", ".", ".."].contains(text)
            && text.utf8.allSatisfy { byte in
                byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "\\")
            }
    }

    /// A signed address of an object.
    func address(of object: BucketObject, at date: Date) throws -> URL {
        var base = bucket.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(address: base + "/" + object.encoded) else { throw GatewayRefusal.locationNotServed }
        return try presign(url, lifetime, date)
    }
}

/// The name of a file in a bucket, below its folder.
struct BucketObject: Sendable, Hashable {
    let names: [String]

    /// The name for the audit log.
    var path: String { names.joined(separator: "/") }

    /// The name in an address, escaped as SigV4 reads it.
    var encoded: String { PercentText.encoded(path, keepsSlashes: true) }
}
