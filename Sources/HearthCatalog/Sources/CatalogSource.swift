import Foundation
import HearthBase

/// A place that lists releases: an origin's manifest, a hub repository, or a folder bundled with the app.
package protocol CatalogSource: Sendable {
    /// The name shown to people.
    var name: String { get }

    /// Lists the releases.
    /// - Throws: ``CatalogError``, `HTTPError`, `FileError`, `CancellationError`.
    func listing(_ policy: CachePolicy) async throws -> CatalogListing
}

/// Whether a cached list may be used without asking the source.
public enum CachePolicy: Sendable, Hashable {
    /// Use a cached list for up to an hour, unless its server forbids that.
    case asPublished
    /// Always ask the source.
    case now
}

/// How recent a list is.
package enum Freshness: Sendable, Hashable {
    /// Downloaded just now.
    case fetched
    /// The source confirmed just now that the list is unchanged.
    case revalidated
    /// Confirmed by the source at that time, and still valid.
    case fresh(since: Date)
    /// The source does not answer: the last good copy, from that time, with the reason.
    case cached(since: Date, because: String)
    /// Bundled with the app.
    case bundled
}

/// The answer of a source.
package struct CatalogListing: Sendable, Hashable {
    package let catalog: Catalog
    /// The source's name.
    package let source: String
    /// The address of the list.
    package let location: URL
    package let freshness: Freshness
    /// When the first signature of a signed origin expires; `nil` for an unsigned list.
    package var signedUntil: Date?

    /// The source as an origin: its name and the address of the list.
    package var origin: Origin { Origin(name: source, manifestURL: location) }
}

/// A cached list used because its source does not answer.
public struct CachedList: Sendable, Hashable {
    /// The source's name.
    public let source: String
    /// When the source last confirmed the list.
    public let since: Date
    /// Why the source gave no newer list.
    public let reason: String

    /// Describes the cached list of a source; `nil` unless the freshness is `cached`.
    package init?(_ source: String, _ freshness: Freshness) {
        guard case .cached(let since, let reason) = freshness else { return nil }
        self.source = source
        self.since = since
        self.reason = reason
    }

    /// A sentence for people.
    public var sentence: String { "\(source): \(reason). Using the list cached on \(since.timestamp)." }
}
