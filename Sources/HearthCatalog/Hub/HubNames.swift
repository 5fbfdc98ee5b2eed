import Foundation
import HearthBase

extension HubReference {
    /// The family of a repository: the short name of a catalog, else `hf--org--repo` in lower case. A name that is too
    /// long is shortened and gets a hash.
    public var family: Family? {
        if let alias { return alias }
        let whole = "hf--\(organization)--\(repository)".lowercased()
        let name = whole.utf8.count <= 64 ? whole : HubNames.hashed(whole, of: whole, to: 64, joint: "-")
        return Family(name.withCharacters(allowed: "._-", others: "-"))
    }

    /// The reference to a commit of the same repository.
    package func at(_ commit: String) -> HubReference? {
        taking(file, at: commit)
    }

    /// `org/repo`, as in the Hub's addresses.
    public var path: String { "\(organization)/\(repository)" }
}

/// Derives versions and variants from the names of commits and files.
enum HubNames {
    /// The version of a commit: its first 12 digits.
    package static func version(ofCommit commit: String) -> ReleaseVersion? {
        guard isCommit(commit) else { return nil }
        return ReleaseVersion(commit.prefix(12))
    }

    /// Whether a text is the full identifier of a commit.
    static func isCommit(_ text: String) -> Bool {
        text.utf8.count == 40 && text.utf8.allSatisfy(\.isLowerCaseHexadecimal)
    }

    /// The variant of a file: its path in lower case, without extension, with `_` for every other character.
    package static func variant(of path: RelativePath) -> Variant? {
        var stem = path.string.lowercased()
        if let point = stem.lastIndex(of: "."), point > (stem.lastIndex(of: "/") ?? stem.startIndex) {
            stem = String(stem[..<point])
        }
        return variant(stem)
    }

    /// The variant of a pattern, with part of a hash, because different patterns may otherwise get the same name.
    package static func variant(ofPattern pattern: String) -> Variant? {
        Variant(hashed(safe(pattern.lowercased()), of: pattern, to: 48, joint: "."))
    }

    /// The variant of a file with part of a hash, if another file already has the plain name.
    static func distinctVariant(of path: RelativePath) -> Variant? {
        variant(of: path).flatMap { Variant(hashed($0.name, of: path.string, to: 64, joint: ".")) }
    }

    private static func variant(_ text: String) -> Variant? {
        let safe = safe(text)
        return Variant(safe.utf8.count <= 64 ? safe : hashed(safe, of: text, to: 64, joint: "."))
    }

    private static func safe(_ text: String) -> String {
        text.withCharacters(allowed: ".", others: "_")
    }

    /// The part of a name that fits, and the first digits of a hash of the whole.
    static func hashed(_ name: String, of whole: String, to length: Int, joint: String) -> String {
        let digest = SHA256Digest(hashing: Array(whole.utf8)).hex.prefix(8)
        var beginning = name
        while beginning.utf8.count + joint.utf8.count + digest.utf8.count > length {
            beginning.unicodeScalars.removeLast()
        }
        return beginning + joint + digest
    }
}
