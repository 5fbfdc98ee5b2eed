import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

// The names of "In-App Model Download": `ModelStorage`, `ModelManifest` and `ModelSource`. `AuthenticatedDownloader`
// is in HearthTransfer.

/// The source of a family's usable model: `none`, `bundled` or `downloaded`.
public typealias ModelSource = ModelAvailability

/// The files of downloaded models, and the comparison with their publisher's checksums.
public struct ModelStorage: Sendable {
    private let manager: ModelManager

    /// The storage of an app's models.
    public init(_ hearth: Hearth) { manager = hearth.manager }

    /// The folder of all models.
    public var directory: URL { manager.store.layout.models.url }

    /// The file with the weights of a model; `nil` if the model is not on this device.
    public func url(for model: ModelInfo) async throws -> URL? {
        try await manager.availability(of: model.id).weights?.url
    }

    /// Reads a model's files and compares them with their SHA-256.
    /// - Returns: whether all of them match.
    /// - Throws: `StoreError` with `not-installed`.
    public func validate(_ model: ModelInfo) async throws -> Bool {
        try await manager.verify(try await manager.installed(model.id).identity).isIntact
    }

    /// Deletes a model's files.
    /// - Throws: `StoreError` with `not-installed`, `release-in-use`.
    public func delete(_ model: ModelInfo) async throws { _ = try await manager.remove(model.id) }
}

/// A publisher's list of models, as its `models.json` has it; a copy is used for an hour.
public struct ModelManifest: Sendable, Hashable {
    /// The version of the list's format.
    public let schemaVersion = Int(Catalog.schemaVersion)
    /// The models of the list.
    public let models: [ModelInfo]
    /// The publisher's choice among the versions of the list's only family; `nil` for the newest.
    public let currentVersion: ReleaseVersion?

    /// Fetches the list of an origin.
    /// - Throws: `CatalogError`, `HTTPError`, `CancellationError`.
    public static func fetch(_ origin: Origin, for hearth: Hearth) async throws -> Self {
        let listing = try await hearth.manager.listing(of: origin)
        let families = listing.catalog.families
        return Self(
            models: listing.catalog.releases.map { ModelInfo($0) },
            currentVersion: families.count == 1 ? listing.catalog.current[families[0]] : nil)
    }
}
