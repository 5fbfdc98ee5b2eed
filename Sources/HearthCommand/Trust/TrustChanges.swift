import HearthBase
import HearthCatalog
import HearthPublishing

/// The parameters that `add`, `rotate` and `revoke` share.
private struct RoleChange: ParameterGroup {
    @Argument("ROLE", .role, "root, targets, snapshot or timestamp.") var role: MetadataRole
    @Option(.trustOrigin) var place: PublishPlace
    @Option(
        "threshold", "N", .integer(1...64), default: "as before, where the role has so many keys",
        "How many keys of the role must sign.")
    var threshold: Int?
    @Option(.days) var days: [RoleNumber]
    @Option(.draft) var draft: Path?
    let keys = TrustKeyChoice()

    /// Publishes a root in which the role has other keys.
    func run(
        in context: CommandContext, _ change: @escaping @Sendable (RoleKeys, KeyRing) async throws -> [MetadataKey]
    ) async throws {
        let ring = try keys.ring(in: context)
        let origin = SignedOrigin(try await place.open(context).target)
        let root = RootChange(
            origin: origin, ring: ring, lifetimes: TrustLifetimes(days: days), time: context.time)
        let outcome = try await root.apply { [role, threshold] present in
            let before = present.keys(role)
            let keys = try await change(before, ring)
            return [role: RoleDraft(keys, threshold: threshold ?? max(1, min(before.threshold, keys.count)))]
        }
        try await context.show(outcome, of: origin, draft: draft)
    }

    /// Publishes a root in which the role has the keys of files, or a new one, and those of the present ones that stay.
    func run(
        in context: CommandContext, files: [Path], staying: @escaping @Sendable (RoleKeys) -> [MetadataKey]
    ) async throws {
        try await run(in: context) { [role] present, ring in
            guard files.isEmpty else {
                return try await staying(present) + blocking { try files.map { try KeyRing.publicKey($0) } }
            }
            let made = try await ring.make([role.name])
            for entry in made { context.console.say("\(role.name): a new key in \(entry.path).") }
            return staying(present) + made.map(\.file.key)
        }
    }
}

extension Option where Value == [Path] {
    /// The files of new keys.
    fileprivate static func newKey(to use: String) -> Self {
        Option(
            "new-key", "FILE", .path, isRepeatable: true,
            "The key to \(use): a key file, or a file of its public half alone. Without one, a key is made.")
    }
}

extension RoleKeys {
    /// The usable keys, in the order of their ids.
    fileprivate var list: [MetadataKey] { keys.sorted { $0.key < $1.key }.map { MetadataKey($0.value) } }

    /// The first digits of all ids.
    fileprivate var shortIDs: String { ids.sorted().map { String($0.prefix(12)) }.joined(separator: ", ") }
}

/// `hearth trust add`
struct TrustAdd: Command {
    @Option(.newKey(to: "add")) var files: [Path]
    private let change = RoleChange()

    static let declaration = CommandDeclaration(
        "trust", "add", summary: "Give a role of an origin one more key",
        """
        Publishes a root with the new key. The keys of the present root must sign it; a root that lacks signatures of
        other owners is written to a file for them.

        hearth trust add targets --to ./origin --new-key bob.pub  # Let bob sign lists of models, too.
        hearth trust add root --to ./origin --threshold 2  # From now on two keys must sign a root.
        """)

    func run(in context: CommandContext) async throws { try await change.run(in: context, files: files) { $0.list } }
}

/// `hearth trust rotate`
struct TrustRotate: Command {
    @Option(.newKey(to: "use from now on")) var files: [Path]
    private let change = RoleChange()

    static let declaration = CommandDeclaration(
        "trust", "rotate", summary: "Replace all keys of a role of an origin",
        """
        Publishes a root in which the role has only the new keys, and signs with them what the old ones signed. A key
        that was stolen is worth nothing to a device once it has seen this root.

        hearth trust rotate timestamp --to ./origin  # A new key for the timestamp.
        hearth trust rotate root --to ./origin --new-key a.pub --new-key b.pub  # New owners.
        """)

    func run(in context: CommandContext) async throws { try await change.run(in: context, files: files) { _ in [] } }
}

/// `hearth trust revoke`
struct TrustRevoke: Command {
    private let change = RoleChange()
    @Argument(
        "KEY",
        ValueKind("the first 8 or more digits of a key's id") { word in
            word.utf8.count >= 8 && word.allSatisfy(\.isHexDigit) ? word.lowercased() : nil
        }, arity: .oneOrMore, "The key's id, or its first digits; hearth trust show prints them.") var ids: [String]

    static let declaration = CommandDeclaration(
        "trust", "revoke", summary: "Take keys from a role of an origin", isDestructive: true,
        """
        Publishes a root without the keys. The role keeps its other keys; to replace the only one, rotate it. Versions
        that a stolen key of snapshot or timestamp has raised are forgotten by devices.

        hearth trust revoke targets 3f9c2a1b --to ./origin  # Take that key from the lists of models.
        """)

    func run(in context: CommandContext) async throws {
        try await change.run(in: context) { [ids, change] present, _ in
            for id in ids where present.ids.filter({ $0.hasPrefix(id) }).count != 1 {
                throw TrustError(
                    .badKey, "\(change.role.name) has no key, or several, whose id begins with \(id)",
                    context: ErrorContext(
                        file: change.place.text, found: id, remedy: "Its keys: \(present.shortIDs)."),
                    disposition: .usage)
            }
            return present.keys.sorted { $0.key < $1.key }
                .filter { entry in !ids.contains { entry.key.hasPrefix($0) } }.map { MetadataKey($0.value) }
        }
    }
}
