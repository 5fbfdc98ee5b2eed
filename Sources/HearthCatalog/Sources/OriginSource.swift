import Foundation
import HearthBase
import HearthHTTP

/// Lists the releases of an origin's manifest.
///
/// Requests are conditional and take at most ten seconds. A cached list is used for an hour, unless `Cache-Control`
/// forbids caching (`no-cache`, `no-store`). The last good copy always stays on disk. It is used, and the listing says
/// so, if the origin does not answer or the network answers in its place (with a web page, its own certificate or a
/// redirect to a log-in). A list with a lower serial than one seen before is refused.
///
/// If the device has a trusted root of the origin, ``SignedManifest`` decides which bytes are the list, and the versions
/// and the expiry of the metadata stand in place of the list's own.
package struct OriginSource: CatalogSource {
    package let origin: Origin
    private let family: Family?
    private let fetcher: CatalogFetcher
    private let cache: CatalogCache
    private let signed: SignedManifest
    private let time: TimeSource
    private let asksForRoot: Bool

    package var name: String { origin.name }

    /// A source that caches the manifest below `folder`, and keeps trusted metadata beside that folder in `trust`.
    /// - Parameters:
    ///   - family: the family of entries that name none.
    ///   - asksForRoot: whether a signed origin that this device sees for the first time is refused until a person
    ///     trusts its keys; otherwise it is read like an unsigned one.
    package init(
        _ origin: Origin, family: Family?, folder: Path, fetcher: CatalogFetcher, fileSystem: any FileSystem,
        time: TimeSource, asksForRoot: Bool = false
    ) {
        self.origin = origin
        self.family = family
        self.fetcher = fetcher
        cache = CatalogCache(folder: folder, fileSystem: fileSystem)
        signed = SignedManifest(
            origin, folder: folder.parent.appending("trust"), http: fetcher.http, fileSystem: fileSystem, time: time)
        self.time = time
        self.asksForRoot = asksForRoot
    }

    /// Lists the origin's releases.
    /// - Throws: ``CatalogError``: `origin-unreachable` if there is no usable copy; `catalog-rollback`; otherwise as
    ///   ``CatalogFetcher/ask(_:validators:)`` and the errors of the manifest. An error never removes the copy.
    package func listing(_ policy: CachePolicy) async throws -> CatalogListing {
        let url = origin.manifestURL
        if try await signed.isExpected() { return try await signedListing(policy) }
        if url.isFileURL {
            try await refuseUnknownKeys()
            // A local file needs no cached copy.
            return listing(try Self.catalog(of: try await fetcher.read(url), url, family), .fetched)
        }
        let (copy, seen) = await copy()
        // An origin that was read unsigned before stays so until a person decides: its publisher may have begun to sign.
        if copy == nil, seen == nil { try await refuseUnknownKeys() }
        // A list cached from another address of the origin, such as another channel, does not answer this request.
        let cached = copy.flatMap { $0.stored.record.asked == Self.digest(of: url) ? $0 : nil }
        if let cached, policy.accepts(cached.stored.record, now: time.now) {
            return listing(cached.catalog, .fresh(since: cached.stored.record.checked))
        }
        do {
            switch try await fetcher.ask(url, validators: cached?.stored.record.validators) {
            case .unchanged(let received):
                guard let cached else { throw CatalogError.refusal(status: 304, of: url) }
                return await revalidated(cached, received)
            case .manifest(let data, let location, let validators):
                return try await renewed(data, location, validators, seen: seen)
            }
        } catch let error as any HearthFailure where Self.isSilence(error) {
            guard let copy else { throw error }
            Log.write(.info, "using the cached list of \(url.shown): \(error)")
            return listing(copy.catalog, .cached(since: copy.stored.record.checked, because: error.message))
        }
    }

    /// Lists the releases of a signed origin.
    private func signedListing(_ policy: CachePolicy) async throws -> CatalogListing {
        let copy = await signed.copy()
        if let copy, policy.accepts(copy.record, now: time.now) {
            return listing(
                try signedCatalog(copy), .fresh(since: copy.record.checked), signedUntil: copy.expires)
        }
        do {
            let (current, isNew) = try await signed.current(copy)
            return listing(
                try signedCatalog(current), isNew ? .fetched : .revalidated, signedUntil: current.expires)
        } catch let error as any HearthFailure where Self.isSilence(error) {
            guard let copy else { throw error }
            Log.write(.info, "using the cached list of \(origin.manifestURL.shown): \(error)")
            return listing(
                try signedCatalog(copy), .cached(since: copy.record.checked, because: error.message),
                signedUntil: copy.expires)
        }
    }

    private func signedCatalog(_ copy: SignedManifest.Copy) throws -> Catalog {
        var catalog = try Self.catalog(of: copy.data, copy.record.location, family)
        catalog.serial = nil
        catalog.expires = copy.expires
        return catalog
    }

    /// Refuses a signed origin whose keys no person and no configuration has trusted yet.
    private func refuseUnknownKeys() async throws {
        guard asksForRoot else { return }
        let root: OfferedRoot?
        do {
            root = try await origin.roots(fetcher.http).newest()
        } catch let error as any HearthFailure {
            // The request for the list reports an origin that does not answer. A web page is not a root.
            Log.write(.info, "\(origin.manifestURL.shown) offers no root: \(error)")
            return
        }
        guard let root else { return }
        throw TrustError.unknownKeys(origin.manifestURL, root.fingerprint)
    }

    private func listing(_ catalog: Catalog, _ freshness: Freshness, signedUntil: Date? = nil) -> CatalogListing {
        CatalogListing(
            catalog: catalog, source: name, location: origin.manifestURL, freshness: freshness, signedUntil: signedUntil
        )
    }

    /// Whether an error means that the origin itself did not answer.
    private static func isSilence(_ error: any HearthFailure) -> Bool {
        switch error {
        case let error as CatalogError:
            error.code == .originUnreachable || (error.code == .notAManifest && error.context.found == "text/html")
        case let error as TrustError: error.code == .trustBusy
        // A captive portal or another intermediary can cause these errors for an `https` origin.
        case let error as HTTPError: [.tlsFailure, .insecureRedirect, .tooManyRedirects].contains(error.code)
        default: false
        }
    }

    private static func digest(of url: URL) -> SHA256Digest { SHA256Digest(hashing: Array(url.absoluteString.utf8)) }

    /// Turns an origin's bytes, fetched or cached, into a catalog. The only such place: bytes are verified before this
    /// call.
    private static func catalog(of data: Data, _ location: URL, _ family: Family?) throws -> Catalog {
        try Catalog(manifest: data, url: location, familyHint: family)
    }

    // MARK: - The cached copy

    private struct Copy: Sendable {
        var stored: CachedCatalog
        var catalog: Catalog
    }

    /// The usable cached copy, if any, and the highest serial seen.
    private func copy() async -> (Copy?, seen: UInt64?) {
        let url = origin.manifestURL
        do {
            return try await blocking { [cache, origin, family] in
                // The serial counts even if the manifest's bytes are lost.
                let seen = try cache.serial(origin)
                do {
                    guard let copy = try cache.read(origin) else { return (nil, seen) }
                    let catalog = try Self.catalog(of: copy.data, copy.record.location, family)
                    return (Copy(stored: copy, catalog: catalog), [seen, catalog.serial].compactMap(\.self).max())
                } catch {
                    Log.write(.warning, "the copy of \(url.shown) cannot be used: \(error)")
                    return (nil, seen)
                }
            }
        } catch {
            Log.write(.warning, "the copy of \(url.shown) cannot be used: \(error)")
            return (nil, nil)
        }
    }

    private func revalidated(_ copy: Copy, _ received: CatalogValidators) async -> CatalogListing {
        var stored = copy.stored
        stored.record.checked = time.now
        // A 304 repeats only the headers that change; the others stay.
        if let mustRevalidate = received.mustRevalidate {
            stored.record.validators.mustRevalidate = mustRevalidate
        }
        await keep(stored)
        return listing(copy.catalog, .revalidated)
    }

    private func renewed(
        _ data: Data, _ location: URL, _ validators: CatalogValidators, seen: UInt64?
    ) async throws -> CatalogListing {
        let catalog = try Self.catalog(of: data, location, family)
        let url = origin.manifestURL
        guard !Catalog.isRollback(serial: catalog.serial, seen: seen) else {
            throw CatalogError(
                .catalogRollback, "\(url.shown) offers an older catalog than this device has seen from it",
                context: ErrorContext(
                    url: url.shown, field: "serial", expected: "at least \(seen ?? 0)",
                    found: catalog.serial.map { "\($0)" } ?? "none",
                    remedy:
                        "What is installed keeps working. Ask the publisher, since updates may be held back on the way."
                ))
        }
        guard let place = location.withoutSecrets else { return listing(catalog, .fetched) }
        await keep(
            CachedCatalog(
                record: CachedCatalog.Record(
                    location: place, asked: Self.digest(of: url), digest: SHA256Digest(hashing: data),
                    validators: validators, fetched: time.now, checked: time.now, serial: catalog.serial),
                data: data))
        return listing(catalog, .fetched)
    }

    /// Caches a copy; a failure to write is only logged.
    private func keep(_ copy: CachedCatalog) async {
        let url = origin.manifestURL
        do {
            try await blocking { [cache, origin] in _ = try cache.keep(copy, of: origin) }
        } catch {
            Log.write(.warning, "no copy of \(url.shown) is kept: \(error)")
        }
    }
}
