import Foundation
import HearthBase
import HearthHTTP
import HearthRouting
import HearthTransfer

/// The settings `gateway.*`: the service that gives out time-limited addresses of files.
package struct GatewayConfiguration: Sendable, Hashable {
    /// `nil` for no gateway: files are fetched from the addresses in the catalog.
    private var url: URL?
    private var header: String?
    private var keyFile: Path?
    private var files: [URL] = []

    /// The variable of the environment that gives the key.
    package static let keyVariable = "HEARTH_GATEWAY_KEY"

    static let keys = ["gateway.url", "gateway.header", "gateway.keyFile", "gateway.files"]

    /// The value of a setting as text.
    func value(of key: String) -> String? {
        switch key {
        case "gateway.url": url?.absoluteString
        case "gateway.header": header
        case "gateway.keyFile": keyFile?.string
        default: files.isEmpty ? nil : files.map(\.absoluteString).joined(separator: ",")
        }
    }

    /// Checks and sets a value; `nil` removes the setting. Another gateway begins without the key of the old one.
    mutating func set(_ key: String, to text: String?) throws {
        switch key {
        case "gateway.url":
            let new = try text.map { try Self.address($0, key) }
            if url != nil, url != new { keyFile = nil }
            url = new
        case "gateway.header":
            header = try text.map { text in
                guard AuthenticatedDownloader.isHeaderName(text) else {
                    throw ConfigurationError.invalid(key, "the name of a header such as X-API-Key", found: text)
                }
                return text
            }
        case "gateway.keyFile":
            keyFile = try text.map { text in
                guard text.hasPrefix("/"), text.utf8.count < 4096, !text.utf8.contains(0) else {
                    throw ConfigurationError.invalid(key, "an absolute path", found: text)
                }
                return Path(text)
            }
        default:
            let items = (text ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            guard items.count <= 16, text == nil || !items.isEmpty else {
                throw ConfigurationError.invalid(key, "at most 16 addresses, separated by commas", found: text ?? "")
            }
            files = try items.map { try Self.address($0, key) }
        }
    }

    /// The settings that the user made, by their names in the section `gateway`.
    var section: [String: JSONValue] {
        var section: [String: JSONValue] = [:]
        for key in Self.keys {
            section[String(key.dropFirst("gateway.".count))] = value(of: key).map { .string($0) }
        }
        return section
    }

    /// The provider of addresses; `nil` without a gateway.
    ///
    /// The key is read at each question, so that a missing one stops downloads only. Without `gateway.files`, the files
    /// beside the configured origins' lists need an address.
    /// - Throws: `TransferError` with `no-address` for settings that were written by hand and cannot be used.
    package func provider(
        origins: [URL], environment: [String: String], http: any HTTPClient, time: TimeSource
    ) throws -> (any DownloadURLProvider)? {
        guard let url else { return nil }
        let beside = origins.filter { !$0.isFileURL }.map { $0.deletingLastPathComponent() }
        // Without any, no file: an empty list would stand for every file, those of the Hub included.
        guard !(files.isEmpty && beside.isEmpty) else { return nil }
        let keyFile = keyFile
        return try AuthenticatedDownloader(
            gateway: url, header: header ?? AuthenticatedDownloader.defaultHeader,
            files: files.isEmpty ? beside : files, http: http, time: time
        ) {
            let text = environment[Self.keyVariable] ?? ""
            if let secret = Secret(text) { return secret }
            if text.isEmpty, let keyFile { return try CloudKey.read(keyFile) }
            let problem = text.isEmpty ? "wants a key, and none is set" : "cannot be sent the key that is set"
            throw ConfigurationError(
                .notSet, "the gateway \(url.host() ?? "") \(problem)",
                context: ErrorContext(
                    field: "gateway.keyFile",
                    remedy: "Give the key of the gateway: one line in a file that only its owner can read."))
        }
    }

    /// The address of a server to which a key may be sent, or of files.
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
