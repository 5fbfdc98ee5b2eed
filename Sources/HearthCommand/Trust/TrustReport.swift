import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing

/// What the metadata of an origin says: versions, expiry, keys.
struct TrustReport: Encodable, Sendable {
    struct Key: Encodable, Sendable {
        let id: String
        let scheme: String
    }

    struct Role: Encodable, Sendable {
        let role: String
        let version: UInt64
        let expires: Date
        let threshold: Int
        let keys: [Key]
    }

    /// The SHA-256 of the present root, which devices pin.
    let fingerprint: String
    let roles: [Role]
    /// The signed files.
    let files: [String]
    /// The roles that expire within seven days, or have expired.
    let warnings: [String]

    private enum CodingKeys: CodingKey { case fingerprint, roles, files, warnings }

    init(_ repository: TrustRepository, now: Date) throws {
        let root = try repository.rootMetadata
        let fields: [(MetadataRole, SignedFields)] = [
            (.root, root.fields), (.targets, try TargetsMetadata(repository.targets).fields),
            (.snapshot, try SnapshotMetadata(repository.snapshot).fields),
            (.timestamp, try TimestampMetadata(repository.timestamp).fields),
        ]
        fingerprint = SHA256Digest(hashing: repository.root.data).hex
        roles = fields.map { role, fields in
            Role(
                role: role.name, version: fields.version, expires: fields.expires,
                threshold: root.keys(role).threshold, keys: Self.keys(root.keys(role)))
        }
        files = try repository.listedFiles.keys.sorted()
        var warnings = fields.compactMap { role, fields -> String? in
            guard ExpiringSignatures(role.name, until: fields.expires, now: now) != nil else { return nil }
            let verb = fields.expires <= now ? "expired" : "expires"
            return "\(role.name) \(verb) on \(fields.expires.timestamp): renew it with `hearth trust renew"
                + "\(role == .timestamp ? "" : " \(role.name)")`."
        }
        for role in repository.outdated.map(\.name).sorted() {
            warnings.append("\(role) is signed by former keys only: an earlier change did not complete. Sign again.")
        }
        self.warnings = warnings
    }

    private static func keys(_ role: RoleKeys) -> [Key] {
        role.ids.sorted().map { Key(id: $0, scheme: role.keys[$0]?.scheme.rawValue ?? "unknown") }
    }

    /// One line for each role.
    var roleLines: [String] {
        let columns: [Column<Role>] = [
            .left("ROLE") { $0.role }, .right("VERSION") { "\($0.version)" }, .left("EXPIRES") { $0.expires.timestamp },
            .left("SIGNATURES") { "\($0.threshold) of \($0.keys.count)" }, .left("KEYS") { Self.text($0.keys) },
        ]
        return columns.lines(of: roles)
    }

    /// What a root says, for an owner who signs it.
    static func lines(root: RootMetadata) -> [String] {
        let columns: [Column<MetadataRole>] = [
            .left("ROLE") { $0.name },
            .left("SIGNATURES") { "\(root.keys($0).threshold) of \(root.keys($0).ids.count)" },
            .left("KEYS") { text(keys(root.keys($0))) },
        ]
        return ["root \(root.fields.version), expires on \(root.fields.expires.timestamp)"]
            + columns.lines(of: MetadataRole.topLevel)
    }

    private static func text(_ keys: [Key]) -> String {
        keys.map { "\($0.id.prefix(12)) (\($0.scheme))" }.joined(separator: ", ")
    }
}

/// `hearth trust show`
struct TrustShow: Command {
    @Argument("ORIGIN", .place, "The origin: a folder, or REMOTE:bucket/path.") var place: PublishPlace
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "trust", "show", summary: "Show an origin's keys, versions and expiry dates",
        """
        Checks all signatures, and warns of those that expire within seven days. The fingerprint is that of the present
        root; devices that pinned an earlier one follow the changes.

        With --format json, an object with fingerprint, roles (role, version, expires, threshold, keys), files and
        warnings.

        hearth trust show ./origin  # Who signs what, and until when.
        """)

    func run(in context: CommandContext) async throws {
        let origin = SignedOrigin(try await place.open(context).target)
        let repository = try await origin.present()
        let listed = try repository.listedFiles
        let isCurrent = try await origin.signedFiles().allSatisfy { listed[$0.entry.path] == $0.entry }
        let report = try TrustReport(repository, now: context.time.now)
        let signs = report.files.isEmpty ? [] : ["signs        \(report.files.joined(separator: ", "))"]
        try context.console.print(report, format, ["fingerprint  \(report.fingerprint)"] + report.roleLines + signs)
        for warning in report.warnings { context.console.complain(warning) }
        if !isCurrent {
            context.console.complain(
                "models.json has changed since it was signed: devices see the change after `hearth trust sign --to \(origin.name)`."
            )
        }
    }
}
