import Foundation

/// The HTTP headers that decide when a cached manifest is asked for again, and how.
package struct CatalogValidators: Sendable, Hashable {
    var entityTag: String?
    /// The date exactly as the server wrote it, because it is sent back unchanged.
    var lastModified: String?
    /// Whether the server must be asked every time.
    var mustRevalidate = false

    /// A validator longer than this is not kept.
    private static let maximumLength = 512

    init(entityTag: String? = nil, lastModified: String? = nil, mustRevalidate: Bool = false) {
        self.entityTag = entityTag.flatMap(Self.sendable)
        self.lastModified = lastModified.flatMap(Self.sendable)
        self.mustRevalidate = mustRevalidate
    }

    /// The text if it may be sent in a header again, else `nil`. Values read back from disk pass the same check.
    static func sendable(_ text: String) -> String? {
        let isFit = (1...maximumLength).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        return isFit ? text : nil
    }

    /// Whether a `Cache-Control` header forbids using a copy without asking: `no-cache`, `no-store` or `max-age=0`.
    static func mustRevalidate(cacheControl: String?) -> Bool {
        guard let cacheControl else { return false }
        return cacheControl.prefix(4096).split(separator: ",").contains { directive in
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

    package enum Step: Sendable, Hashable {
        /// Use the cached list.
        case useCached
        /// Ask the origin; with validators it may answer that nothing changed.
        case ask(CatalogValidators?)
    }

    /// Decides whether and how to ask an origin. Pure.
    package func step(cached: CachedCatalog.Record?, now: Date) -> Step {
        guard let cached else { return .ask(nil) }
        let age = now.timeIntervalSince(cached.checked)
        // If the clock was set back, the cached list seems to come from the future: treat it as old.
        if self == .asPublished, !cached.validators.mustRevalidate, (0..<Self.lifetime).contains(age) {
            return .useCached
        }
        return .ask(cached.validators)
    }
}

extension Catalog {
    /// Whether a serial is lower than the highest seen from the origin, or missing although the origin had one.
    static func isRollback(serial: UInt64?, seen: UInt64?) -> Bool {
        guard let seen else { return false }
        return serial.map { $0 < seen } ?? true
    }
}
