import HearthBase
import HearthDelivery

/// `hearth update`
struct Update: Command {
    private static let family = Argument(
        "FAMILY", ValueKind("a model's name") { Family($0) }, arity: .optional, "Only this model; all of them without.")
    private static let check = Flag("check", "Only say what there is; fetch nothing.")
    private static let format = Option(
        "format", "FORMAT", ValueKind<EventFormat>.choice, default: "text", "text, or json: one event a line.")

    static let declaration = CommandDeclaration(
        "update", summary: "Bring installed models to their publishers' current version",
        discussion: [
            "A model keeps its variant. A publisher that went back to an older version is reported, not followed.",
            "With --format json, an event of the kind finding for every model (family, active, offered, reason), then as "
                + "for pull, and last done or error.",
        ],
        arguments: [family], options: [check, Option.metered, format],
        examples: [
            .init("hearth update --check", "See whether there is something new."),
            .init("hearth update lupus-diary", "Fetch and activate it for one model."),
        ])

    let family: Family?
    let isCheckOnly: Bool
    let metered: MeteredUse?
    let format: EventFormat

    init(_ values: ParsedArguments) throws {
        family = try values.optional(Self.family)
        isCheckOnly = values.has(Self.check)
        metered = try values.value(.metered)
        format = try values.value(Self.format) ?? .text
    }

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        let manager = try await context.manager()
        let findings = try await manager.updates(of: family)
        if let family, findings.isEmpty {
            throw StoreError(
                .notInstalled, "\(family) is not installed",
                context: ErrorContext(model: family.name, remedy: "Bring it with 'hearth pull \(family)'."))
        }
        for finding in findings {
            switch format {
            case .json: try context.console.emit(FindingEvent(finding))
            case .text: try context.console.print(finding.sentence)
            }
        }
        if findings.isEmpty { context.console.say("No model is installed.") }
        if !isCheckOnly {
            var options = PullOptions()
            options.metered = try await context.meteredUse(metered)
            for case .newVersion(let release) in findings.map(\.reason) {
                let identity = release.identity
                let reference = ModelReference.family(
                    identity.family, version: identity.version, variant: identity.variant)
                let resolved = try await manager.resolve(reference, options: options)
                _ = try await PullShell(context: context, format: format)
                    .pull(resolved, with: manager, options: options)
            }
        }
        if format == .json { try context.console.emit(["event": "done"]) }
    }
}

extension UpdateFinding {
    /// The finding for people.
    var sentence: String {
        let name = "\(family)" + (active.map { "@\($0)" } ?? "")
        return switch reason {
        case .newVersion(let release): "\(name): \(release.identity.version) is available"
        case .upToDate: "\(name): up to date"
        case .offeredIsOlder(let version): "\(name): the origin offers only \(version), which is older"
        case .notOffered: "\(name): no configured origin offers it"
        }
    }
}

/// A finding for programs.
struct FindingEvent: Encodable {
    var event = "finding"
    let family: String
    let active: String?
    let offered: String?
    let reason: String

    init(_ finding: UpdateFinding) {
        family = finding.family.name
        active = finding.active?.name
        switch finding.reason {
        case .newVersion(let release): (offered, reason) = (release.identity.version.name, "new-version")
        case .upToDate: (offered, reason) = (finding.active?.name, "up-to-date")
        case .offeredIsOlder(let version): (offered, reason) = (version.name, "offered-is-older")
        case .notOffered: (offered, reason) = (nil, "not-offered")
        }
    }
}
