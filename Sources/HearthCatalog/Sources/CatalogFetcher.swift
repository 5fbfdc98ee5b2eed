import Foundation
import HearthBase
import HearthHTTP

/// Fetches manifests from an origin over HTTP, or from a file.
package struct CatalogFetcher: Sendable {
    let http: any HTTPClient
    private let fileSystem: any FileSystem

    /// How long a download of a manifest may take.
    package static let timeout = Duration.seconds(10)

    /// A fetcher that uses the given HTTP client and file system.
    package init(http: any HTTPClient, fileSystem: any FileSystem = LocalFileSystem()) {
        self.http = http
        self.fileSystem = fileSystem
    }

    /// Reads the bytes of a manifest at a `file:` address.
    /// - Throws: ``CatalogError`` with `not-a-manifest` or `manifest-too-large`; `FileError`; `CancellationError`.
    package func read(_ url: URL) async throws -> Data {
        let path = Path(url.path)
        return try await blocking { [fileSystem] in
            guard let status = try fileSystem.status(at: path) else {
                throw FileError(errno: ENOENT, doing: "read", path: path)
            }
            guard status.kind == .file else {
                throw CatalogError(
                    .notAManifest,
                    "\(path) is no manifest, but a \(status.kind == .folder ? "folder" : "special file")",
                    context: ErrorContext(file: path.string, remedy: "Give the path of a models.json."))
            }
            guard status.size <= Catalog.maximumManifestSize else { throw CatalogError.manifestTooLarge(url: url) }
            return try fileSystem.contents(ofFile: path, limit: Catalog.maximumManifestSize)
        }
    }

    /// The answer of an origin to a request that may be conditional.
    package enum Answer: Sendable {
        /// The cached manifest, to which the sent validators belong, is current.
        case unchanged(CatalogValidators)
        case manifest(Data, URL, CatalogValidators)
    }

    /// Requests a manifest from an `http(s):` address; with validators, only if it has changed.
    /// - Throws: ``CatalogError`` with `origin-unreachable` (try again later), `origin-refused`, `not-a-manifest` or
    ///   `manifest-too-large`; `HTTPError` for an insecure exchange; `CancellationError`. The bytes are not parsed.
    package func ask(_ url: URL, validators: CatalogValidators?) async throws -> Answer {
        var headers: HTTPHeaders = ["Accept": "application/json"]
        headers["If-None-Match"] = validators?.entityTag
        // RFC 9110, 13.1.3: a server that understands the entity tag ignores the date.
        headers["If-Modified-Since"] = validators?.lastModified
        do {
            let response = try await http.execute(
                HTTPRequest(
                    url, headers: headers, totalTimeout: Self.timeout,
                    maximumBodySize: UInt64(Catalog.maximumManifestSize)))
            let received = CatalogValidators(response.headers)
            if response.status == 304, headers["If-None-Match"] != nil || headers["If-Modified-Since"] != nil {
                return .unchanged(received)
            }
            let data = try await response.document("manifest", at: url, limit: Catalog.maximumManifestSize)
            return .manifest(data, response.url, received)
        } catch let error as HTTPError {
            throw CatalogError.failure(error, of: url, within: Self.timeout)
        }
    }
}
