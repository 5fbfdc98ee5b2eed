import Foundation
import HearthBase
import HearthHTTP

/// One repository of a hub as a place that lists releases: the files of the commit that a revision stands for now.
///
/// Every file is known by the digest that the hub gives: its SHA-256, or for small files the name git gives their contents.
/// The releases are named after repository and commit, so that a branch that moves is another version.
public struct HubSource: ModelSource {
    public let reference: HubReference
    private let client: HubClient
    private let cache: HubCache?

    public var name: String { reference.description }

    /// The repository a reference names.
    public init(
        _ reference: HubReference, http: any HTTPClient = DefaultHTTPClient(), settings: HubSettings
    ) {
        self.reference = reference
        client = HubClient(http: http, settings: settings)
        cache = settings.cacheFolder.map { HubCache(folder: $0) }
    }

    /// What the repository holds now; a hub is asked every time.
    /// - Throws: ``CatalogError`` with `repository-missing`, `repository-gated`, `unknown-revision`, `unknown-file`,
    ///   `no-known-model`, `hub-answer-invalid`, `origin-unreachable` or `origin-refused`; `HTTPError`; `CancellationError`.
    public func listing(_ wish: ListingWish) async throws -> CatalogListing {
        let repository = try await client.repository(reference)
        let files = try await client.files(reference, at: repository.commit)
        let snapshot = HubSnapshot(reference: reference, repository: repository, files: files)
        let known = Dictionary(files.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var catalog = Catalog(releases: try snapshot.releases())
        catalog.versionRule = .different
        for index in catalog.releases.indices {
            try place(&catalog.releases[index].file, known, repository.commit)
            for companion in catalog.releases[index].companions.indices {
                try place(&catalog.releases[index].companions[companion], known, repository.commit)
            }
        }
        if let first = catalog.releases.first {
            catalog.current[first.identity.family] = first.identity.version
            // The facts of a gated repository are public, its files are not: better to hear that now than in the middle.
            if repository.isGated { try await client.check(first.file.name, reference, at: repository.commit) }
        }
        return CatalogListing(
            catalog: catalog, source: name, location: try client.page(reference, at: repository.commit),
            standing: .fetched)
    }

    /// Says where a file's bytes are.
    private func place(_ file: inout RemoteFile, _ known: [String: HubFile], _ commit: String) throws(CatalogError) {
        file.locations = [try client.location(of: file.name, reference, at: commit)]
        if let cache, let hubFile = known[file.name.string] {
            file.copies = cache.places(of: hubFile, in: reference, at: commit)
        }
    }
}
