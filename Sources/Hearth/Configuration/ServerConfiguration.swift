import Foundation
import HearthBase

/// The settings of the resident process, such as `serve.port`.
package struct ServerConfiguration: Sendable, Hashable {
    /// The port without a setting; not that of another model server.
    package static let defaultPort: UInt16 = 4327
    /// How long an idle model stays in memory without a setting.
    package static let defaultKeepAlive = Duration.seconds(300)

    /// `nil` for ``defaultPort``.
    package private(set) var port: UInt16?
    private var keepAliveSeconds: Int?
    /// Names under which other machines ask this one, besides addresses.
    package private(set) var hosts: [String] = []
    /// The origins of pages that may call the server.
    package private(set) var origins: [String] = []

    /// The answers that one model computes side by side; `nil` lets the engine decide.
    package private(set) var slots: Int?
    /// The tokens of all these answers and their prompts together; `nil` for one context window.
    package private(set) var cells: Int?
    /// Seeds the answers to requests without a seed; `nil` for a different answer each time.
    package private(set) var seed: UInt32?
    /// Whether the default model answers requests for models that do not exist here.
    package private(set) var answersAnyModel = false

    static let keys = [
        "serve.port", "serve.keepAlive", "serve.hosts", "serve.origins", "serve.slots", "serve.cells", "serve.seed",
        "serve.anyModel",
    ]

    /// How long an idle model stays in memory; `nil` until memory is short.
    package var keepAlive: Duration? {
        guard let keepAliveSeconds else { return Self.defaultKeepAlive }
        return keepAliveSeconds < 0 ? nil : .seconds(keepAliveSeconds)
    }

    /// The value of a setting as text.
    func value(of key: String) -> String? {
        switch key {
        case "serve.port": port.map { "\($0)" }
        case "serve.keepAlive": keepAliveSeconds.map { $0 < 0 ? "always" : "\($0)" }
        case "serve.slots": slots.map { "\($0)" }
        case "serve.cells": cells.map { "\($0)" }
        case "serve.seed": seed.map { "\($0)" }
        case "serve.anyModel": answersAnyModel ? "true" : nil
        case "serve.hosts": hosts.isEmpty ? nil : hosts.joined(separator: ",")
        default: origins.isEmpty ? nil : origins.joined(separator: ",")
        }
    }

    /// Checks and sets a value; `nil` removes the setting.
    mutating func set(_ key: String, to text: String?) throws {
        switch key {
        case "serve.port":
            port = try text.map { text in
                guard let port = UInt16(text), port > 0 else {
                    throw ConfigurationError.invalid(key, "a whole number from 1 to 65535", found: text)
                }
                return port
            }
        case "serve.keepAlive":
            keepAliveSeconds = try text.map { text in
                if text == "always" { return -1 }
                guard let seconds = Int(text), (0...2_592_000).contains(seconds) else {
                    throw ConfigurationError.invalid(key, "seconds from 0 to 2592000, or always", found: text)
                }
                return seconds
            }
        case "serve.slots": slots = try text.map { try Self.number($0, 1...64, key) }
        case "serve.cells": cells = try text.map { try Self.number($0, 64...16_777_216, key) }
        case "serve.seed": seed = try text.map { UInt32(try Self.number($0, 0...Int(UInt32.max) - 1, key)) }
        case "serve.anyModel":
            guard let flag = Bool(text ?? "false") else {
                throw ConfigurationError.invalid(key, "true or false", found: text ?? "")
            }
            answersAnyModel = flag
        case "serve.hosts": hosts = try Self.list(text, key, "names of this machine, separated by commas", Self.isHost)
        default:
            origins = try Self.list(
                text, key, "origins such as https://app.example.org, separated by commas", Self.isOrigin)
        }
    }

    /// The settings that the user made, by their names in the section `serve`.
    var section: [String: JSONValue] {
        var section: [String: JSONValue] = [:]
        for key in Self.keys {
            section[String(key.dropFirst("serve.".count))] = value(of: key).map { .string($0) }
        }
        section["port"] = port.map { .integer($0) }
        section["slots"] = slots.map { .integer($0) }
        section["cells"] = cells.map { .integer($0) }
        section["seed"] = seed.map { .integer($0) }
        if answersAnyModel { section["anyModel"] = .boolean(true) }
        return section
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>, _ key: String) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationError.invalid(
                key, "a whole number from \(range.lowerBound) to \(range.upperBound)", found: text)
        }
        return number
    }

    private static func list(
        _ text: String?, _ key: String, _ expected: String, _ isAllowed: (String) -> Bool
    ) throws -> [String] {
        guard let text else { return [] }
        let items = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        guard !items.isEmpty, items.count <= 64, items.allSatisfy(isAllowed) else {
            throw ConfigurationError.invalid(key, expected, found: text)
        }
        return items
    }

    private static func isHost(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".")
            }
    }

    /// Whether a text is an origin as browsers send it: a scheme, a host, and a port unless it is the scheme's own.
    private static func isOrigin(_ text: String) -> Bool {
        guard let url = URL(string: text), let scheme = url.scheme, let host = url.host(), !host.isEmpty,
            scheme == "http" || scheme == "https"
        else { return false }
        return text == "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
    }
}
