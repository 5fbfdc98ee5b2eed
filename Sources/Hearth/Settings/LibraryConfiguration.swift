import Foundation

/// The settings `library.*`.
package struct LibraryConfiguration: Sendable, Hashable {
    /// The models that lists show before they were ever on the device: repositories of the Hub and addresses.
    package var models: [String] = []
}

/// The settings `catalog.*`.
package struct CatalogConfiguration: Sendable, Hashable {
    /// Whether the models of the compiled catalog can be pulled by their short names.
    package var isShipped = true
    /// The address of a newer catalog.
    package var url: URL?

    /// The name of the newer catalog's origin: `trust.catalog` holds the root of its keys.
    package static let originName = "catalog"
}
