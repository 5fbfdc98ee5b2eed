import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing

/// The options of the commands that sign.
struct TrustKeyChoice: ParameterGroup {
    @Option("keys", "FOLDER", .path, default: "trust-keys in the home folder", "The folder of your keys.")
    var folder: Path?
    @Option("key", "FILE", .path, isRepeatable: true, "Sign with this key file too.") var files: [Path]
    @Option(.passphraseFile) var passphraseFile: Path?

    /// Whether no option was given.
    var isEmpty: Bool { folder == nil && files.isEmpty && passphraseFile == nil }

    /// The keys, whose passphrases are asked for if they are not given.
    func ring(in context: CommandContext) throws -> KeyRing {
        // A program that signs has a PIN of its own.
        KeyRing(
            folder: try folder ?? context.home.appending("trust-keys"), named: files,
            passphrases: context.passphrases(passphraseFile),
            environment: context.environment.filter { $0.key != CommandContext.passphraseVariable },
            complain: { [console = context.console] in console.complain($0) })
    }
}

extension CommandContext {
    fileprivate static let passphraseVariable = "HEARTH_TRUST_PASSPHRASE"

    /// The passphrases of keys: of a file, of the environment, or asked for.
    func passphrases(_ file: Path?) -> Passphrases {
        let ask: @Sendable (String) async throws -> String? = { [console, input] question in
            try await input.secretLine { console.prompt(question) }
        }
        return Passphrases(
            file: file, text: environment[Self.passphraseVariable], cost: passphraseCost, ask: hasPerson ? ask : nil)
    }

    /// Shows a published root, or writes one that lacks signatures to a file for its other owners.
    func show(_ outcome: RootChange.Outcome, of origin: SignedOrigin, draft: Path?) async throws {
        switch outcome {
        case .published(let root):
            try console.print("root \(try root.version())  \(SHA256Digest(hashing: root.data).hex)")
            console.say(
                "\(origin.name) has this root now. Devices that trust it, or one before it, take the change at their next update."
            )
        case .incomplete(let root, let missing):
            let path = try draft ?? Path(MetadataRole.root.addressName(version: root.version()))
            try await blocking { try LocalFileSystem().replaceContents(of: path, with: root.data) }
            try console.print(path.string)
            console.say(
                "It lacks \(missing.joined(separator: " and ")). Let another owner run `hearth trust sign \(path)`, "
                    + "then publish it with `hearth trust sign \(path) --to \(origin.name)`.")
        }
    }
}

extension Option where Value == Path? {
    /// The file of the keys' passphrase.
    static var passphraseFile: Self {
        Option(
            "passphrase-file", "FILE", .path, default: "HEARTH_TRUST_PASSPHRASE, else asked for",
            "A file whose first line is the passphrase of the keys; only its owner may read it.")
    }
    /// The file of a root that lacks signatures.
    static var draft: Self {
        Option(
            "draft", "FILE", .path, default: "N.root.json in this folder",
            "Where to write a root that lacks signatures, for its other owners.")
    }
}

extension Option where Value == PublishPlace {
    /// The origin that a command signs.
    static var trustOrigin: Self {
        Option(
            "to", "ORIGIN", .place, required: "FOLDER or REMOTE:bucket",
            "The origin: a folder, or REMOTE:bucket/path of rclone's configuration. Required.")
    }
}

extension Option where Value == [RoleNumber] {
    /// The lifetimes of metadata.
    static var days: Self {
        Option(
            "days", "ROLE=N", .roleNumber(1...3650), default: "root 730, targets and snapshot 365, timestamp 30",
            isRepeatable: true, "For how many days a role's signatures are valid.")
    }
}

/// `ROLE=VALUE`
struct RoleValue<Value: Sendable>: Sendable {
    let role: MetadataRole
    let value: Value

    init?(_ word: String, _ parse: (String) -> Value?) {
        let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let role = MetadataRole(named: parts[0]), let value = parse(parts[1]) else {
            return nil
        }
        (self.role, self.value) = (role, value)
    }
}

typealias RoleNumber = RoleValue<Int>

extension ValueKind where Value == MetadataRole {
    /// One of the four roles.
    static var role: Self {
        ValueKind("root, targets, snapshot or timestamp") { MetadataRole(named: $0) }
    }
}

extension ValueKind where Value == RoleNumber {
    static func roleNumber(_ range: ClosedRange<Int>) -> Self {
        ValueKind("a role, '=' and a number from \(range.lowerBound) to \(range.upperBound)") {
            RoleValue($0) { word in Int(word).flatMap { range.contains($0) ? $0 : nil } }
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

extension TrustLifetimes {
    /// The lifetimes that `--days` gives.
    init(days: [RoleNumber]) {
        self.init()
        for value in days { self[value.role] = value.value }
    }
}
