import Foundation
import HearthBase

/// The name of a model through all its versions: `[a-z0-9][a-z0-9._-]{0,63}`.
public struct Family: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    public let name: String

    /// The family of that exact name, `nil` if the name is not allowed.
    public init?(_ name: some StringProtocol) {
        let bytes = Array(name.utf8)
        guard (1...64).contains(bytes.count), let first = bytes.first, first.isLowerCaseAlphanumeric else { return nil }
        guard bytes.allSatisfy({ $0.isLowerCaseAlphanumeric || ".-_".utf8.contains($0) }) else { return nil }
        self.name = String(name)
    }

    public var description: String { name }
    public static func < (left: Self, right: Self) -> Bool { left.name < right.name }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let family = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a family name")
        }
        self = family
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

/// The version of a release: semantic where the publisher counts that way, otherwise an opaque name such as a commit.
public struct ReleaseVersion: Sendable, Hashable, Codable, CustomStringConvertible {
    /// A safe path component without `~`, at most 64 bytes.
    public let name: String
    /// The version as Semantic Versioning reads it, `nil` for an opaque one.
    public let semantic: SemanticVersion?

    /// The version of that name, `nil` if it cannot be a folder's name.
    public init?(_ name: some StringProtocol) {
        guard PathComponent(name) != nil, name.utf8.count <= 64, !name.hasPrefix(".") else { return nil }
        guard name.utf8.allSatisfy({ $0.isAlphanumeric || ".-_+".utf8.contains($0) }) else { return nil }
        self.name = String(name)
        semantic = SemanticVersion(name)
    }

    /// A semantic version.
    public init(_ version: SemanticVersion) {
        name = version.description
        semantic = version
    }

    public var description: String { name }

    /// Whether this version is newer, `nil` where the two cannot be ordered.
    public func isNewer(than other: Self) -> Bool? {
        guard let semantic, let otherSemantic = other.semantic else { return nil }
        return otherSemantic < semantic
    }

    public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let version = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a version")
        }
        self = version
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

/// One build of a version, usually its quantisation: `[a-z0-9._]+`, at most 64 bytes.
public struct Variant: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    public let name: String

    /// The variant of that exact lower-case name, `nil` if the name is not allowed.
    public init?(_ name: some StringProtocol) {
        let bytes = Array(name.utf8)
        guard (1...64).contains(bytes.count), bytes.allSatisfy({ $0.isLowerCaseAlphanumeric || "._".utf8.contains($0) })
        else {
            return nil
        }
        self.name = String(name)
    }

    public var description: String { name }
    public static func < (left: Self, right: Self) -> Bool { left.name < right.name }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let variant = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a variant")
        }
        self = variant
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

/// Which release: family, version and variant.
public struct ReleaseIdentity: Sendable, Hashable, Codable, CustomStringConvertible {
    public let family: Family
    public let version: ReleaseVersion
    public let variant: Variant?

    /// An identity of the given parts.
    public init(family: Family, version: ReleaseVersion, variant: Variant? = nil) {
        self.family = family
        self.version = version
        self.variant = variant
    }

    /// The release's folder below its family's: `<version>` or `<version>~<variant>`.
    public var folderName: String { variant.map { "\(version)~\($0)" } ?? version.name }

    /// Reads a folder name back, `nil` if it is none of a release.
    public init?(family: Family, folderName: String) {
        let parts = folderName.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard let version = parts.first.flatMap({ ReleaseVersion($0) }) else { return nil }
        guard parts.count == 2 else {
            self.init(family: family, version: version)
            return
        }
        guard let variant = Variant(parts[1]) else { return nil }
        self.init(family: family, version: version, variant: variant)
    }

    /// `family@version:variant`, as a model reference is written.
    public var description: String { "\(family)@\(version)" + (variant.map { ":\($0)" } ?? "") }
}

extension UInt8 {
    var isLowerCaseAlphanumeric: Bool { (97...122).contains(self) || (48...57).contains(self) }
    var isAlphanumeric: Bool { isLowerCaseAlphanumeric || (65...90).contains(self) }
}
