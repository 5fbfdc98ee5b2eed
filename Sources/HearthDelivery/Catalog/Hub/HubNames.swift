import Foundation
import HearthBase

extension HubReference {
    /// The family of a repository: `hf--org--repo`, lower-cased. A name that is too long ends in a hash of the whole.
    public var family: Family? {
        let whole = "hf--\(organisation)--\(repository)".lowercased()
        let name = whole.utf8.count <= 64 ? whole : HubNames.hashed(whole, of: whole, to: 64, joint: "-")
        return Family(String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" }))
    }

    /// The reference to a certain commit of the same repository.
    func at(_ commit: String) -> HubReference? {
        HubReference(organisation: organisation, repository: repository, revision: commit, file: file)
    }

    /// `org/repo`, as the Hub's own addresses name it.
    public var path: String { "\(organisation)/\(repository)" }
}

/// The names of what comes from a hub.
enum HubNames {
    /// The version of a commit: its first 12 digits.
    static func version(ofCommit commit: String) -> ReleaseVersion? {
        guard isCommit(commit) else { return nil }
        return ReleaseVersion(commit.prefix(12))
    }

    /// Whether a text is the full name of a commit.
    static func isCommit(_ text: String) -> Bool {
        text.utf8.count == 40 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// The variant of a file: its path, lower-cased and without extension, every other character as `_`.
    static func variant(of path: RelativePath) -> Variant? {
        var stem = path.string.lowercased()
        if let point = stem.lastIndex(of: "."), point > (stem.lastIndex(of: "/") ?? stem.startIndex) {
            stem = String(stem[..<point])
        }
        return variant(stem)
    }

    /// The variant of what a pattern picks. Different patterns may look alike then, so a part of a hash is added.
    static func variant(ofPattern pattern: String) -> Variant? {
        Variant(hashed(safe(pattern.lowercased()), of: pattern, to: 48, joint: "."))
    }

    /// The same variant, told apart from another file's that looks alike.
    static func distinctVariant(of path: RelativePath) -> Variant? {
        variant(of: path).flatMap { Variant(hashed($0.name, of: path.string, to: 64, joint: ".")) }
    }

    private static func variant(_ text: String) -> Variant? {
        let safe = safe(text)
        return Variant(safe.utf8.count <= 64 ? safe : hashed(safe, of: text, to: 64, joint: "."))
    }

    private static func safe(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "_" })
    }

    /// As much of a name as fits, and the first digits of a hash of the whole.
    static func hashed(_ name: String, of whole: String, to length: Int, joint: String) -> String {
        let digest = SHA256Digest(hashing: Array(whole.utf8)).hex.prefix(8)
        var beginning = name
        while beginning.utf8.count + joint.utf8.count + digest.utf8.count > length {
            beginning.unicodeScalars.removeLast()
        }
        return beginning + joint + digest
    }
}
