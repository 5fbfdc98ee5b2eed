import Foundation
import HearthBase
import HearthHTTP

/// Requests an origin's metadata and targets: one `GET` for each file, bounded, never repeated.
struct SignedFiles: Sendable {
    let http: any HTTPClient

    /// How long one file may take.
    static let timeout = Duration.seconds(60)

    /// The bytes of a file; `nil` if the origin has none (404, 410) or denies it (403).
    /// - Throws: `CatalogError` with `origin-unreachable`, `origin-refused` or `not-a-manifest` (a web page came);
    ///   ``TrustError`` with `metadata-too-large`; `HTTPError`; `CancellationError`.
    func bytes(_ name: String, below base: URL, limit: Int) async throws -> Data? {
        let url = try Self.address(of: name, below: base)
        do {
            let response = try await http.execute(
                HTTPRequest(url, totalTimeout: Self.timeout, maximumBodySize: UInt64(limit)))
            if [403, 404, 410].contains(response.status) { return nil }
            return try await response.document("metadata", at: url, limit: limit)
        } catch let error as HTTPError where error.code == .tooLarge {
            throw TrustError.tooLarge(name, limit: limit)
        } catch let error as HTTPError {
            throw CatalogError.failure(error, of: url, within: Self.timeout)
        }
    }

    /// Downloads and checks a file of a signed list, of at most `limit` bytes.
    /// - Parameter isConsistent: whether the file's digest begins its name.
    /// - Throws: ``TrustError`` with `target-mismatch`, `metadata-missing`, `metadata-invalid` or `metadata-too-large`; as
    ///   ``bytes(_:below:limit:)``.
    func target(_ file: TargetFile, below base: URL, limit: Int, isConsistent: Bool) async throws -> Data {
        guard file.length <= UInt64(limit) else { throw TrustError.tooLarge(file.path, limit: limit) }
        guard let name = file.addressName(isConsistent: isConsistent) else {
            throw TrustError.invalid(file.path, "its signed entry has no known digest", field: "hashes")
        }
        guard let data = try await bytes(name, below: base, limit: Int(file.length)) else {
            throw TrustError.missing(file.path)
        }
        try file.check(data)
        return data
    }

    /// The address of a file; its name is escaped already.
    static func address(of name: String, below base: URL) throws -> URL {
        let folder = base.absoluteString
        guard let url = URL(address: folder + (folder.hasSuffix("/") ? "" : "/") + name) else {
            throw TrustError.invalid(name, "its name cannot be an address")
        }
        return url
    }
}
