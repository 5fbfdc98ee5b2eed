import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing

/// `hearth trust renew`
struct TrustRenew: Command {
    @Argument("ROLE", .role, "The role to renew; timestamp without it.") var role = MetadataRole.timestamp
    @Option(.trustOrigin) var place: PublishPlace
    @Option(
        "days", "N", .integer(1...3650), default: "timestamp 30, snapshot and targets 365, root 730",
        "For how many days the new signature is valid.") var days: Int?
    @Flag("install-timer", "Write units for systemd's user manager that renew the timestamp every day.")
    var installsTimer
    @Option(.draft) var draft: Path?
    let keys = TrustKeyChoice()

    static let declaration = CommandDeclaration(
        "trust", "renew", summary: "Sign an origin's metadata for a longer time",
        """
        The timestamp expires after 30 days. Devices then take no updates from the origin until it is renewed, because
        an attacker may hold newer ones back; what they have installed keeps working. Renewing needs only the key of the
        timestamp, which may lie on the server: with it alone, an attacker can only hold updates back.

        For the timer, give the passphrase in a file with --passphrase-file.

        hearth trust renew --to ./origin  # The timestamp, for 30 days.
        hearth trust renew --to /srv/origin --passphrase-file pass --install-timer  # From now on every day.
        hearth trust renew root --to ./origin  # The root, for two years.
        """)

    func run(in context: CommandContext) async throws {
        let ring = try keys.ring(in: context)
        var lifetimes = TrustLifetimes()
        if let days { lifetimes[role] = days }
        if installsTimer {
            return try await RenewTimer(origin: place.absolute, keys: keys, days: days, ring: ring).install(in: context)
        }
        let origin = SignedOrigin(try await place.open(context).target)
        if role == .root {
            let change = RootChange(origin: origin, ring: ring, lifetimes: lifetimes, time: context.time)
            return try await context.show(change.apply { _ in [:] }, of: origin, draft: draft)
        }
        let session = try await origin.target.begin()
        defer { withExtendedLifetime(session) {} }
        let before = try await origin.present(lifetimes)
        let roles: [MetadataRole] =
            switch role {
            case .timestamp where before.outdated.subtracting([.timestamp]).isEmpty: [.timestamp]
            case .snapshot where !before.outdated.contains(.targets): [.snapshot, .timestamp]
            default: [.targets, .snapshot, .timestamp]
            }
        let signers = try await ring.signers(for: try before.rootMetadata.ids(roles))
        let now = context.time.now
        let repository = try await blocking { [role] in
            var repository = before
            try repository.renew(role, signers: signers, now: now)
            return repository
        }
        try await origin.write(repository)
        for line in try TrustReport(repository, now: now).roleLines { try context.console.print(line) }
    }
}

/// Units of systemd's user manager that renew a timestamp.
struct RenewTimer: Sendable {
    /// The origin, as `--to` takes it in any folder.
    let origin: String
    let keys: TrustKeyChoice
    let days: Int?
    let ring: KeyRing

    /// The name of the units: one pair for each origin.
    private var name: String {
        "hearth-renew-\(SHA256Digest(hashing: Array(origin.utf8)).hex.prefix(8))"
    }

    /// Renews once.
    func service(program: String) -> String {
        var words = [program, "trust", "renew", "--to", origin, "--keys", ring.folder.absolute.string]
        for file in keys.files { words += ["--key", file.absolute.string] }
        if let file = keys.passphraseFile { words += ["--passphrase-file", file.absolute.string] }
        if let days { words += ["--days", "\(days)"] }
        return """
            [Unit]
            Description=Renew the timestamp of \(origin.replacing("%", with: "%%"))

            [Service]
            Type=oneshot
            ExecStart=\(words.map(Self.quoted).joined(separator: " "))
            NoNewPrivileges=yes

            """
    }

    /// Starts the service every day, and after days that the machine was off.
    static let timer = """
        [Unit]
        Description=Renew the timestamp of a signed origin every day

        [Timer]
        OnCalendar=daily
        RandomizedDelaySec=1h
        Persistent=true

        [Install]
        WantedBy=timers.target

        """

    /// Writes the units, and prints their paths.
    func install(in context: CommandContext) async throws {
        let service = service(program: try await blocking { try ProgramFile.path() })
        try await context.installUnits(
            ["\(name).service": service, "\(name).timer": Self.timer], starting: "\(name).timer")
    }

    /// A word of a unit's command line, in which `%`, `$`, quotation marks and backslashes have meanings.
    private static func quoted(_ word: String) -> String {
        let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
            .replacing("$", with: "$$")
        return "\"\(text)\""
    }
}
