import Foundation
import HearthBase
import HearthHTTP

/// The manifest of a signed origin: its metadata lies in `metadata/` beside it, its signed bytes in
/// `targets/<sha256>.models.json`.
///
/// ```
/// <home>/trust/<key of the origin, see Origin.trustKey>/
///   root.json, …    the trusted metadata, see TrustStore
///   pinned          the SHA-256 of the root that the configuration gave last
///   list/<key>/     the last signed list, see CatalogCache
/// ```
/// The folder stays when the configuration no longer names the root: an origin that was signed once is never read
/// unsigned again.
struct SignedManifest: Sendable {
    /// The last signed list.
    struct Copy: Sendable {
        var record: CachedCatalog.Record
        var data: Data
        /// When the first of the four roles expires.
        var expires: Date?
    }

    private let origin: Origin
    private let store: TrustStore
    private let cache: CatalogCache
    private let http: any HTTPClient
    private let time: TimeSource

    init(_ origin: Origin, folder: Path, http: any HTTPClient, fileSystem: any FileSystem, time: TimeSource) {
        self.origin = origin
        self.http = http
        self.time = time
        store = origin.trustStore(in: folder, fileSystem: fileSystem)
        cache = CatalogCache(folder: store.folder.appending("list"), fileSystem: fileSystem)
    }

    /// Whether only signed lists are accepted: the device has a root of the origin, or the configuration gives one.
    /// A configured fingerprint is looked for among the origin's roots, once.
    /// - Throws: ``TrustError`` for a configured root that is malformed, not signed by its own keys or not found; as
    ///   ``current(_:)``.
    func isExpected() async throws -> Bool {
        if origin.root == nil, let digest = origin.rootDigest { try await adopt(digest) }
        return try await blocking { [store, origin, now = time.now] in
            if let root = origin.root { try store.pin(root, now: now) }
            return try store.isSigned()
        }
    }

    private func adopt(_ digest: SHA256Digest) async throws {
        let now = time.now
        if try await blocking({ [store] in try store.isPinned(digest, now: now) }) { return }
        guard let root = try await origin.roots(http).root(digest) else {
            let url = origin.manifestURL.shown
            throw TrustError(
                .noTrustedRoot, "no root of \(url) has the configured fingerprint",
                context: ErrorContext(
                    url: url, expected: digest.hex, remedy: "Compare the fingerprint with the publisher's."))
        }
        try await blocking { [store] in try store.pin(root.data, now: now) }
    }

    /// The last signed list, `nil` if there is none or it is damaged.
    func copy() async -> Copy? {
        do {
            return try await blocking { [cache, origin, store] in
                guard let copy = try cache.read(origin) else { return nil }
                return Copy(record: copy.record, data: copy.data, expires: try store.expiry())
            }
        } catch {
            Log.write(.warning, "the signed copy of \(origin.manifestURL.shown) cannot be used: \(error)")
            return nil
        }
    }

    /// Refreshes the metadata, and downloads the list unless the copy has its bytes.
    /// - Returns: the list, and whether its bytes are new.
    /// - Throws: ``TrustError``, ``CatalogError``, `HTTPError`, `FileError`, `CancellationError`.
    func current(_ copy: Copy?) async throws -> (Copy, isNew: Bool) {
        let url = origin.manifestURL
        var session = try await TrustSession(metadata: origin.metadataURL, http: http, store: store, time: time)
        try await session.refresh()
        let file = try await session.find(url.fileName)
        let now = time.now
        if let copy, file.length == UInt64(copy.data.count), file.digests.match(copy.data) {
            var record = copy.record
            record.checked = now
            return (await keep(record, copy.data), false)
        }
        let data = try await session.download(
            file, below: origin.targetsURL, limit: Catalog.maximumManifestSize)
        let record = CachedCatalog.Record(
            location: url.withoutSecrets ?? url, asked: SHA256Digest(hashing: Array(url.absoluteString.utf8)),
            digest: SHA256Digest(hashing: data), validators: CatalogValidators(), fetched: now, checked: now,
            serial: nil)
        return (await keep(record, data), true)
    }

    /// Keeps a list; a failure to write is only logged.
    private func keep(_ record: CachedCatalog.Record, _ data: Data) async -> Copy {
        do {
            return try await blocking { [cache, origin, store] in
                if !origin.manifestURL.isFileURL {
                    _ = try cache.keep(CachedCatalog(record: record, data: data), of: origin)
                }
                return Copy(record: record, data: data, expires: try store.expiry())
            }
        } catch {
            Log.write(.warning, "no copy of \(origin.manifestURL.shown) is kept: \(error)")
            return Copy(record: record, data: data, expires: nil)
        }
    }
}
