import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery

extension LibraryDesk {
    /// The models of the catalog and of the Hub whose names hold words; without words, the whole catalog and no request. A Hub
    /// that gives no answer leaves the catalog.
    func search(_ words: String) async throws -> FoundModelsBody {
        let manager = hearth.manager
        let parts = words.split(whereSeparator: \.isWhitespace).map(String.init)
        let installed = try await manager.installed()
        if suggested.isEmpty { await readCatalog() }
        var body = FoundModelsBody(
            catalog: ReleaseRow.catalog(suggested, installed: installed).filter { $0.matches(parts) }, hub: [])
        guard !parts.isEmpty else { return body }
        do {
            let result = try await manager.search(words)
            body.hub = result.rows
            body.estimates = result.problem.map { LibraryFailure.shown($0) }
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as CatalogError where error.disposition == .usage {
            throw error
        } catch {
            body.problem = LibraryFailure.shown(error)
        }
        return body
    }
}
