import Foundation
import HearthBase

/// The keys with which other machines use this server, as digests.
///
/// ```json
/// { "format": 1, "keys": [ { "id": "3f9c2a1b", "name": "laptop", "sha256": "…", "scopes": ["chat"],
///   "created": "2026-11-24T10:00:00Z" } ] }
/// ```
package struct AccessKeys: Sendable, Hashable {
    /// One key, without its secret.
    package struct Key: Sendable, Hashable {
        /// Eight hexadecimal digits.
        package let id: String
        /// The purpose, in the user's words.
        package let name: String
        let digest: SHA256Digest
        package let scopes: Set<ServerScope>
        package let created: Date

        package var caller: ServerCaller { ServerCaller(name: "key-\(id)", scopes: scopes) }
    }

    /// The most keys.
    static let limit = 256
    /// The largest file.
    private static let sizeLimit = 256 << 10

    package private(set) var keys: [Key] = []

    package init() {}

    /// Adds a key.
    /// - Returns: the key with its secret, which is not kept.
    /// - Throws: ``ServerError`` with `too-many-keys`, or `key-exists` for the name of another key.
    package mutating func create(_ name: String, scopes: Set<ServerScope>, at date: Date) throws -> String {
        guard keys.count < Self.limit else {
            throw ServerError(
                .tooManyKeys, "there are \(Self.limit) keys already",
                context: ErrorContext(remedy: "Revoke those that are no longer used."))
        }
        if let known = keys.first(where: { $0.name == name }) {
            throw ServerError(
                .keyExists, "the key \(known.id) has the name \(name.quoted)",
                context: ErrorContext(found: known.id, remedy: "Choose another name, or revoke that key first."))
        }
        let secret = KeySecret()
        keys.append(
            Key(
                id: secret.id, name: name, digest: secret.digest, scopes: scopes,
                created: Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))))
        return secret.text
    }

    /// Removes a key by its id, or by a name that only one key has.
    /// - Returns: its id.
    /// - Throws: ``ServerError`` with `unknown-key`.
    @discardableResult
    package mutating func revoke(_ word: String) throws -> String {
        let named = keys.filter { $0.name == word }
        let only = named.count == 1 ? named.first?.id : nil
        guard let id = keys.first(where: { $0.id == word })?.id ?? only else {
            throw ServerError(
                .unknownKey,
                named.isEmpty ? "there is no key \(word.quoted)" : "\(named.count) keys have the name \(word.quoted)",
                context: ErrorContext(found: word, remedy: "List the keys for their ids."))
        }
        keys.removeAll { $0.id == id }
        return id
    }

    /// The key that a client presents, `nil` if there is none. Takes the same time for every key.
    func key(_ text: String) -> Key? {
        let digest = KeySecret.digest(of: text)
        var found: Key?
        for key in keys where digest.isSame(as: key.digest) { found = key }
        return found
    }

    // MARK: The disk

    /// The file of a home's keys.
    package static func path(home: Path) -> Path { home.appending("server").appending("keys.json") }

    /// Reads a home's keys; none if the file does not exist. Blocks.
    /// - Throws: ``ServerError`` with `keys-unreadable`; `FileError`.
    package static func load(home: Path) throws -> AccessKeys {
        let path = path(home: home)
        let data: Data
        do {
            data = try LocalFileSystem().contents(ofFile: path, limit: sizeLimit)
        } catch let error as FileError where error.code == .notFound {
            return AccessKeys()
        }
        do {
            return try AccessKeys(data: data)
        } catch let error as DecodingError {
            throw ServerError(
                .keysUnreadable, "the keys in \(path) cannot be read",
                context: ErrorContext(
                    file: path.string, remedy: "Move the file away and create the keys anew: old keys end with it."),
                underlying: error)
        }
    }

    /// Reads a home's keys, changes and writes them, while no other process does. Only their owner can read the file.
    /// - Throws: errors of `body`; ``ServerError`` with `keys-unreadable`; `FileError`, with `settings-busy` too.
    @discardableResult
    package static func change<Result: Sendable>(
        home: Path, time: TimeSource = .system,
        _ body: @escaping @Sendable (inout AccessKeys) throws -> Result
    ) async throws -> Result {
        try await LockedFile(path(home: home), time: time).change {
            var keys = try load(home: home)
            let result = try body(&keys)
            return (try keys.data(), result)
        }
    }
}

extension AccessKeys: DiskRecord {
    private enum CodingKeys: String, CodingKey { case format, keys }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try values.require(format: 1, .format)
        keys = try values.decode([Key].self, forKey: .keys)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(1, forKey: .format)
        try values.encode(keys, forKey: .keys)
    }
}

extension AccessKeys.Key: Codable {
    private enum CodingKeys: String, CodingKey { case id, name, digest = "sha256", scopes, created }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.checked(.id, or: "not a key's id") { (text: String) in
            text.utf8.count == 8 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        }
        name = try values.decode(String.self, forKey: .name)
        digest = try values.decode(SHA256Digest.self, forKey: .digest)
        scopes = try values.decode(Set<ServerScope>.self, forKey: .scopes)
        created = try values.decode(Date.self, forKey: .created)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(name, forKey: .name)
        try values.encode(digest, forKey: .digest)
        try values.encode(scopes.sorted { $0.rawValue < $1.rawValue }, forKey: .scopes)
        try values.encode(created, forKey: .created)
    }
}

extension SHA256Digest {
    /// Compares in a time that does not depend on the bytes.
    func isSame(as other: SHA256Digest) -> Bool {
        zip(hex.utf8, other.hex.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
