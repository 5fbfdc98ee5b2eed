import Foundation
import HearthBase

/// The name of a model in all its versions: `[a-z0-9][a-z0-9._-]{0,63}`.
public struct Family: CheckedName, Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    public let name: String

    /// The family of that exact name, `nil` if the name is not allowed.
    public init?(_ name: some StringProtocol) {
        let bytes = Array(name.utf8)
        guard (1...64).contains(bytes.count), let first = bytes.first, first.isLowerCaseAlphanumeric else { return nil }
        guard bytes.allSatisfy({ $0.isLowerCaseAlphanumeric || ".-_".utf8.contains($0) }) else { return nil }
        self.name = String(name)
    }
}

/// The version of a release: a semantic version, or an opaque name such as a commit.
public struct ReleaseVersion: CheckedName, Sendable, Hashable, Codable, CustomStringConvertible {
    /// A safe path component without `~`, at most 64 bytes.
    public let name: String
    /// The semantic version, `nil` for an opaque name.
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

    /// Whether this version is newer; `nil` if the two cannot be compared.
    public func isNewer(than other: Self) -> Bool? {
        guard let semantic, let otherSemantic = other.semantic else { return nil }
        return otherSemantic < semantic
    }
}

/// One build of a version, usually its quantization: `[a-z0-9._]+`, at most 64 bytes.
public struct Variant: CheckedName, Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
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
}

/// The first 8 hexadecimal digits of the digest of a release's files. Distinguishes releases with the same name but
/// other bytes.
package struct ContentTag: CheckedName, Sendable, Hashable, Comparable {
    /// Exactly 8 lower-case hexadecimal digits.
    package let name: String

    /// The tag of that exact name, `nil` if it is not a valid tag.
    package init?(_ name: some StringProtocol) {
        guard name.utf8.count == 8, name.utf8.allSatisfy(\.isLowerCaseHexadecimal) else { return nil }
        self.name = String(name)
    }

    /// The tag of a release whose files have that digest.
    package init(of content: SHA256Digest) { name = String(content.hex.prefix(8)) }

    /// Splits `name+tag` at its last `+`; `nil` unless a valid tag follows.
    package static func split<Text: StringProtocol>(_ text: Text) -> (name: Text.SubSequence, tag: Self)?
    where Text.SubSequence: StringProtocol {
        guard let plus = text.lastIndex(of: "+"), let tag = Self(text[text.index(after: plus)...]) else { return nil }
        return (text[..<plus], tag)
    }
}

/// Identifies a release by family, version and variant, plus a content tag if other bytes had that name before.
///
/// Catalogs list releases without a tag. The store adds one when the plain name is taken.
public struct ReleaseIdentity: Sendable, Hashable, Codable, CustomStringConvertible {
    public let family: Family
    public let version: ReleaseVersion
    public let variant: Variant?
    /// The tag that distinguishes an installed release from another of the same version and variant.
    package let content: ContentTag?

    /// Memberwise.
    package init(family: Family, version: ReleaseVersion, variant: Variant? = nil, content: ContentTag? = nil) {
        self.family = family
        self.version = version
        self.variant = variant
        self.content = content
    }

    /// The identity in catalogs: without a content tag.
    public var published: Self { Self(family: family, version: version, variant: variant) }

    /// The same identity with a content tag.
    package func tagged(_ content: ContentTag) -> Self {
        Self(family: family, version: version, variant: variant, content: content)
    }

    /// The name of the release's folder in its family's folder: `<version>[~<variant>][+<content tag>]`.
    ///
    /// If a publisher's version ends like a content tag, `~` follows it, so that each folder name has one meaning.
    public var folderName: String {
        let suffix = content.map { "+\($0)" } ?? ""
        if let variant { return "\(version)~\(variant)\(suffix)" }
        return version.name + (content == nil && ContentTag.split(version.name) != nil ? "~" : suffix)
    }

    /// Parses a folder name; `nil` if it is not the name of a release.
    public init?(family: Family, folderName: String) {
        let (name, tag) = ContentTag.split(folderName).map { (String($0.name), $0.tag) } ?? (folderName, nil)
        let parts = name.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard let version = parts.first.flatMap({ ReleaseVersion($0) }) else { return nil }
        let variant = parts.count == 2 && !parts[1].isEmpty ? Variant(parts[1]) : nil
        self.init(family: family, version: version, variant: variant, content: tag)
        guard self.folderName == folderName else { return nil }
    }

    /// The version in a reference: with the content tag, if the release has one.
    public var versionName: String { version.name + (content.map { "+\($0)" } ?? "") }

    /// The model reference `family@version[:variant][+content tag]`.
    public var description: String {
        "\(family)@\(version)" + (variant.map { ":\($0)" } ?? "") + (content.map { "+\($0)" } ?? "")
    }
}

extension Collection<ReleaseIdentity> {
    /// The releases of that version and variant. If the version includes a content tag, only those with that tag; if
    /// none matches exactly, all of the version.
    package func named(_ version: ReleaseVersion?, _ variant: Variant?) -> [ReleaseIdentity] {
        let candidates = filter { variant == nil || $0.variant == variant }
        guard let version else { return candidates }
        let exact = candidates.filter { $0.versionName == version.name }
        return exact.isEmpty ? candidates.filter { $0.version == version } : exact
    }
}
