import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer

/// The models of a manager, and those that the setting `library.models` lists: a repository of the Hub or an address is a row
/// before it was ever pulled.
package actor ListedDelivery: ModelDelivering {
    let manager: ModelManager
    private let references: @Sendable () async throws -> [String]
    /// The offers of references that were asked before.
    private var known: [String: OfferedModel] = [:]

    /// - Parameter references: reads the setting.
    package init(_ manager: ModelManager, references: @escaping @Sendable () async throws -> [String]) {
        self.manager = manager
        self.references = references
    }

    package func localModels() async throws -> [LocalModel] { try await manager.localModels() }

    package func offeredModels(_ policy: CachePolicy) async throws -> OfferedModels {
        let wanted = try await references()
        var found: OfferedModels
        do {
            found = try await manager.offeredModels(policy)
        } catch let error where !wanted.isEmpty && !(error is CancellationError) {
            // The listed models are offered without the origins too.
            found = OfferedModels(models: [], problem: error)
        }
        let here = Set(try await manager.localModels().map(\.model.id))
        for text in wanted {
            do {
                let offer = try await offer(text, refresh: policy == .now)
                let family = offer.model.id
                found.listed[family] = text
                // An installed model is offered by its own source.
                if !here.contains(family), !found.models.contains(where: { $0.model.id == family }) {
                    found.models.append(offer)
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                found.problem = found.problem ?? error
            }
        }
        known = known.filter { wanted.contains($0.key) }
        return found
    }

    private func offer(_ text: String, refresh: Bool) async throws -> OfferedModel {
        if !refresh, let offer = known[text] { return offer }
        let offer = try await Self.offer(text, manager)
        known[text] = offer
        return offer
    }

    /// The model that a reference means, without fetching it.
    /// - Throws: `CatalogError`, `DeliveryError`, `HTTPError`.
    package static func offer(_ text: String, _ manager: ModelManager) async throws -> OfferedModel {
        var options = PullOptions()
        // The row says why the device cannot have the model.
        options.ignoreMemory = true
        // A list that no setting names as an origin is found by its address alone.
        let offer = try await manager.resolve(ModelReference(parsing: text), options: options).exactlyReferenced()
        var model = OfferedModel(ModelInfo(offer.release, reference: offer.reference), objection: offer.objection)
        // A repository that a person names is of any format; a row is about engines of this program.
        if let formats = manager.formats, !formats.contains(model.model.format) {
            model.objection = .noEngine(model.model.format)
        }
        return model
    }

    package func remove(_ model: ModelInfo) async throws { try await manager.remove(model.id) }
    package func rollBack(_ family: Family) async throws { try await manager.rollback(family) }
    package func changes() async -> AsyncStream<LibraryChange> { manager.changes() }
}
