import Foundation
import HearthBase

/// The roles to which a targets role delegates files: named roles with their paths, or numbered bins.
package struct Delegations: Sendable, Hashable {
    /// A role that may vouch for some paths.
    package struct Role: Sendable, Hashable {
        package let role: MetadataRole
        package let keys: RoleKeys
        /// Whether roles after this one are not asked for its paths.
        package let isTerminating: Bool
        let scope: Scope
    }

    /// The paths of a role.
    enum Scope: Sendable, Hashable {
        case patterns([PathPattern])
        /// Beginnings of the SHA-256 of a path.
        case digestPrefixes([String])
    }

    private enum Content: Sendable, Hashable {
        case roles([Role])
        /// The first bits of a path's SHA-256 tell which role vouches for it.
        case bins(RoleKeys, bits: Int, prefix: String)
    }

    private let content: Content

    static let roleLimit = 1024
    static let patternLimit = 1024

    init(_ reader: MetadataReader) throws(TrustError) {
        let keys = try MetadataKeys(reader.object("keys"))
        guard reader.has("roles") != reader.has("succinct_roles") else {
            throw .invalid(reader.file, "expected either roles or succinct_roles", field: reader.place)
        }
        guard reader.has("roles") else {
            let entry = try reader.object("succinct_roles")
            let prefix = try entry.text("name_prefix", limit: MetadataRole.maximumNameLength - 16)
            content = .bins(
                try keys.role(entry), bits: Int(try entry.integer("bit_length", in: 1...32)), prefix: prefix)
            return
        }
        var roles: [Role] = []
        var seen: Set<MetadataRole> = []
        for item in try reader.list("roles", limit: Self.roleLimit) {
            let entry = try MetadataReader(item, place: "\(reader.place).roles", file: reader.file)
            guard let role = MetadataRole(delegated: try entry.text("name")), seen.insert(role).inserted else {
                throw entry.failure("name", expected: "a new name of at most \(MetadataRole.maximumNameLength) bytes")
            }
            roles.append(
                Role(
                    role: role, keys: try keys.role(entry), isTerminating: try entry.boolean("terminating"),
                    scope: try Self.scope(entry)))
        }
        content = .roles(roles)
    }

    private static func scope(_ entry: MetadataReader) throws(TrustError) -> Scope {
        guard entry.has("paths") != entry.has("path_hash_prefixes") else {
            throw entry.failure("paths", expected: "either paths or path_hash_prefixes")
        }
        if entry.has("paths") {
            return .patterns(try entry.texts("paths", limit: patternLimit).map(PathPattern.init))
        }
        return .digestPrefixes(try entry.texts("path_hash_prefixes", limit: patternLimit))
    }

    /// The roles that may vouch for a path, in the order of the search.
    package func roles(for path: String) -> [Role] {
        let digest = SHA256Digest(hashing: Array(path.utf8))
        switch content {
        case .roles(let roles):
            return roles.filter { role in
                switch role.scope {
                case .patterns(let patterns): patterns.contains { $0.matches(path) }
                case .digestPrefixes(let prefixes): prefixes.contains { digest.hex.hasPrefix($0) }
                }
            }
        case .bins(let keys, let bits, let prefix):
            let number = digest.bytes.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } >> UInt32(32 - bits)
            let hex = String(number, radix: 16)
            let width = (bits + 3) / 4
            let name = "\(prefix)-\(String(repeating: "0", count: max(0, width - hex.utf8.count)))\(hex)"
            guard let role = MetadataRole(delegated: name) else { return [] }
            return [Role(role: role, keys: keys, isTerminating: true, scope: .patterns([]))]
        }
    }
}

/// A shell pattern of a delegation. `*`, `?` and `[a-z]` never match a slash.
package struct PathPattern: Sendable, Hashable {
    private let parts: [FileGlob]

    package init(_ text: String) { parts = Self.names(text).map { FileGlob(String($0)) } }

    /// Whether the pattern matches the whole path.
    package func matches(_ path: String) -> Bool {
        let names = Self.names(path)
        return names.count == parts.count && zip(names, parts).allSatisfy { $1.matches(String($0)) }
    }

    private static func names(_ text: String) -> [Substring] {
        text.split(separator: "/", omittingEmptySubsequences: false)
    }
}
