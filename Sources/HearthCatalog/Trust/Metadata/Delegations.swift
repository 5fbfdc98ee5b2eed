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

    /// Bins: the first bits of a path's SHA-256 tell which role vouches for it.
    struct Bins: Sendable, Hashable {
        let keys: RoleKeys
        let bits: Int
        let prefix: String
    }

    private enum Content: Sendable, Hashable {
        case roles([Role])
        case bins(Bins)
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
                Bins(
                    keys: try keys.role(entry), bits: Int(try entry.integer("bit_length", in: 1...32)), prefix: prefix))
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
        case .bins(let bins):
            let number = digest.bytes.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } >> UInt32(32 - bins.bits)
            let hex = String(number, radix: 16)
            let width = (bins.bits + 3) / 4
            let name = "\(bins.prefix)-\(String(repeating: "0", count: max(0, width - hex.utf8.count)))\(hex)"
            guard let role = MetadataRole(delegated: name) else { return [] }
            return [Role(role: role, keys: bins.keys, isTerminating: true, scope: .patterns([]))]
        }
    }
}

/// A shell pattern of a delegation. `*`, `?` and `[a-z]` never match a slash.
package struct PathPattern: Sendable, Hashable {
    private enum Piece: Sendable, Hashable {
        case literal(Unicode.Scalar)
        case one
        case many
        case set([ClosedRange<Unicode.Scalar>], isInverted: Bool)
    }

    private let parts: [[Piece]]

    package init(_ text: String) {
        parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Self.pieces($0.unicodeScalars) }
    }

    /// Whether the pattern matches the whole path.
    package func matches(_ path: String) -> Bool {
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        return names.count == parts.count
            && zip(names, parts).allSatisfy { Self.matches(Array($0.unicodeScalars), $1) }
    }

    private static func pieces(_ text: Substring.UnicodeScalarView) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": if pieces.last != .many { pieces.append(.many) }
            case "?": pieces.append(.one)
            case "[":
                // A bracket without an end is itself.
                if let set = set(&rest) { pieces.append(set) } else { pieces.append(.literal(scalar)) }
            default: pieces.append(.literal(scalar))
            }
        }
        return pieces
    }

    private static func set(_ rest: inout Substring.UnicodeScalarView.SubSequence) -> Piece? {
        var inner = rest
        let isInverted = inner.first == "!"
        if isInverted { inner.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        var isFirst = true
        while let scalar = inner.popFirst() {
            if scalar == "]", !isFirst {
                rest = inner
                return .set(ranges, isInverted: isInverted)
            }
            isFirst = false
            let after = inner.dropFirst()
            if inner.first == "-", let end = after.first, end != "]" {
                if scalar <= end { ranges.append(scalar...end) }
                inner = after.dropFirst()
            } else {
                ranges.append(scalar...scalar)
            }
        }
        return nil
    }

    /// Matches without recursion: after a mismatch only the last `*` takes one more character.
    private static func matches(_ text: [Unicode.Scalar], _ pieces: [Piece]) -> Bool {
        var (position, piece) = (0, 0)
        var retry: (position: Int, piece: Int)?
        while position < text.count {
            if piece < pieces.count, pieces[piece] == .many {
                retry = (position, piece)
                piece += 1
            } else if piece < pieces.count, accepts(pieces[piece], text[position]) {
                position += 1
                piece += 1
            } else if let last = retry {
                retry = (last.position + 1, last.piece)
                position = last.position + 1
                piece = last.piece + 1
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { $0 == .many }
    }

    private static func accepts(_ piece: Piece, _ scalar: Unicode.Scalar) -> Bool {
        switch piece {
        case .literal(let literal): literal == scalar
        case .one: true
        case .many: false
        case .set(let ranges, let isInverted): ranges.contains { $0.contains(scalar) } != isInverted
        }
    }
}
