import Foundation
import HearthBase
import HearthHTTP

/// An origin's manifest as a place that lists releases.
///
/// Asked with the conditions its last answer gave, within ten seconds. What `Cache-Control` forbids to keep (`no-cache`,
/// `no-store`) is asked for every time, anything else once an hour. The last good copy is kept on the disk in any case: an
/// origin that does not answer, or a network that answers in its place (with a web page, a certificate of its own or the way
/// to a log-in), is answered for by that copy, and the listing says so. A list whose serial is lower than one seen before is refused.
public struct OriginSource: ModelSource {
    public let origin: Origin
    private let family: Family?
    private let fetcher: CatalogFetcher
    private let kept: KeptCatalogs
    private let time: TimeSource

    public var name: String { origin.name }

    /// A source that keeps its copies below `folder`.
    /// - Parameter family: the family of entries that name none.
    init(
        _ origin: Origin, family: Family?, folder: Path, fetcher: CatalogFetcher, fileSystem: any FileSystem,
        time: TimeSource
    ) {
        self.origin = origin
        self.family = family
        self.fetcher = fetcher
        kept = KeptCatalogs(folder: folder, fileSystem: fileSystem)
        self.time = time
    }

    /// What the origin lists.
    /// - Throws: ``CatalogError``: `origin-unreachable` where no copy can stand in; `catalog-rollback`; otherwise as
    ///   ``CatalogFetcher/fetch(_:familyHint:)``. The copy stays whatever is thrown.
    public func listing(_ wish: ListingWish) async throws -> CatalogListing {
        let url = origin.manifestURL
        if url.isFileURL {
            // A file of this machine is its own copy.
            let fetched = try await fetcher.fetch(url, familyHint: family)
            return listing(fetched.catalog, .fetched)
        }
        let (copy, seen) = await copy()
        guard case .ask(let validators) = CatalogFreshness.step(kept: copy?.kept.record, now: time.now, wish: wish)
        else {
            return listing(copy?.catalog ?? Catalog(releases: []), .fresh(since: copy?.kept.record.checked ?? time.now))
        }
        do {
            switch try await fetcher.ask(url, validators: validators) {
            case .unchanged(let headers):
                guard let copy else { throw Self.unexpected(url) }
                return await revalidated(copy, headers)
            case .manifest(let data, let location, let headers):
                return try await renewed(data, location, headers, seen: seen)
            }
        } catch let error as any HearthFailure where Self.isSilence(error) {
            guard let copy else { throw error }
            Log.write(.info, "delivery.catalog", "the copy of \(url.shown) has to do: \(error)")
            return listing(copy.catalog, .kept(since: copy.kept.record.checked, because: error.message))
        }
    }

    private func listing(_ catalog: Catalog, _ standing: CatalogListing.Standing) -> CatalogListing {
        CatalogListing(catalog: catalog, source: name, location: origin.manifestURL, standing: standing)
    }

    /// Whether an error says that the origin itself said nothing.
    private static func isSilence(_ error: any HearthFailure) -> Bool {
        switch error {
        case let error as CatalogError:
            error.code == .originUnreachable || (error.code == .notAManifest && error.context.found == "text/html")
        // What stands between this device and an `https` origin can do no better than this.
        case let error as HTTPError: [.tlsFailure, .insecureRedirect, .tooManyRedirects].contains(error.code)
        default: false
        }
    }

    private static func unexpected(_ url: URL) -> CatalogError {
        CatalogError(
            .originRefused, "\(url.shown) says that nothing changed, but nobody asked that",
            context: ErrorContext(url: url.shown, expected: "200", found: "304"))
    }

    // MARK: - The kept copy

    private struct Copy: Sendable {
        var kept: KeptCatalog
        var catalog: Catalog
    }

    /// The copy that is there, if it can be used, and the highest serial seen.
    private func copy() async -> (Copy?, seen: UInt64?) {
        let url = origin.manifestURL
        do {
            return try await blocking { [kept, family] in
                // A copy whose bytes are lost still knows how far the origin had come.
                let seen = try kept.serial(url)
                do {
                    guard let copy = try kept.read(url) else { return (nil, seen) }
                    let catalog = try Catalog(
                        manifest: copy.data, url: copy.record.location, familyHint: family)
                    return (Copy(kept: copy, catalog: catalog), [seen, catalog.serial].compactMap(\.self).max())
                } catch {
                    Log.write(.warning, "delivery.catalog", "the copy of \(url.shown) cannot be used: \(error)")
                    return (nil, seen)
                }
            }
        } catch {
            Log.write(.warning, "delivery.catalog", "the copy of \(url.shown) cannot be used: \(error)")
            return (nil, nil)
        }
    }

    private func revalidated(_ copy: Copy, _ headers: ManifestHeaders) async -> CatalogListing {
        var kept = copy.kept
        kept.record.checked = time.now
        // A 304 repeats what it wants changed; what it leaves out stays.
        if let control = headers.cacheControl {
            kept.record.validators.mustRevalidate = CatalogValidators.mustRevalidate(cacheControl: control)
        }
        await keep(kept)
        return listing(copy.catalog, .revalidated)
    }

    private func renewed(
        _ data: Data, _ location: URL, _ headers: ManifestHeaders, seen: UInt64?
    ) async throws -> CatalogListing {
        let catalog = try Catalog(manifest: data, url: location, familyHint: family)
        let url = origin.manifestURL
        guard !CatalogFreshness.isRollback(serial: catalog.serial, seen: seen) else {
            throw CatalogError(
                .catalogRollback, "\(url.shown) offers an older catalog than this device has seen from it",
                context: ErrorContext(
                    url: url.shown, field: "serial", expected: "at least \(seen ?? 0)",
                    found: catalog.serial.map { "\($0)" } ?? "none",
                    remedy:
                        "What is installed keeps working. Ask the publisher, since somebody may be holding updates back."
                ))
        }
        guard let place = Self.withoutSecrets(location) else { return listing(catalog, .fetched) }
        await keep(
            KeptCatalog(
                record: KeptCatalog.Record(
                    location: place, digest: SHA256Digest(hashing: data), validators: headers.validators,
                    fetched: time.now, checked: time.now, serial: catalog.serial),
                data: data))
        return listing(catalog, .fetched)
    }

    /// A disk that keeps no copy is no reason not to use what came.
    private func keep(_ copy: KeptCatalog) async {
        let url = origin.manifestURL
        do {
            try await blocking { [kept] in _ = try kept.keep(copy, of: url) }
        } catch {
            Log.write(.warning, "delivery.catalog", "no copy of \(url.shown) is kept: \(error)")
        }
    }

    private static func withoutSecrets(_ url: URL) -> URL? {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.url
    }
}
