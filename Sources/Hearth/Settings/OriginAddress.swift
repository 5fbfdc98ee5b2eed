import Foundation
import HearthBase
import HearthHTTP

/// Parses addresses of catalogs as users enter them.
package enum OriginAddress {
    static let expectation = "an https address, an http address of this machine, or the path of a models.json"

    /// An `https` address, `http` to this machine, a `file:` address, or the path of a `models.json`.
    /// - Throws: ``ConfigurationError`` with `invalid-configuration`.
    package static func url(_ text: String, field: String) throws -> URL {
        guard let url = url(text) else { throw ConfigurationError.invalid(field, expectation, found: text) }
        return url
    }

    /// The same; `nil` for other texts.
    static func url(_ text: String) -> URL? {
        let isClean = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F || $0 == " " }
        guard !text.isEmpty, text.utf8.count <= 4096, isClean else { return nil }
        guard text.contains("://") || text.hasPrefix("file:") else { return Path(text).absolute.url }
        guard let url = URL(address: text), let scheme = url.scheme?.lowercased() else { return nil }
        switch scheme {
        case "https" where url.host?.isEmpty == false: return url
        case "http" where url.isLoopback: return url
        case "file" where url.host?.isEmpty ?? true && url.path.hasPrefix("/"): return url
        default: return nil
        }
    }
}
