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
        let place = folder.joined(origin.trustKey.hex)
        store = TrustStore(folder: place, fileSystem: fileSystem)
        cache = CatalogCache(folder: place.appending("list"), fileSystem: fileSystem)
    }

    /// Whether only signed lists are accepted: the device has a root of the origin, or the configuration gives one.
    /// - Throws: ``TrustError`` for a configured root that is malformed or not signed by its own keys; `FileError`.
    func isExpected() async throws -> Bool {
        try await blocking { [store, origin, now = time.now] in
            if let root = origin.root { try store.pin(root, now: now) }
            return try store.isSigned()
        }
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
        let folder = (url.withoutSecrets ?? url).deletingLastPathComponent()
        var session = try await TrustSession(
            metadata: folder.appending(path: "metadata", directoryHint: .isDirectory), http: http, store: store,
            time: time)
        try await session.refresh()
        let file = try await session.find(url.lastPathComponent)
        let now = time.now
        if let copy, file.length == UInt64(copy.data.count), file.digests.match(copy.data) {
            var record = copy.record
            record.checked = now
            return (await keep(record, copy.data), false)
        }
        let data = try await session.download(
            file, below: folder.appending(path: "targets", directoryHint: .isDirectory),
            limit: Catalog.maximumManifestSize)
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
