import Foundation
import HearthBase
import HearthHTTP
import HearthRouting

/// The settings `cloud.*`: which cloud model answers, if any.
package struct CloudConfiguration: Sendable, Hashable {
    /// `nil` for no cloud.
    package private(set) var kind: CloudKind?
    private var url: URL?
    private var model: String?
    private var keyFile: Path?
    private var firstByteSeconds: Int?
    private var shares: CloudShares?

    static let keys = [
        "cloud.kind", "cloud.url", "cloud.model", "cloud.keyFile", "cloud.firstByteSeconds", "cloud.shares",
    ]

    /// The value of a setting as text. An address or a model that is not set is the vendor's.
    func value(of key: String) -> String? {
        switch key {
        case "cloud.kind": kind?.rawValue
        case "cloud.url": (url ?? kind?.defaultURL)?.absoluteString
        case "cloud.model": model ?? kind?.defaultModel
        case "cloud.firstByteSeconds": firstByteSeconds.map(String.init)
        case "cloud.shares": shares?.text
        default: keyFile?.string
        }
    }

    /// Checks and sets a value; `nil` removes the setting. Another kind begins with its own settings; what may leave the
    /// device stays.
    mutating func set(_ key: String, to text: String?) throws {
        switch key {
        case "cloud.kind":
            let new = try text.map { text in
                guard let kind = CloudKind(rawValue: text) else {
                    let names = CloudKind.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ConfigurationError.invalid(key, "one of \(names)", found: text)
                }
                return kind
            }
            if kind != nil, kind != new {
                let shares = shares
                self = CloudConfiguration()
                self.shares = shares
            }
            kind = new
        case "cloud.url": url = try text.map { try Self.address($0, key) }
        case "cloud.model":
            model = try text.map { text in
                guard (1...256).contains(text.utf8.count), text.isPlain() else {
                    throw ConfigurationError.invalid(key, "the name of a model", found: text)
                }
                return text
            }
        case "cloud.firstByteSeconds":
            firstByteSeconds = try text.map { text in
                guard let seconds = Int(text), (1...600).contains(seconds) else {
                    throw ConfigurationError.invalid(key, "a number from 1 to 600", found: text)
                }
                return seconds
            }
        case "cloud.shares":
            shares = try text.map { text in
                guard let shares = CloudShares(text) else {
                    let names = CloudShares.all.text
                    throw ConfigurationError.invalid(key, "none, or some of \(names)", found: text)
                }
                return shares
            }
        default:
            keyFile = try text.map { text in
                guard text.hasPrefix("/"), text.utf8.count < 4096, !text.utf8.contains(0) else {
                    throw ConfigurationError.invalid(key, "an absolute path", found: text)
                }
                return Path(text)
            }
        }
    }

    /// The settings that the user made, by their names in the section `cloud`.
    var section: [String: JSONValue] {
        var section: [String: JSONValue] = [:]
        section["kind"] = kind.map { .string($0.rawValue) }
        section["url"] = url.map { .string($0.absoluteString) }
        section["model"] = model.map { .string($0) }
        section["keyFile"] = keyFile.map { .string($0.string) }
        section["shares"] = shares.map { .string($0.text) }
        section["firstByteSeconds"] = firstByteSeconds.map { .integer($0) }
        return section
    }

    /// The address of a server to which a key may be sent.
    private static func address(_ text: String, _ key: String) throws -> URL {
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty, url.user() == nil,
            url.query() == nil, url.fragment() == nil, url.port.map({ (1...65_535).contains($0) }) ?? true,
            url.scheme == "https" || (url.scheme == "http" && url.isLoopback)
        else {
            throw ConfigurationError.invalid(
                key, "an https address, or http to this machine, without a user and a query", found: text)
        }
        return url
    }
}
