import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing

/// The options of the commands that sign, and their values.
struct TrustKeyChoice: Sendable {
    static let keys = Option(
        "keys", "FOLDER", .word, default: "trust-keys in the home folder", "The folder of your keys.")
    static let key = Option(
        "key", "FILE", .word, isRepeatable: true, "Sign with this key file too.")
    static let passphraseFile = Option(
        "passphrase-file", "FILE", .word, default: "HEARTH_TRUST_PASSPHRASE, else asked for",
        "A file whose first line is the passphrase of the keys; only its owner may read it.")
    static let options: [any DeclaredOption] = [keys, key, passphraseFile]

    let folder: Path?
    let files: [Path]
    let passphraseFile: Path?

    init(_ values: ParsedArguments) throws {
        folder = try values.value(Self.keys).map { Path($0) }
        files = try values.values(Self.key).map { Path($0) }
        passphraseFile = try values.value(Self.passphraseFile).map { Path($0) }
    }

    /// Whether no option was given.
    var isEmpty: Bool { folder == nil && files.isEmpty && passphraseFile == nil }

    /// A choice without keys, for a command that only makes one.
    init(passphraseFile: Path?) {
        folder = nil
        files = []
        self.passphraseFile = passphraseFile
    }
}

extension Option where Value == String? {
    /// The origin that a command signs.
    static let trustOrigin = Option(
        "to", "ORIGIN", .word, "The origin: a folder, or REMOTE:bucket/path of rclone's configuration. Required.")
    /// The file of a root that lacks signatures.
    static let draft = Option(
        "draft", "FILE", .word, default: "N.root.json in this folder",
        "Where to write a root that lacks signatures, for its other owners.")
}

extension Option where Value == [RoleNumber] {
    /// The lifetimes of metadata.
    static let days = Option(
        "days", "ROLE=N", .roleNumber(1...3650), default: "root 730, targets and snapshot 365, timestamp 30",
        isRepeatable: true, "For how many days a role's signatures are valid.")
}

/// A role and a number, such as `root=2`.
struct RoleNumber: Sendable {
    let role: MetadataRole
    let number: Int
}

extension ValueKind where Value == MetadataRole {
    /// One of the four roles.
    static var role: Self {
        ValueKind("root, targets, snapshot or timestamp") { MetadataRole(named: $0) }
    }
}

extension ValueKind where Value == RoleNumber {
    static func roleNumber(_ range: ClosedRange<Int>) -> Self {
        ValueKind("a role, '=' and a number from \(range.lowerBound) to \(range.upperBound)") { word in
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let role = MetadataRole(named: String(parts[0])), let number = Int(parts[1]),
                range.contains(number)
            else { return nil }
            return RoleNumber(role: role, number: number)
        }
    }
}

extension MetadataRole {
    /// One of the four roles, in the order of the documentation.
    init?(named name: String) {
        guard let role = Self.topLevel.first(where: { $0.name == name }) else { return nil }
        self = role
    }
}

extension ParsedArguments {
    /// The lifetimes that `--days` gives.
    func lifetimes() throws -> TrustLifetimes {
        var lifetimes = TrustLifetimes()
        for value in try values(Option.days) { lifetimes[value.role] = value.number }
        return lifetimes
    }

    /// The origin, which is required.
    func trustOrigin() throws -> PublishPlace {
        guard let origin = try value(Option.trustOrigin) else {
            throw UsageError(
                "\(declaration.commandLine) needs --to FOLDER or REMOTE:bucket", hint: declaration.hint())
        }
        return PublishPlace(origin, publicURL: nil)
    }
}

extension RootMetadata {
    /// The ids of the keys of some roles.
    func ids(_ roles: [MetadataRole] = MetadataRole.topLevel) -> Set<String> {
        roles.reduce(into: []) { $0.formUnion(keys($1).ids) }
    }
}
