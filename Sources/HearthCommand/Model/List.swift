import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// `hearth list`
struct List: Command {
    @Flag("available", "List what the origins offer instead.") var isAvailable
    @Flag(.refresh) var refresh
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "list", summary: "List the models on this device",
        """
        The active release of a family is used unless a version is named. A release is damaged if its files differ from
        its receipt, and unverified if its publisher gave no digest.

        With --format json, an array of objects with family, version, variant, state (installed, damaged or available),
        active, verified, path and sizeBytes.

        With --available, a release that this device may not have shows the reason; in JSON as reason: no-engine,
        app-too-old, not-enough-memory, not-in-rollout, yanked, held-back, or null. If an origin does not answer, its
        last list is shown.

        hearth list  # List the installed models.
        hearth list --available  # List what the origins offer.
        hearth list --format json  # The same for a program.
        """)

    func run(in context: CommandContext) async throws {
        let manager = try await context.manager()
        let entries = try await isAvailable ? offered(manager, context) : installed(manager)
        try context.console.list(
            entries, format, json: JSON.pretty(entries),
            empty: isAvailable ? "The origins offer nothing." : "No model is installed.",
            [
                .left("FAMILY") { $0.family }, .left("VERSION") { $0.version }, .left("VARIANT") { $0.variant ?? "-" },
                .right("SIZE") { ByteCount($0.sizeBytes).description }, .left("STATE") { $0.stateText },
            ])
    }

    private func installed(_ manager: ModelManager) async throws -> [ReleaseRow] {
        let inventory = try await manager.store.inventory()
        var states: [Family: ReleaseState] = [:]
        for family in Set(inventory.releases.map(\.identity.family)) {
            states[family] = try await manager.store.state(of: family)
        }
        let entries =
            inventory.releases.map { ReleaseRow($0, states[$0.identity.family]) }
            + inventory.damaged.map { ReleaseRow($0) }
        // Keep each list's order within a family.
        return entries.enumerated()
            .sorted { ($0.element.family, $0.offset) < ($1.element.family, $1.offset) }
            .map(\.element)
    }

    private func offered(_ manager: ModelManager, _ context: CommandContext) async throws -> [ReleaseRow] {
        let console = context.console
        let reports = try await manager.reports(refresh ? .now : .asPublished)
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
        return offers.map { ReleaseRow($0, installed: installed[$0.release.identity]) }
    }
}
