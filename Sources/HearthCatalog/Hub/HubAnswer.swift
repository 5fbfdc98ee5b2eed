import Foundation
import HearthBase

/// A hub's description of a repository at one commit.
struct HubRepository: Sendable, Hashable {
    /// The current name; differs from the requested one if the repository was renamed.
    package var path: String
    /// 40 hexadecimal digits.
    package var commit: String
    /// Whether the owner must grant access to the files, or only some see the repository at all.
    var isGated: Bool
    package var license: String?
    /// Whether a file has a GGUF name; `nil` if the hub lists none.
    var holdsGGUF: Bool?

    /// Whether the repository says that its weights are in the form of MLX.
    var isMLX = false

    /// Parses a hub's answer.
    /// - Throws: ``CatalogError`` with `hub-answer-invalid`.
    init(answer: Data, of reference: HubReference) throws(CatalogError) {
        guard case .object(let facts) = try HubAnswer.document(answer, of: reference) else {
            throw HubAnswer.invalid(reference, "no object", expected: "the facts of a repository")
        }
        guard case .string(let commit)? = facts["sha"], HubNames.isCommit(commit) else {
            throw HubAnswer.invalid(reference, "the commit \(facts["sha"]?.kind ?? "nowhere")", expected: "40 digits")
        }
        self.commit = commit
        path = reference.path
        if case .string(let name)? = facts["id"], name.utf8.count <= 200, name.isPlain() { path = name }
        isGated = Self.isGated(facts)
        license = Self.license(facts)
        isMLX = facts["library_name"] == .string("mlx")
        if case .array(let tags)? = facts["tags"] { isMLX = isMLX || tags.contains(.string("mlx")) }
        if case .array(let siblings)? = facts["siblings"] {
            holdsGGUF = siblings.contains { item in
                guard case .object(let file) = item, case .string(let name)? = file["rfilename"] else { return false }
                return name.lowercased().hasSuffix(".gguf")
            }
        }
    }

    /// A repository of which only the name and a commit are known.
    init(path: String, commit: String) {
        (self.path, self.commit, isGated, license) = (path, commit, false, nil)
    }

    static func isGated(_ facts: JSONMembers) -> Bool {
        if facts["private"] == .boolean(true) { return true }
        return switch facts["gated"] {
        case .boolean(let gated)?: gated
        case .string?: true  // "auto" or "manual": how access is granted
        default: false
        }
    }

    /// The license in the model card, else in the tags.
    static func license(_ facts: JSONMembers) -> String? {
        func line(_ text: String) -> String? { (1...128).contains(text.utf8.count) && text.isPlain() ? text : nil }
        if case .object(let card)? = facts["cardData"], case .string(let license)? = card["license"] {
            return line(license)
        }
        guard case .array(let tags)? = facts["tags"] else { return nil }
        for case .string(let tag) in tags where tag.hasPrefix("license:") { return line(String(tag.dropFirst(8))) }
        return nil
    }
}

/// One file of a repository at one commit.
struct HubFile: Sendable, Hashable {
    /// How the file's bytes are verified.
    package enum Content: Sendable, Hashable {
        /// A large file: the digest in its LFS pointer.
        case sha256(SHA256Digest)
        /// A file stored in git itself.
        case gitBlob(GitBlobID)
    }

    /// The path exactly as in the hub's answer.
    package var name: String
    /// The path on disk, `nil` if it is not allowed; such a file cannot be chosen.
    package var path: RelativePath?
    package var size: UInt64
    package var content: Content
    /// Git's object ID of the file or its LFS pointer.
    var gitID: String

    /// The largest accepted file size: 2^53 bytes, as in a manifest.
    package static let maximumSize = ManifestReader.largestInteger

    /// Parses one page of a repository's tree; folders are left out.
    /// - Throws: ``CatalogError`` with `hub-answer-invalid`.
    package static func page(_ answer: Data, of reference: HubReference) throws(CatalogError) -> [HubFile] {
        guard case .array(let items) = try HubAnswer.document(answer, of: reference) else {
            throw HubAnswer.invalid(reference, "no list", expected: "a list of files")
        }
        var files: [HubFile] = []
        for item in items {
            guard case .object(let facts) = item, case .string(let name)? = facts["path"],
                case .string(let type)? = facts["type"]
            else { throw HubAnswer.invalid(reference, item.kind, expected: "a file with its path and type") }
            if type == "file" { files.append(try HubFile(facts, name: name, of: reference)) }
        }
        return files
    }

    private init(_ facts: JSONMembers, name: String, of reference: HubReference) throws(CatalogError) {
        func invalid(_ what: String, _ expected: String) -> CatalogError {
            HubAnswer.invalid(reference, "\(what) of \(name.quoted)", expected: expected)
        }
        func size(_ value: JSONValue?) -> UInt64? {
            guard case .number(let digits)? = value, let size = UInt64(digits), size <= Self.maximumSize else {
                return nil
            }
            return size
        }
        self.name = name
        path = RelativePath(name)
        guard let length = size(facts["size"]) else { throw invalid("the size", "a number of bytes") }
        self.size = length
        guard case .string(let oid)? = facts["oid"], let blob = GitBlobID(hex: oid) else {
            throw invalid("the git name", "40 hexadecimal digits")
        }
        gitID = blob.hex
        guard let pointer = facts["lfs"], pointer != .null else {
            content = .gitBlob(blob)
            return
        }
        // A malformed pointer is an error: otherwise the file would be checked against the object ID of its pointer.
        guard case .object(let lfs) = pointer, case .string(let text)? = lfs["oid"] ?? lfs["sha256"],
            let digest = SHA256Digest(hex: text), size(lfs["size"]) == length
        else { throw invalid("the pointer", "a SHA-256 and the same size") }
        content = .sha256(digest)
    }
}

/// Parses answers of a hub.
enum HubAnswer {
    /// The most bytes of one answer.
    package static let maximumSize = 8 << 20

    package static func document(_ answer: Data, of reference: HubReference) throws(CatalogError) -> JSONValue {
        do {
            return try JSONValue(parsing: answer)
        } catch {
            throw invalid(reference, "no JSON: \(error)", expected: "JSON")
        }
    }

    /// The error for an answer that cannot be used.
    package static func invalid(_ reference: HubReference, _ found: String, expected: String) -> CatalogError {
        CatalogError(
            .hubAnswerInvalid, "the hub's answer about \(reference.path) cannot be used: it holds \(found)",
            context: ErrorContext(
                model: reference.description, field: "endpoint", expected: expected, found: found,
                remedy: "Check whether this network wants a log-in first, and the address of the hub."))
    }
}
