import HearthBase

/// The answer of one source: its list or an error.
package struct SourceReport: Sendable {
    /// The source's name.
    package let source: String
    /// The configured origin; `nil` for bundled models.
    package let origin: Origin?
    package let outcome: Result<CatalogListing, any Error>

    /// Memberwise.
    package init(source: String, origin: Origin?, outcome: Result<CatalogListing, any Error>) {
        self.source = source
        self.origin = origin
        self.outcome = outcome
    }

    /// The listing, or `nil` if the source failed.
    package var listing: CatalogListing? { try? outcome.get() }  // reported if no other source has the model
}
