import Foundation
import HearthBase
import HearthHTTP

/// A catalog and the bytes it was read from, which a signature would be of.
public struct FetchedCatalog: Sendable, Hashable {
    public let catalog: Catalog
    public let data: Data
    /// Where the bytes really came from, after redirects.
    public let url: URL
}

/// Brings manifests: from an origin over HTTP, or from a file.
public struct CatalogFetcher: Sendable {
    private let http: any HTTPClient
    private let fileSystem: any FileSystem

    /// The time a manifest may take to arrive.
    public static let timeout = Duration.seconds(10)

    /// A fetcher that uses the given transport and disk.
    public init(http: any HTTPClient, fileSystem: any FileSystem = LocalFileSystem()) {
        self.http = http
        self.fileSystem = fileSystem
    }

    /// Brings and reads the manifest at an `http(s):` or `file:` address.
    /// - Parameters:
    ///   - url: the manifest's address.
    ///   - familyHint: the family of entries that name none, usually the origin's configured name.
    /// - Throws: ``CatalogError`` with `origin-unreachable` (try again later), `origin-refused`, `not-a-manifest`,
    ///   `manifest-too-large`, `manifest-invalid` or `schema-too-new`; `HTTPError` for an insecure exchange; `FileError` for
    ///   a file that cannot be read; `CancellationError`.
    public func fetch(_ url: URL, familyHint: Family? = nil) async throws -> FetchedCatalog {
        let (data, source) = url.isFileURL ? (try await read(url), url) : try await download(url)
        let catalog = try Catalog(manifest: data, url: source, familyHint: familyHint)
        return FetchedCatalog(catalog: catalog, data: data, url: source)
    }

    private func read(_ url: URL) async throws -> Data {
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

    private func download(_ url: URL) async throws -> (Data, URL) {
        guard case .manifest(let data, let location, _) = try await ask(url, validators: nil) else {
            throw Self.refusal(status: 304, of: url)
        }
        return (data, location)
    }

    /// What an origin answers to a question that may be conditional.
    enum Answer: Sendable {
        /// The manifest is the one that the validators are of.
        case unchanged(ManifestHeaders)
        case manifest(Data, URL, ManifestHeaders)
    }

    /// Asks an `http(s):` address for its manifest, with validators only for one that has changed.
    /// - Throws: as ``fetch(_:familyHint:)``; the bytes are not read here.
    func ask(_ url: URL, validators: CatalogValidators?) async throws -> Answer {
        var headers: HTTPHeaders = ["Accept": "application/json"]
        headers["If-None-Match"] = validators?.entityTag
        // RFC 9110, 13.1.3: a tag is the better question, and a server that knows it ignores the date.
        headers["If-Modified-Since"] = validators?.lastModified
        do {
            let response = try await http.execute(
                HTTPRequest(
                    url, headers: headers, totalTimeout: Self.timeout,
                    maximumBodySize: UInt64(Catalog.maximumManifestSize)))
            let facts = ManifestHeaders(response.headers)
            if response.status == 304, headers["If-None-Match"] != nil || headers["If-Modified-Since"] != nil {
                return .unchanged(facts)
            }
            guard (200...299).contains(response.status) else { throw Self.refusal(status: response.status, of: url) }
            if let length = response.contentLength, length > UInt64(Catalog.maximumManifestSize) {
                throw CatalogError.manifestTooLarge(url: url)
            }
            let data = try await response.body.collect(upTo: Catalog.maximumManifestSize)
            if response.headers["Content-Type"]?.lowercased().hasPrefix("text/html") == true {
                throw CatalogError(
                    .notAManifest, "\(url.shown) is no manifest: a web page came instead",
                    context: ErrorContext(
                        url: url.shown, expected: "application/json", found: "text/html",
                        remedy: "Check the address, and whether this network wants a log-in first."))
            }
            return .manifest(data, response.url, facts)
        } catch let error as HTTPError {
            throw Self.failure(error, of: url)
        }
    }

    /// What an answer that is no success means.
    private static func refusal(status: Int, of url: URL) -> CatalogError {
        let isPassing = status >= 500 || [408, 425, 429].contains(status)
        let (reason, remedy): (String, String) =
            switch status {
            case 401, 403: ("access denied", "Check the address and the right to read it.")
            case 404, 410: ("nothing there", "Check the address; it usually ends in models.json.")
            case 429: ("too many requests", "Try again later.")
            case 500...: ("the server has a problem", "Try again later.")
            default: ("an unexpected answer", isPassing ? "Try again later." : "Check the address.")
            }
        return CatalogError(
            isPassing ? .originUnreachable : .originRefused, "\(url.shown) answered \(status): \(reason)",
            context: ErrorContext(url: url.shown, expected: "200", found: "\(status)", remedy: remedy),
            disposition: isPassing ? .tryLater : .failed)
    }

    private static func failure(_ error: HTTPError, of url: URL) -> any Error {
        switch error.code {
        case .cannotResolve, .cannotConnect, .timedOut, .connectionLost:
            let reason =
                error.code == .timedOut ? "it did not answer within \(timeout.components.seconds) s" : error.message
            return CatalogError(
                .originUnreachable, "\(url.shown) cannot be reached: \(reason)",
                context: ErrorContext(
                    url: url.shown, remedy: "Check the address and the network; installed models keep working."),
                disposition: .tryLater, underlying: error)
        case .tooLarge: return CatalogError.manifestTooLarge(url: url)
        default: return error
        }
    }
}

/// What a server said of a manifest in its headers.
struct ManifestHeaders: Sendable, Hashable {
    let validators: CatalogValidators
    let cacheControl: String?

    init(_ headers: HTTPHeaders) {
        cacheControl = headers["Cache-Control"]
        validators = CatalogValidators(
            entityTag: headers["ETag"], lastModified: headers["Last-Modified"],
            mustRevalidate: CatalogValidators.mustRevalidate(cacheControl: cacheControl))
    }
}
