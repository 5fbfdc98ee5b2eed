import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore

/// `hearth prune`
struct Prune: Command {
    @Flag("dry-run", "Only show what would be removed and what is kept.") var isDryRun
    @Option(
        "budget", "SIZE", .byteCount, default: "no limit",
        "Remove also the models used longest ago, until the rest takes at most so many bytes, such as 20G.") var budget:
        UInt64?
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "prune", summary: "Remove releases and other files that are not needed any more", isDestructive: true,
        """
        Removes releases older than the active one of their model, artifacts whose release is removed or whose recipe
        changed, orphaned transfers older than a day, catalogs of origins that are not configured any more, and computed
        states of models that are not installed, a day after their last use. It keeps the active release, the previous
        one, a pinned one, and every release that a process uses or fetches now.

        With --budget, it also removes the releases used longest ago, until the rest fits. A file that several releases
        share is counted once, and freed with the last of them.

        With --format json, an object with dryRun, freedBytes, remainingBytes, budgetBytes, removed (kind, name, reason,
        sizeBytes) and kept (name, reasons, sizeBytes).

        0: Done, and the rest fits the budget.
        1: The kept releases do not fit the budget.

        hearth prune --dry-run  # Show what would be removed, and why the rest is kept.
        hearth prune --budget 20G  # Keep at most 20 GB of models.
        """)

    private struct Report: Encodable {
        struct Removed: Encodable {
            let kind: String
            let name: String
            let reason: String
            let sizeBytes: UInt64
        }
        struct Kept: Encodable {
            let name: String
            let reasons: [String]
            let sizeBytes: UInt64
        }
        let dryRun: Bool
        let freedBytes: UInt64
        let remainingBytes: UInt64
        let budgetBytes: UInt64?
        let removed: [Removed]
        let kept: [Kept]
    }

    func run(in context: CommandContext) async throws {
        let manager = try await context.manager()
        let plan = try await manager.collectionPlan(budget: budget)
        let removed = isDryRun ? plan.removals : try await manager.collect(plan)
        switch format {
        case .json: try context.console.print(JSON.pretty(report(plan, removed)))
        case .table: try show(plan, removed, on: context.console)
        }
        guard !plan.fits, let budget else { return }
        throw StoreError(
            .overBudget,
            "the kept releases take \(ByteCount(plan.remainingBytes)), more than the budget of \(ByteCount(budget))",
            context: ErrorContext(
                expected: "at most \(budget) bytes", found: "\(plan.remainingBytes) bytes",
                remedy: "Remove a model with 'hearth remove', or choose a larger budget."))
    }

    private func report(_ plan: CollectionPlan, _ removed: [CollectionPlan.Removal]) -> Report {
        Report(
            dryRun: isDryRun, freedBytes: removed.reduce(0) { $0 + $1.bytes }, remainingBytes: plan.remainingBytes,
            budgetBytes: plan.budget,
            removed: removed.map {
                Report.Removed(
                    kind: $0.item.kind, name: $0.item.name, reason: $0.reason.rawValue, sizeBytes: $0.bytes)
            },
            kept: plan.kept.map {
                Report.Kept(
                    name: $0.identity.description, reasons: $0.reasons.map(\.rawValue), sizeBytes: $0.bytes)
            })
    }

    private func show(_ plan: CollectionPlan, _ removed: [CollectionPlan.Removal], on console: Console) throws {
        if !removed.isEmpty {
            try console.print(
                removed,
                [
                    .left(isDryRun ? "WOULD GO" : "REMOVED") { "\($0.item.kind) \($0.item.name)" },
                    .right("FREES") { ByteCount($0.bytes).description }, .left("BECAUSE") { $0.reason.sentence },
                ])
        }
        for kept in plan.kept {
            let why = kept.reasons.isEmpty ? "the budget has room for it" : kept.reasons[0].sentence
            console.say("\(kept.identity) stays: \(why)")
        }
        let freed = ByteCount(removed.reduce(0) { $0 + $1.bytes })
        console.say(isDryRun ? "That would free \(freed)." : "Freed \(freed).")
    }
}

extension CollectionPlan.Reason {
    /// The reason for a removal, to display.
    fileprivate var sentence: String {
        switch self {
        case .superseded: "a newer release is active"
        case .overBudget: "it was used longest ago"
        case .outdated: "its engine opens another now, or none"
        case .stray: "nothing belongs to it any more"
        }
    }
}
