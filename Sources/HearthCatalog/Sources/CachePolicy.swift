import Foundation
import HearthHTTP

/// The HTTP headers that decide when a cached manifest is asked for again, and how.
package struct CatalogValidators: Sendable, Hashable {
    var entityTag: String?
    /// The date exactly as the server wrote it, because it is sent back unchanged.
    var lastModified: String?
    /// Whether the server must be asked every time; `nil` if its answer has no `Cache-Control` header.
    var mustRevalidate: Bool?

    /// A validator longer than this is not kept.
    private static let maximumLength = 512

    init(entityTag: String? = nil, lastModified: String? = nil, mustRevalidate: Bool? = nil) {
        self.entityTag = entityTag.flatMap(Self.sendable)
        self.lastModified = lastModified.flatMap(Self.sendable)
        self.mustRevalidate = mustRevalidate
    }

    /// The validators in the headers of a response.
    init(_ headers: HTTPHeaders) {
        self.init(
            entityTag: headers["ETag"], lastModified: headers["Last-Modified"],
            mustRevalidate: headers["Cache-Control"].map(Self.mustRevalidate))
    }

    /// The text if it may be sent in a header again, else `nil`. Values read back from disk pass the same check.
    static func sendable(_ text: String) -> String? {
        let isFit = (1...maximumLength).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        return isFit ? text : nil
    }

    /// Whether a `Cache-Control` header forbids using a copy without asking: `no-cache`, `no-store` or `max-age=0`.
    private static func mustRevalidate(cacheControl: String) -> Bool {
        cacheControl.prefix(4096).split(separator: ",").contains { directive in
            let parts = directive.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces).lowercased()
            }
            switch parts.first {
            case "no-cache", "no-store": return true
            case "max-age": return parts.last?.trimmingCharacters(in: ["\""]) == "0"
            default: return false
            }
        }
    }
}

extension CachePolicy {
    /// How long a list is used without asking, unless its server forbids that.
    package static let lifetime: TimeInterval = 3600

    /// Whether a cached list answers without asking its origin. Pure.
    package func accepts(_ cached: CachedCatalog.Record, now: Date) -> Bool {
        // If the clock was set back, the cached list seems to come from the future: treat it as old.
        self == .asPublished && cached.validators.mustRevalidate != true
            && (0..<Self.lifetime).contains(now.timeIntervalSince(cached.checked))
    }
}

extension Catalog {
    /// Whether a serial is lower than the highest seen from the origin, or missing although the origin had one.
    static func isRollback(serial: UInt64?, seen: UInt64?) -> Bool {
        guard let seen else { return false }
        return serial.map { $0 < seen } ?? true
    }
}
