import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore

/// Asks the places that list releases: configured origins, bundled folders, and repositories of hubs and registries.
struct CatalogSources: Sendable {
    let origins: [Origin]
    let bundled: [BundledSource]
    /// The models of the Hub with short names; `nil` for none.
    let shipped: ShippedCatalog?
    /// The settings of the hub, or why they are unusable: only requests to the hub throw that.
    let hub: Result<HubSettings, CatalogError>?
    let http: any HTTPClient
    /// Asks OCI registries.
    let registries: RegistryClient
    /// The folder of cached catalogs.
    let catalogs: Path
    let fileSystem: any FileSystem
    let time: TimeSource
    /// Whether signed origins are refused until a person trusts their keys.
    let asksForRoots: Bool

    /// Asks all configured origins and reads the bundled folders at the same time; reports come in the configured
    /// order.
    /// - Throws: ``DeliveryError`` with `no-origin` if there is neither; `CancellationError`.
    func reports(_ policy: CachePolicy) async throws -> [SourceReport] {
        guard !origins.isEmpty || !bundled.isEmpty else { throw Self.noOrigin }
        let sources: [(origin: Origin?, source: any CatalogSource)] =
            origins.map { ($0, source($0, family: Family($0.name.lowercased()))) } + bundled.map { (nil, $0) }
        return try await withThrowingTaskGroup(of: (Int, SourceReport).self) { group in
            for (index, entry) in sources.enumerated() {
                group.addTask {
                    let outcome = try await Self.outcome { try await entry.source.listing(policy) }
                    return (index, SourceReport(source: entry.source.name, origin: entry.origin, outcome: outcome))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Throws the first error of reports if none has a listing.
    static func requireListing(in reports: [SourceReport]) throws {
        if !reports.contains(where: { $0.listing != nil }) { _ = try reports.first?.outcome.get() }
    }

    /// The answer of a family's source: its repository, asked now, or the configured origins' reports.
    func answer(
        of source: ReleaseOrigin, for family: Family, in reports: [SourceReport]
    ) async throws -> ReleaseOrigin.Answer {
        guard let repository = source.repository else { return source.answer(for: family, in: reports) }
        return .listing(try await Self.outcome { try await self.source(repository).listing(.now) })
    }

    /// The listing or the error of a source.
    /// - Throws: `CancellationError`.
    private static func outcome(
        of listing: @Sendable () async throws -> CatalogListing
    ) async throws -> Result<CatalogListing, any Error> {
        do {
            return .success(try await listing())
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(error)
        }
    }

    /// An origin as a source that keeps its cached catalogs in this home.
    func source(_ origin: Origin, family: Family?) -> OriginSource {
        OriginSource(
            origin, family: family, folder: catalogs, fetcher: CatalogFetcher(http: http, fileSystem: fileSystem),
            fileSystem: fileSystem, time: time, asksForRoot: asksForRoots)
    }

    /// A repository of the configured hub, or of a registry.
    /// - Throws: `CatalogError` with `bad-endpoint`.
    func source(_ repository: RepositoryReference) throws -> any CatalogSource {
        switch repository {
        case .hub(let reference): HubSource(reference, http: http, settings: try hub?.get() ?? HubSettings())
        case .registry(let reference): RegistrySource(reference, client: registries)
        }
    }

    static var noOrigin: DeliveryError {
        DeliveryError(
            .noOrigin, "no origin is configured",
            context: ErrorContext(remedy: "Give the address of a models.json."))
    }
}
