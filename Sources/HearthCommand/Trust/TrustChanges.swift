import HearthBase
import HearthCatalog
import HearthPublishing

private let roleArgument = Argument("ROLE", .role, "root, targets, snapshot or timestamp.")
private let thresholdOption = Option(
    "threshold", "N", .integer(1...64), default: "as before, where the role has so many keys",
    "How many keys of the role must sign.")

/// The words that `add`, `rotate` and `revoke` share.
private struct RoleChange: Sendable {
    static let options: [any DeclaredOption] =
        [Option.trustOrigin, thresholdOption, Option.days, Option.draft] + TrustKeyChoice.options

    let role: MetadataRole
    let place: PublishPlace
    let threshold: Int?
    let lifetimes: TrustLifetimes
    let draft: Path?
    let keys: TrustKeyChoice

    init(_ values: ParsedArguments) throws {
        role = try values.value(roleArgument)
        place = try values.trustOrigin()
        threshold = try values.value(thresholdOption)
        lifetimes = try values.lifetimes()
        draft = try values.value(Option.draft).map { Path($0) }
        keys = try TrustKeyChoice(values)
    }

    /// Publishes a root in which the role has other keys.
    func run(
        in context: CommandContext, _ change: @escaping @Sendable (RoleKeys, KeyRing) async throws -> [MetadataKey]
    ) async throws {
        let ring = try KeyRing(keys, in: context)
        let origin = SignedOrigin(try await place.open(context).target)
        let root = RootChange(origin: origin, ring: ring, draft: draft, lifetimes: lifetimes, context: context)
        try await root.apply { [role, threshold] present in
            let before = present.keys(role)
            let keys = try await change(before, ring)
            return [role: RoleDraft(keys, threshold: threshold ?? max(1, min(before.threshold, keys.count)))]
        }
    }
}

extension RoleKeys {
    /// The usable keys, in the order of their ids.
    fileprivate var list: [MetadataKey] { keys.sorted { $0.key < $1.key }.map { MetadataKey($0.value) } }

    /// The first digits of all ids.
    fileprivate var shortIDs: String { ids.sorted().map { String($0.prefix(12)) }.joined(separator: ", ") }
}

/// The words that `add` and `rotate` share: a change of a role, and the files of its new keys.
private struct KeyedChange: Sendable {
    let change: RoleChange
    let files: [Path]

    init(_ values: ParsedArguments, _ newKey: Option<[String]>) throws {
        change = try RoleChange(values)
        files = try values.values(newKey).map { Path($0) }
    }

    /// The option of the new keys.
    static func newKey(to use: String) -> Option<[String]> {
        Option(
            "new-key", "FILE", .word, isRepeatable: true,
            "The key to \(use): a key file, or a file of its public half alone. Without one, a key is made.")
    }

    /// Publishes a root in which the role has the new keys, and those of the present ones that stay.
    func run(in context: CommandContext, staying: @escaping @Sendable (RoleKeys) -> [MetadataKey]) async throws {
        try await change.run(in: context) { [self] present, ring in
            staying(present) + (try await keys(from: ring, context.console))
        }
    }

    /// The public keys of the files; without a file, that of a new key of the role.
    private func keys(from ring: KeyRing, _ console: Console) async throws -> [MetadataKey] {
        guard files.isEmpty else {
            return try await blocking { [files] in try files.map { try KeyRing.publicKey($0) } }
        }
        let made = try await ring.make([change.role.name])
        for entry in made { console.say("\(change.role.name): a new key in \(entry.path).") }
        return made.map(\.file.key)
    }
}

/// `hearth trust add`
struct TrustAdd: Command {
    private static let newKey = KeyedChange.newKey(to: "add")

    static let declaration = CommandDeclaration(
        "trust", "add", summary: "Give a role of an origin one more key",
        discussion: [
            "Publishes a root with the new key. The keys of the present root must sign it; a root that lacks signatures "
                + "of other owners is written to a file for them."
        ],
        arguments: [roleArgument], options: [newKey] + RoleChange.options,
        examples: [
            .init("hearth trust add targets --to ./origin --new-key bob.pub", "Let bob sign lists of models, too."),
            .init("hearth trust add root --to ./origin --threshold 2", "From now on two keys must sign a root."),
        ])

    private let change: KeyedChange

    init(_ values: ParsedArguments) throws { change = try KeyedChange(values, Self.newKey) }

    func run(in context: CommandContext) async throws { try await change.run(in: context) { $0.list } }
}

/// `hearth trust rotate`
struct TrustRotate: Command {
    private static let newKey = KeyedChange.newKey(to: "use from now on")

    static let declaration = CommandDeclaration(
        "trust", "rotate", summary: "Replace all keys of a role of an origin",
        discussion: [
            "Publishes a root in which the role has only the new keys, and signs with them what the old ones signed. A key "
                + "that was stolen is worth nothing to a device once it has seen this root."
        ],
        arguments: [roleArgument], options: [newKey] + RoleChange.options,
        examples: [
            .init("hearth trust rotate timestamp --to ./origin", "A new key for the timestamp."),
            .init("hearth trust rotate root --to ./origin --new-key a.pub --new-key b.pub", "New owners."),
        ])

    private let change: KeyedChange

    init(_ values: ParsedArguments) throws { change = try KeyedChange(values, Self.newKey) }

    func run(in context: CommandContext) async throws { try await change.run(in: context) { _ in [] } }
}

/// `hearth trust revoke`
struct TrustRevoke: Command {
    private static let ids = Argument(
        "KEY",
        ValueKind("the first 8 or more digits of a key's id") { word in
            word.utf8.count >= 8 && word.allSatisfy(\.isHexDigit) ? word.lowercased() : nil
        }, arity: .oneOrMore, "The key's id, or its first digits; hearth trust show prints them.")

    static let declaration = CommandDeclaration(
        "trust", "revoke", summary: "Take keys from a role of an origin",
        discussion: [
            "Publishes a root without the keys. The role keeps its other keys; to replace the only one, rotate it. Versions "
                + "that a stolen key of snapshot or timestamp has raised are forgotten by devices."
        ],
        arguments: [roleArgument, ids], options: RoleChange.options,
        examples: [
            .init("hearth trust revoke targets 3f9c2a1b --to ./origin", "Take that key from the lists of models.")
        ])

    private let change: RoleChange
    let ids: [String]

    init(_ values: ParsedArguments) throws {
        change = try RoleChange(values)
        ids = try values.values(Self.ids)
    }

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
