import Foundation
import HearthBase
import HearthHTTP

/// Lists the releases of a hub's repository: the files of a revision's current commit.
///
/// Every file has a digest from the hub: its SHA-256, or git's object ID for small files. Releases are named after
/// repository and commit, so a branch that moves gives a new version.
package struct HubSource: CatalogSource {
    package let reference: HubReference
    private let client: HubClient
    private let cache: Path?

    package var name: String { reference.description }

    /// The source of a reference.
    package init(
        _ reference: HubReference, http: any HTTPClient = DefaultHTTPClient(), settings: HubSettings
    ) {
        self.reference = reference
        client = HubClient(http: http, settings: settings)
        cache = settings.cacheFolder
    }

    /// Lists the repository's current files; never cached.
    /// - Throws: ``CatalogError`` with `repository-missing`, `repository-gated`, `unknown-revision`, `unknown-file`,
    ///   `no-known-model`, `hub-answer-invalid`, `origin-unreachable` or `origin-refused`; `HTTPError`;
    ///   `CancellationError`.
    package func listing(_ policy: CachePolicy) async throws -> CatalogListing {
        let repository = try await client.repository(reference)
        let files = try await client.files(reference, at: repository.commit)
        let snapshot = HubSnapshot(reference: reference, repository: repository, files: files)
        let known = Dictionary(files.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var catalog = Catalog(releases: try snapshot.releases())
        catalog.isOrdered = false
        for index in catalog.releases.indices {
            try place(&catalog.releases[index].file, known, repository)
            for companion in catalog.releases[index].companions.indices {
                try place(&catalog.releases[index].companions[companion], known, repository)
            }
        }
        if let index = catalog.releases.firstIndex(where: { $0.format.isSafetensors }),
            let configuration = catalog.releases[index].companions.first(where: { $0.name.string == "config.json" })
        {
            let facts = try await client.facts(configuration.name, reference, at: repository.commit)
            if facts.seesImages { catalog.releases[index].role = .vision }
            if facts.isQuantizedByMLX { catalog.releases[index].format = .mlx }
        }
        if let first = catalog.releases.first {
            catalog.current[first.identity.family] = first.identity.version
            // A gated repository lists its files publicly but may refuse a download: check access before it starts.
            if repository.isGated { try await client.check(first.file.name, reference, at: repository.commit) }
        }
        return CatalogListing(
            catalog: catalog, source: name, location: try client.page(reference, at: repository.commit),
            freshness: .fetched)
    }

    /// Sets the addresses of a file, and its possible places in the local cache.
    private func place(
        _ file: inout RemoteFile, _ known: [String: HubFile], _ repository: HubRepository
    ) throws(CatalogError) {
        file.locations = [try client.location(of: file.name, reference, at: repository.commit)]
        file.isPublic = !repository.isGated
        if let cache, let hubFile = known[file.name.string] {
            file.copies = hubFile.places(in: cache, of: reference, at: repository.commit)
        }
    }
}
