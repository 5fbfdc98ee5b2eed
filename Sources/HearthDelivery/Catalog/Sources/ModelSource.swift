import Foundation
import HearthBase

/// A place that lists releases: an origin's manifest, a repository of a hub, a folder that came with the app.
public protocol ModelSource: Sendable {
    /// The name for people.
    var name: String { get }

    /// What the place has.
    /// - Throws: ``CatalogError``, `HTTPError`, `FileError`, `CancellationError`.
    func listing(_ wish: ListingWish) async throws -> CatalogListing
}

/// How new a list has to be.
public enum ListingWish: Sendable, Hashable {
    /// As new as the place itself demands.
    case asPublished
    /// Asked for anew, whatever the place allows.
    case now
}

/// What a source had to say.
public struct CatalogListing: Sendable, Hashable {
    /// How new the list is.
    public enum Standing: Sendable, Hashable {
        /// It came just now.
        case fetched
        /// The source said just now that it is unchanged.
        case revalidated
        /// It was asked for at that moment, and is good for longer than that.
        case fresh(since: Date)
        /// The source does not answer: this is the last good copy, of that moment, and why it has to do.
        case kept(since: Date, because: String)
        /// It came with the app.
        case bundled
    }

    public let catalog: Catalog
    /// The source's name.
    public let source: String
    /// Where the list is, for the receipt.
    public let location: URL
    public let standing: Standing

    /// A list of the given facts.
    public init(catalog: Catalog, source: String, location: URL, standing: Standing) {
        self.catalog = catalog
        self.source = source
        self.location = location
        self.standing = standing
    }
}

/// The last list of a source that does not answer: it has to do.
public struct KeptList: Sendable, Hashable {
    /// The source's name.
    public let source: String
    /// When the list was good.
    public let since: Date
    /// Why there is no newer one.
    public let reason: String

    /// What a standing says of a source; `nil` for a list that is as new as the source wants it.
    public init?(_ source: String, _ standing: CatalogListing.Standing) {
        guard case .kept(let since, let reason) = standing else { return nil }
        self.source = source
        self.since = since
        self.reason = reason
    }

    /// What a person has to know of it.
    public var sentence: String { "\(source): \(reason). Its list of \(since.timestamp) has to do." }
}
