import HearthBase
import HearthCatalog
import HearthPublishing

/// `hearth trust sign`
struct TrustSign: Command {
    @Argument(
        "FILE", .path, arity: .optional, "A root that lacks signatures; without it, the origin's models.json is signed."
    ) var file: Path?
    @Option(
        "to", "ORIGIN", .place, "The origin, a folder or REMOTE:bucket/path; with FILE, its root is published there.")
    var place: PublishPlace?
    @Option(.days) var days: [RoleNumber]
    let keys = TrustKeyChoice()

    static let declaration = CommandDeclaration(
        "trust", "sign", summary: "Sign an origin's list, or a root that others prepared",
        """
        Without FILE, signs the origin's models.json and its indexes, as hearth publish --sign does.

        With FILE, prints what the root says and adds the signatures of your keys to the file. Carry it from owner to
        owner; the last one adds --to FOLDER, and it is published once enough have signed. Only keys that the root names
        sign it, those of the present root with --to, and those named with --key.

        hearth trust sign --to ./origin  # Sign what was published without --sign.
        hearth trust sign 2.root.json --key b.key  # Add your signature.
        hearth trust sign 2.root.json --to ./origin  # Publish it.
        """)

    private var lifetimes: TrustLifetimes { TrustLifetimes(days: days) }

    func validate() throws {
        guard file != nil || place != nil else { throw UsageError("hearth trust sign needs FILE or --to ORIGIN") }
    }

    func run(in context: CommandContext) async throws {
        let ring = try keys.ring(in: context)
        let target = try await place?.open(context).target
        let origin = target.map { SignedOrigin($0) }
        let session = try await origin?.target.begin()
        defer { withExtendedLifetime(session) {} }
        if let file { return try await sign(file, origin, ring, context) }
        guard let origin else { return }
        let present = try await origin.present()
        let signers = try await ring.signers(
            for: try present.rootMetadata.ids([.targets, .snapshot, .timestamp]))
        let signer = OriginSigner(signers: signers, lifetimes: lifetimes)
        let now = context.time.now
        try await signer.check(origin.target)
        let isNew = try await signer.sign(origin.target, now: now)
        context.console.say(isNew ? "\(origin.name) is signed." : "\(origin.name) was signed already.")
    }

    private func sign(
        _ file: Path, _ origin: SignedOrigin?, _ ring: KeyRing, _ context: CommandContext
    ) async throws {
        let root = try await blocking {
            let data = try LocalFileSystem().contents(ofFile: file, limit: MetadataRole.root.sizeLimit)
            return try SignedMetadata(parsing: data, .root)
        }
        let present = try await origin?.repository()
        let metadata = try RootMetadata(root)
        for line in TrustReport.lines(root: metadata) { try context.console.print(line) }
        // Keys of other roles are needed where the root is published.
        let ids = origin == nil ? metadata.ids([.root]) : metadata.ids().union(try present?.rootMetadata.ids() ?? [])
        let signers = try await ring.signers(for: ids)
        let owners = metadata.ids([.root]).union(try present?.rootMetadata.ids([.root]) ?? [])
        let named = try await Set(ring.entries().filter(\.isNamed).map(\.file.key.id))
        let signed = try await blocking {
            var root = root
            for signer in signers {
                let id = try signer.key.id
                if owners.contains(id) || named.contains(id) { try root.sign(with: signer) }
            }
            try LocalFileSystem().replaceContents(of: file, with: root.data)
            return root
        }
        let missing = try RootChange.missing(signed, after: present)
        guard let origin else {
            return context.console.say(
                missing.isEmpty ? "\(file) has all signatures." : "\(file) lacks \(missing.joined(separator: " and "))."
            )
        }
        let change = RootChange(origin: origin, ring: ring, lifetimes: lifetimes, time: context.time)
        try await context.show(change.publish(signed, after: present, signers), of: origin, draft: file)
    }
}
