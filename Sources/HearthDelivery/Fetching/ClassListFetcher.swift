import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP

/// Fetches the list of classes that lies beside a single-model manifest.
struct ClassListFetcher: Sendable {
    let http: any HTTPClient
    let fileSystem: any FileSystem

    private static let listName: StaticString = "classes.txt"
    private static let maximumListBytes = 16 << 20

    /// The offer with the list of classes that lies beside a single-model manifest, if there is one.
    ///
    /// The manifest has no digest of it: the digest is that of the bytes which are there now, and the installation compares
    /// the number of classes with the manifest's. Without a list, the model must have it in itself.
    /// - Throws: `CatalogError` if the origin does not answer; `FileError`; `CancellationError`.
    func withClassList(_ offer: Offer) async throws -> Offer {
        guard let address = offer.release.classes?.listAddress, offer.release.classes?.labels == nil,
            let data = try await classList(at: address), let name = RelativePath(Self.listName.description)
        else { return offer }
        var offer = offer
        offer.release.classes?.labels = RemoteFile(
            name: name, role: .labels, size: .exact(UInt64(data.count)), digest: SHA256Digest(hashing: data),
            locations: [address])
        return offer
    }

    /// The bytes of a list; `nil` if there is none.
    private func classList(at address: URL) async throws -> Data? {
        if address.isFileURL {
            return try await blocking { [fileSystem] in
                let path = Path(address.path)
                guard try fileSystem.status(at: path)?.kind == .file else { return nil }
                return try fileSystem.contents(ofFile: path, limit: Self.maximumListBytes)
            }
        }
        do {
            let response = try await http.execute(
                HTTPRequest(
                    address, totalTimeout: CatalogFetcher.timeout, maximumBodySize: UInt64(Self.maximumListBytes)))
            if response.status == 404 || response.status == 410 {
                Log.write(.info, "pull", "there is no list of classes at \(address.shown)")
                return nil
            }
            guard (200...299).contains(response.status) else {
                throw CatalogError.refusal(status: response.status, of: address)
            }
            return try await response.body.collect(upTo: Self.maximumListBytes)
        } catch let error as HTTPError {
            throw CatalogError.failure(error, of: address, within: CatalogFetcher.timeout)
        }
    }
}
