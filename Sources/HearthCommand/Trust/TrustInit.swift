import HearthBase
import HearthCatalog
import HearthPublishing

/// `hearth trust init`
struct TrustInit: Command {
    @Option(.trustOrigin) var place: PublishPlace
    @Option(
        "role-key", "ROLE=FILE", ValueKind("a role, '=' and a key file") { RoleValue($0) { Path($0) } },
        isRepeatable: true,
        "A key of a role: a key file, or a file of its public half alone. Without one for a role, a key is made.")
    var roleKeys: [RoleValue<Path>]
    @Option(
        "threshold", "ROLE=N", .roleNumber(1...64), default: "1", isRepeatable: true,
        "How many keys of a role must sign.") var thresholds: [RoleNumber]
    @Option(.days) var days: [RoleNumber]
    @Option(.draft) var draft: Path?
    let keys = TrustKeyChoice()

    static let declaration = CommandDeclaration(
        "trust", "init", summary: "Give an origin its first keys, and sign it",
        """
        Makes a key for each of the four roles, encrypted with a passphrase, and signs the origin's models.json if there
        is one. Devices that have the root accept nothing from this origin that these keys did not sign.

        Prints the version and the fingerprint of the root. Tell the fingerprint to your users by another way than the
        origin, or ship metadata/1.root.json with your app.

        With --role-key, roles get keys of several owners or of hardware; make those with hearth trust key. A root that
        lacks the signatures of other owners is written to a file for them.

        hearth trust init --to ./origin  # One owner, with all keys in one folder.
        hearth trust init --to ./origin --role-key root=a.key --role-key root=b.pub --role-key root=c.pub --threshold root=2
        # Three owners, two of whom must sign a root.
        """)

    private var lifetimes: TrustLifetimes { TrustLifetimes(days: days) }

    func run(in context: CommandContext) async throws {
        let ring = try keys.ring(in: context)
        let target = try await place.open(context).target
        let session = try await target.begin()
        defer { withExtendedLifetime(session) {} }
        let origin = SignedOrigin(target)
        guard try await !origin.isSigned() else {
            throw PublishingError(
                .alreadySigned, "\(origin.name) has keys already",
                context: ErrorContext(
                    file: origin.name, remedy: "Change its keys instead, or choose another folder."))
        }
        let roles = try await roles(ring, context)
        let ids = Set(roles.values.flatMap(\.keys).map(\.id))
        let signers = try await ring.signers(for: ids)
        let now = context.time.now
        let root = try await blocking { [lifetimes] in
            try TrustRepository.firstRoot(roles, signers: signers, lifetimes: lifetimes, now: now)
        }
        let change = RootChange(origin: origin, ring: ring, lifetimes: lifetimes, time: context.time)
        try await context.show(change.finish(root, after: nil, signers), of: origin, draft: draft)
    }

    /// The given keys, and new or earlier ones of the folder for roles without.
    private func roles(_ ring: KeyRing, _ context: CommandContext) async throws -> [MetadataRole: RoleDraft] {
        var found: [MetadataRole: [MetadataKey]] = [:]
        for given in roleKeys {
            found[given.role, default: []].append(try await blocking { try KeyRing.publicKey(given.value) })
        }
        let here = try await ring.entries()
        for role in MetadataRole.topLevel where found[role] == nil {
            guard let entry = here.first(where: { $0.path.lastComponent == "\(role.name).key" }) else { continue }
            context.console.say("\(role.name): the key in \(entry.path).")
            found[role] = [entry.file.key]
        }
        let missing = MetadataRole.topLevel.filter { found[$0] == nil }
        for (role, entry) in zip(missing, try await ring.make(missing.map(\.name))) {
            context.console.say("\(role.name): a new key in \(entry.path).")
            found[role] = [entry.file.key]
        }
        return found.reduce(into: [:]) { roles, entry in
            let threshold = thresholds.last { $0.role == entry.key }?.value ?? 1
            roles[entry.key] = RoleDraft(entry.value, threshold: threshold)
        }
    }
}
