import HearthBase
import HearthCatalog
import HearthPublishing

/// `hearth unpublish`
struct Unpublish: Command {
    @Argument("REF", .publishedReleases, "The releases to remove, as family[@version][:variant].")
    var choice: ReleaseChoice
    @Option(.place) var place: PublishPlace
    let edit = EditRun()

    static let declaration = CommandDeclaration(
        "unpublish", summary: "Remove releases from an origin's catalog", isDestructive: true,
        """
        Devices that have the release keep it; others no longer find it. To make devices leave a release, use `hearth
        yank`.

        The files stay, since devices may be reading them. `hearth origin prune` removes them later.

        hearth unpublish lupus-diary@1.0.0 --to r2:models  # One version, all its variants.
        hearth unpublish lupus-diary@1.0.0:q8_0 --to ./origin  # One variant.
        """)

    func run(in context: CommandContext) async throws {
        try await edit.run(choice, at: place, in: context, verb: "removed", unchanged: "listed no more") {
            publisher, isDryRun in
            try await publisher.unpublish(choice, isDryRun: isDryRun)
        }
    }
}

/// `hearth yank`
struct Yank: Command {
    @Argument("REF", .publishedReleases, "The releases to withdraw, as family@version[:variant].")
    var choice: ReleaseChoice
    @Option(.place) var place: PublishPlace
    @Option(
        "reason", "TEXT",
        ValueKind("a line of at most 200 bytes") { word in
            (1...200).contains(word.utf8.count) && word.isPlain() ? word : nil
        }, default: "no reason given", "Why, for the people who use it.") var reason: String?
    @Flag("undo", "Offer the releases again.") var undo
    let edit = EditRun()

    static let declaration = CommandDeclaration(
        "yank", summary: "Withdraw releases: devices leave them at their next check", isDestructive: true,
        """
        A device that uses the release changes to the newest other one that it may have, older or not. Without another
        one it keeps what it has. No device takes the release unless its user names it.

        If it was the current version, the newest version that is not withdrawn becomes current.

        hearth yank lupus-diary@1.2.0 --reason "wrong language" --to r2:models  # A bad release.
        hearth yank lupus-diary@1.2.0 --undo --to r2:models  # Offer it again.
        """)

    func validate() throws {
        guard !undo || reason == nil else { throw UsageError("--undo needs no --reason") }
    }

    func run(in context: CommandContext) async throws {
        let verb = undo ? "offered again" : "withdrawn"
        try await edit.run(choice, at: place, in: context, verb: verb, unchanged: "\(verb) already") {
            publisher, isDryRun in
            try await publisher.yank(choice, reason: undo ? nil : reason ?? "no reason given", isDryRun: isDryRun)
        }
    }
}

/// `hearth rollout`
struct RolloutCommand: Command {
    @Argument("REF", .publishedReleases, "The releases, as family@version[:variant].") var choice: ReleaseChoice
    @Option("percent", "N", .integer(0...100), "Offer them to so many of a hundred devices.") var percent: Int?
    @Flag("halt", "Offer them to no further device for now.") var halt
    @Flag("resume", "Offer them to the share before the halt.") var resume
    @Option(.place) var place: PublishPlace
    let edit = EditRun()

    static let declaration = CommandDeclaration(
        "rollout", summary: "Widen, halt or resume the rollout of a release",
        """
        A device that is in at 10 % is in at 25 % too. Devices that have the release keep it when the rollout is halted;
        to make them leave it, use `hearth yank`.

        hearth rollout lupus-diary@1.2.0 --percent 25 --to r2:models  # For a quarter of the devices.
        hearth rollout lupus-diary@1.2.0 --halt --to r2:models  # Something is wrong: look first.
        hearth rollout lupus-diary@1.2.0 --resume --to r2:models  # It was nothing.
        """)

    private var changes: [RolloutChange] {
        (percent.map { [.percent($0)] } ?? []) + (halt ? [.halt] : []) + (resume ? [.resume] : [])
    }

    func validate() throws {
        guard changes.count == 1 else {
            throw UsageError("hearth rollout needs one of --percent N, --halt and --resume")
        }
    }

    func run(in context: CommandContext) async throws {
        let change = changes[0]
        let verb =
            switch change {
            case .percent(let percent): "offered to \(percent) % of all devices"
            case .halt: "halted"
            case .resume: "resumed"
            }
        try await edit.run(choice, at: place, in: context, verb: verb, unchanged: "\(verb) already") {
            publisher, isDryRun in
            try await publisher.rollout(choice, change, isDryRun: isDryRun)
        }
    }
}

/// The common part of commands that change the catalog only.
struct EditRun: ParameterGroup {
    @Flag("dry-run", "Only say what would be done.") private var isDryRun
    @Option(.report) private var format: EventFormat
    private let signing = SigningChoice()

    /// What the command prints with `--format json`.
    private struct Report: Encodable {
        let releases: [String]
        let current: String?
        let serial: UInt64
        let signed: Bool
        let dryRun: Bool
    }

    /// Makes the change and reports it.
    func run(
        _ choice: ReleaseChoice, at place: PublishPlace, in context: CommandContext, verb: String, unchanged: String,
        _ edit: @Sendable (Publisher, Bool) async throws -> EditReport
    ) async throws {
        let opened = try await place.open(context)
        let publisher = try await signing.publisher(for: opened.target, in: context)
        let report = try await edit(publisher, isDryRun)
        if format == .json {
            return try context.console.emit(
                Report(
                    releases: report.releases.map(\.description), current: report.current?.name,
                    serial: report.serial, signed: report.isSigned, dryRun: isDryRun))
        }
        if report.releases.isEmpty { context.console.say("\(choice): \(unchanged).") }
        for identity in report.releases {
            try context.console.print("\(identity)  \(isDryRun ? "would be " : "")\(verb)")
        }
        if let current = report.current {
            context.console.say("Current is \(choice.family)@\(current), serial \(report.serial).")
        } else {
            context.console.say("The origin lists no release of \(choice.family) now, serial \(report.serial).")
        }
        if report.isSigned {
            context.console.say("\(opened.target.name) \(isDryRun ? "would be" : "is") signed.")
        }
        if !isDryRun { try await signing.sayWhoSees(opened.target, context.console) }
    }
}
