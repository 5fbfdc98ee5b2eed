import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// `hearth list`
struct List: Command {
    private static let available = Flag("available", "List what the origins offer instead.")
    private static let format = Option(
        "format", "FORMAT", ValueKind<ListingFormat>.choice, default: "table", "table, or json for programs.")

    static let declaration = CommandDeclaration(
        "list", summary: "List the models on this device",
        discussion: [
            "The active release of a family is used unless a version is named. A release is damaged if its files differ "
                + "from its receipt, and unverified if its publisher gave no digest.",
            "With --format json, an array of objects with family, version, variant, state (installed, damaged or "
                + "available), active, verified, path and sizeBytes.",
            "With --available, a release that this device may not have shows the reason; in JSON as reason: no-engine, "
                + "app-too-old, not-enough-memory, not-in-rollout, yanked, held-back, or null. If an origin does not answer, its last "
                + "list is shown.",
        ],
        options: [available, Flag.refresh, format],
        examples: [
            .init("hearth list", "List the installed models."),
            .init("hearth list --available", "List what the origins offer."),
            .init("hearth list --format json", "The same for a program."),
        ])

    let isAvailable: Bool
    let policy: CachePolicy
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        isAvailable = values.has(Self.available)
        policy = values.has(.refresh) ? .now : .asPublished
        format = try values.value(Self.format) ?? .table
    }

    func run(in context: CommandContext) async throws {
        let manager = try await context.manager()
        let entries = try await isAvailable ? offered(manager, context) : installed(manager)
        switch format {
        case .json: try context.console.print(JSONText.pretty(entries))
        case .table:
            guard !entries.isEmpty else {
                context.console.say(isAvailable ? "The origins offer nothing." : "No model is installed.")
                return
            }
            var table = Table(
                ("FAMILY", .left), ("VERSION", .left), ("VARIANT", .left), ("SIZE", .right), ("STATE", .left))
            for entry in entries {
                table.add(
                    entry.family, entry.version, entry.variant ?? "-", ByteCount(entry.sizeBytes).description,
                    entry.stateText)
            }
            for line in table.lines { try context.console.print(line) }
        }
    }

    private func installed(_ manager: ModelManager) async throws -> [ReleaseEntry] {
        let inventory = try await manager.store.inventory()
        var states: [Family: ReleaseState] = [:]
        for family in Set(inventory.releases.map(\.identity.family)) {
            states[family] = try await manager.store.state(of: family)
        }
        let whole = inventory.releases.map { release in
            var entry = ReleaseEntry(release)
            entry.records = states[release.identity.family]?.records(of: release.identity) ?? []
            return entry
        }
        let entries = whole + inventory.damaged.map(ReleaseEntry.init)
        // Keep each list's order within a family.
        return entries.enumerated()
            .sorted { ($0.element.family, $0.offset) < ($1.element.family, $1.offset) }
            .map(\.element)
    }

    private func offered(_ manager: ModelManager, _ context: CommandContext) async throws -> [ReleaseEntry] {
        let console = context.console
        let reports = try await manager.reports(policy)
        let offers = try await manager.available(in: reports)
        for report in reports {
            switch report.outcome {
            case .success(let listing):
                CachedList(report.source, listing.freshness).map { console.say($0.sentence) }
                context.warn(ExpiringSignatures(report.source, until: listing.signedUntil, now: context.time.now))
            case .failure(let error):
                console.say("\(report.source): \((error as? any HearthFailure)?.message ?? "\(error)")")
            }
        }
        let installed = Dictionary(
            try await manager.installed().map { ($0.identity.published, $0) },
            uniquingKeysWith: { first, second in second.isActive ? second : first })
        return offers.map { ReleaseEntry($0, installed: installed[$0.release.identity]) }
    }
}
