import HearthBase
import HearthCatalog
import HearthPublishing

/// `hearth unpublish`
struct Unpublish: Command {
    private static let releases = Argument(
        "REF", .publishedReleases, "The releases to remove, as family[@version][:variant].")

    static let declaration = CommandDeclaration(
        "unpublish", summary: "Remove releases from an origin's catalog",
        discussion: [
            "Devices that have the release keep it; others no longer find it. To make devices leave a release, use `hearth yank`.",
            "The files stay, since devices may be reading them. `hearth origin prune` removes them later.",
        ],
        arguments: [releases], options: [PublishPlace.option, EditRun.dryRun, Option.report] + SigningChoice.options,
        examples: [
            .init("hearth unpublish lupus-diary@1.0.0 --to r2:models", "One version, all its variants."),
            .init("hearth unpublish lupus-diary@1.0.0:q8_0 --to ./origin", "One variant."),
        ])

    let edit: EditRun

    init(_ values: ParsedArguments) throws {
        edit = try EditRun(values, try values.value(Self.releases), Self.declaration)
    }

    func run(in context: CommandContext) async throws {
        try await edit.run(in: context, verb: "removed", unchanged: "listed no more") { publisher, choice, isDryRun in
            try await publisher.unpublish(choice, isDryRun: isDryRun)
        }
    }
}

/// `hearth yank`
struct Yank: Command {
    private static let releases = Argument(
        "REF", .publishedReleases, "The releases to withdraw, as family@version[:variant].")
    private static let reason = Option(
        "reason", "TEXT",
        ValueKind("a line of at most 200 bytes") { word in
            (1...200).contains(word.utf8.count) && word.isPlain() ? word : nil
        }, default: "no reason given", "Why, for the people who use it.")
    private static let undo = Flag("undo", "Offer the releases again.")

    static let declaration = CommandDeclaration(
        "yank", summary: "Withdraw releases: devices leave them at their next check",
        discussion: [
            "A device that uses the release changes to the newest other one that it may have, older or not. Without another one it "
                + "keeps what it has. No device takes the release unless its user names it.",
            "If it was the current version, the newest version that is not withdrawn becomes current.",
        ],
        arguments: [releases],
        options: [PublishPlace.option, reason, undo, EditRun.dryRun, Option.report] + SigningChoice.options,
        examples: [
            .init(
                "hearth yank lupus-diary@1.2.0 --reason \"wrong language\" --to r2:models",
                "A bad release."),
            .init("hearth yank lupus-diary@1.2.0 --undo --to r2:models", "Offer it again."),
        ])

    let edit: EditRun
    let reason: String?

    init(_ values: ParsedArguments) throws {
        edit = try EditRun(values, try values.value(Self.releases), Self.declaration)
        let given = try values.value(Self.reason)
        guard !values.has(Self.undo) || given == nil else {
            throw UsageError("--undo needs no --reason", hint: Self.declaration.hint())
        }
        reason = values.has(Self.undo) ? nil : given ?? "no reason given"
    }

    func run(in context: CommandContext) async throws {
        let verb = reason == nil ? "offered again" : "withdrawn"
        try await edit.run(in: context, verb: verb, unchanged: "\(verb) already") { publisher, choice, isDryRun in
            try await publisher.yank(choice, reason: reason, isDryRun: isDryRun)
        }
    }
}

/// `hearth rollout`
struct RolloutCommand: Command {
    private static let releases = Argument(
        "REF", .publishedReleases, "The releases, as family@version[:variant].")
    private static let percent = Option(
        "percent", "N", .integer(0...100), "Offer them to so many of a hundred devices.")
    private static let halt = Flag("halt", "Offer them to no further device for now.")
    private static let resume = Flag("resume", "Offer them to the share before the halt.")

    static let declaration = CommandDeclaration(
        "rollout", summary: "Widen, halt or resume the rollout of a release",
        discussion: [
            "A device that is in at 10 % is in at 25 % too. Devices that have the release keep it when the rollout is halted; to "
                + "make them leave it, use `hearth yank`."
        ],
        arguments: [releases],
        options: [percent, halt, resume, PublishPlace.option, EditRun.dryRun, Option.report] + SigningChoice.options,
        examples: [
            .init("hearth rollout lupus-diary@1.2.0 --percent 25 --to r2:models", "For a quarter of the devices."),
            .init("hearth rollout lupus-diary@1.2.0 --halt --to r2:models", "Something is wrong: look first."),
            .init("hearth rollout lupus-diary@1.2.0 --resume --to r2:models", "It was nothing."),
        ])

    let edit: EditRun
    let change: RolloutChange

    init(_ values: ParsedArguments) throws {
        edit = try EditRun(values, try values.value(Self.releases), Self.declaration)
        let percent = try values.value(Self.percent)
        var changes: [RolloutChange] = percent.map { [.percent($0)] } ?? []
        if values.has(Self.halt) { changes.append(.halt) }
        if values.has(Self.resume) { changes.append(.resume) }
        guard changes.count == 1, let change = changes.first else {
            throw UsageError(
                "hearth rollout needs one of --percent N, --halt and --resume", hint: Self.declaration.hint())
        }
        self.change = change
    }

    func run(in context: CommandContext) async throws {
        let verb =
            switch change {
            case .percent(let percent): "offered to \(percent) % of all devices"
            case .halt: "halted"
            case .resume: "resumed"
            }
        try await edit.run(in: context, verb: verb, unchanged: "\(verb) already") { publisher, choice, isDryRun in
            try await publisher.rollout(choice, change, isDryRun: isDryRun)
        }
    }
}

/// The common part of commands that change the catalog only.
struct EditRun: Sendable {
    static let dryRun = Flag("dry-run", "Only say what would be done.")

    private let choice: ReleaseChoice
    private let place: PublishPlace
    private let signing: SigningChoice
    private let isDryRun: Bool
    private let format: EventFormat

    init(_ values: ParsedArguments, _ choice: ReleaseChoice, _ declaration: CommandDeclaration) throws {
        self.choice = choice
        place = try PublishPlace(values, declaration)
        signing = try SigningChoice(values, declaration)
        isDryRun = values.has(Self.dryRun)
        format = try values.value(.report) ?? .text
    }

    /// What the command prints with `--format json`.
    private struct Report: Encodable {
        let releases: [String]
        let current: String?
        let serial: UInt64
        let dryRun: Bool
    }

    /// Makes the change and reports it.
    func run(
        in context: CommandContext, verb: String, unchanged: String,
        _ edit: @Sendable (Publisher, ReleaseChoice, Bool) async throws -> EditReport
    ) async throws {
        let opened = try await place.open(context)
        let signer = try await signing.signer(for: opened.target, in: context)
        let publisher = Publisher(target: opened.target, time: context.time, signing: signer)
        let report = try await edit(publisher, choice, isDryRun)
        if format == .json {
            return try context.console.emit(
                Report(
                    releases: report.releases.map(\.description), current: report.current?.name,
                    serial: report.serial, dryRun: isDryRun))
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
        if !isDryRun { try await signing.sayWhoSees(opened.target, context.console) }
    }
}
