import Foundation

/// What a server says of a manifest beside its bytes: how to ask whether it changed, and for how long it is good.
struct CatalogValidators: Sendable, Hashable {
    var entityTag: String?
    /// The date as the server wrote it; it is sent back as it came.
    var lastModified: String?
    /// Whether the server has to be asked every time.
    var mustRevalidate = false

    /// A validator longer than this is not kept.
    private static let maximumLength = 512

    init(entityTag: String? = nil, lastModified: String? = nil, mustRevalidate: Bool = false) {
        self.entityTag = entityTag.flatMap(Self.sendable)
        self.lastModified = lastModified.flatMap(Self.sendable)
        self.mustRevalidate = mustRevalidate
    }

    /// Only what may go into a header again: whatever is read back from the disk is checked by the same rule.
    static func sendable(_ text: String) -> String? {
        let isFit = (1...maximumLength).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        return isFit ? text : nil
    }

    /// Whether a `Cache-Control` header lets a copy be used without asking: not with `no-cache` or `no-store`, nor when its
    /// age may be none.
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

/// Decides whether an origin is asked, and how. Pure.
struct CatalogFreshness: Sendable {
    /// How long a list is good where its server does not say otherwise.
    static let lifetime: TimeInterval = 3600

    enum Step: Sendable, Hashable {
        /// Nothing is asked.
        case useKept
        /// The origin is asked; with validators it may answer that nothing changed.
        case ask(CatalogValidators?)
    }

    /// What to do with a kept copy, `nil` if there is none.
    static func step(kept: KeptCatalog.Record?, now: Date, wish: ListingWish) -> Step {
        guard let kept else { return .ask(nil) }
        let age = now.timeIntervalSince(kept.checked)
        // A clock that was set back makes a copy come from the future: then it is as good as old.
        if wish == .asPublished, !kept.validators.mustRevalidate, (0..<lifetime).contains(age) { return .useKept }
        return .ask(kept.validators)
    }

    /// Whether a list may take the place of what the device has seen: its serial never goes down, and once there was one,
    /// there is one.
    static func isRollback(serial: UInt64?, seen: UInt64?) -> Bool {
        guard let seen else { return false }
        return serial.map { $0 < seen } ?? true
    }
}
