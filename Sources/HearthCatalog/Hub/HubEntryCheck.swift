import Foundation
import HearthBase
import HearthHTTP

/// Asks a hub whether the repositories of a list of models are still there, and may be downloaded without an account.
package struct HubEntryCheck: Sendable {
    private let client: HubClient

    package init(http: any HTTPClient, settings: HubSettings) {
        client = HubClient(http: http, settings: settings)
    }

    /// The models that can no longer be pulled, with the reasons, in the order of the list.
    /// - Throws: ``CatalogError`` with `origin-unreachable`; `HTTPError`; `CancellationError`.
    package func missing(_ models: [HubModel]) async throws -> [(model: HubModel, error: CatalogError)] {
        try await withThrowingTaskGroup(of: (Int, CatalogError?).self) { group in
            var next = 0
            func ask() {
                guard next < models.count else { return }
                let (index, model) = (next, models[next])
                next += 1
                group.addTask { (index, try await problem(of: model)) }
            }
            for _ in 0..<HubSearch.parallelRequests { ask() }
            var found: [(Int, CatalogError)] = []
            while let (index, error) = try await group.next() {
                if let error { found.append((index, error)) }
                ask()
            }
            return found.sorted { $0.0 < $1.0 }.map { (models[$0.0], $0.1) }
        }
    }

    private func problem(of model: HubModel) async throws -> CatalogError? {
        do {
            let repository = try await client.repository(model.repository)
            if repository.isGated {
                return CatalogError(.repositoryGated, "\(model.repository.path) is gated")
            }
            guard repository.holdsGGUF != false else {
                return CatalogError(.noKnownModel, "\(model.repository.path) has no GGUF file")
            }
            return nil
        } catch let error as CatalogError where error.disposition != .tryLater {
            return error
        }
    }
}
