import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// `hearth list`
struct List: Command {
    @Flag("available", "List what the origins and the catalog offer instead.") var isAvailable
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
        last list is shown. Then come the models of the catalog, which lie in repositories of the Hugging Face Hub: the
        state says which fit this device and which one to begin with, and sizes are estimates. In JSON such a row has
        catalog: repository, name, parameters, kind, tools, license, summary, fits, recommended and tokensPerSecond.

        hearth list  # List the installed models.
        hearth list --available  # List what can be pulled by a short name.
        hearth list --format json  # The same for a program.
        """)

    func run(in context: CommandContext) async throws {
        let manager = try await context.manager()
        let entries = try await isAvailable ? offered(manager, context) : installed(manager)
        var columns: [Column<ReleaseRow>] = [
            .left("FAMILY") { $0.family }, .left("VERSION") { $0.version }, .left("VARIANT") { $0.variant ?? "-" },
            .right("SIZE") { $0.sizeText }, .left("STATE") { $0.stateText },
        ]
        if entries.contains(where: { $0.catalog != nil }) { columns.append(.left("ABOUT") { $0.catalog?.text ?? "" }) }
        if format.isJSON { return try context.console.print(JSON.pretty(entries)) }
        if entries.isEmpty {
            context.console.say(isAvailable ? "The origins offer nothing." : "No model is installed.")
        } else if isAvailable {
            try context.console.printFitting(entries, columns)
        } else {
            try context.console.print(entries, columns)
        }
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
        let policy = refresh ? CachePolicy.now : .asPublished
        let (suggested, problem) = try await manager.suggestions(policy)
        if let problem { console.say("The newer catalog is not used: \(problem.sentence)") }
        let reports: [SourceReport]
        do {
            reports = try await manager.reports(policy)
        } catch let error as DeliveryError where error.code == .noOrigin && !suggested.isEmpty {
            reports = []
        }
        for report in reports {
            switch report.outcome {
            case .success(let listing):
                CachedList(report.source, listing.freshness).map { console.say($0.sentence) }
                context.warn(ExpiringSignatures(report.source, until: listing.signedUntil, now: context.time.now))
            case .failure(let error):
                console.say("\(report.source): \(error.sentence)")
            }
        }
        let offers = reports.isEmpty ? [] : try await manager.available(in: reports)
        let releases = try await manager.installed()
        let installed = Dictionary(
            releases.map { ($0.identity.published, $0) },
            uniquingKeysWith: { first, second in second.isActive ? second : first })
        let listed = Set(offers.map(\.release.identity.family))
        return offers.map { ReleaseRow($0, installed: installed[$0.release.identity]) }
            + ReleaseRow.catalog(suggested, besides: listed, installed: releases)
    }
}

extension Error {
    /// The message of a failure of this package, else a description.
    fileprivate var sentence: String { (self as? any HearthFailure)?.message ?? "\(self)" }
}

extension ReleaseRow {
    /// The size to display; of a model of the catalog that is not here an estimate.
    fileprivate var sizeText: String {
        (catalog != nil && state == .available ? "about " : "") + ByteCount(sizeBytes).description
    }
}

extension ReleaseRow.CatalogFacts {
    /// What helps to choose, in a few words.
    fileprivate var text: String {
        let tools = [.yes: "tools", .weak: "weak with tools"][self.tools]
        return [kind.rawValue, tools, license].compactMap(\.self).joined(separator: ", ")
    }
}
