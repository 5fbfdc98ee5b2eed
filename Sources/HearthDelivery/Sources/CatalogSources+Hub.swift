import Foundation
import HearthBase
import HearthCatalog

/// The models of the Hub that the catalog lists by short names.
package struct ListedHubModels: Sendable {
    package var models: [HubModel]
    /// Why the newer list of the settings is not used; `nil` if there is none, or it is.
    package var problem: (any Error)?
}

extension CatalogSources {
    /// The models of the catalog: its newer list if that can be had, else the compiled one.
    /// - Returns: `nil` if the catalog is off.
    /// - Throws: `CancellationError`.
    func hubModels(_ policy: CachePolicy = .asPublished) async throws -> ListedHubModels? {
        guard let shipped else { return nil }
        guard let origin = shipped.origin else { return ListedHubModels(models: shipped.newest(nil)) }
        do {
            let listing = try await source(origin, family: nil).listing(policy)
            return ListedHubModels(models: shipped.newest(listing.catalog))
        } catch let error as CancellationError {
            throw error
        } catch {
            Log.write(.warning, "catalog", "the newer catalog is not used: \(error)")
            return ListedHubModels(models: shipped.newest(nil), problem: error)
        }
    }

    /// The models of a hub by the words of a search.
    /// - Throws: as ``HubSearch/rows(_:)``; `bad-endpoint`.
    func search(_ words: String, rule: QuantizationRule) async throws -> HubSearchResult {
        try await HubSearch(http: http, settings: try hub?.get() ?? HubSettings(), rule: rule).rows(words)
    }
}
