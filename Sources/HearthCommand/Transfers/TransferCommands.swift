import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer

/// `hearth transfers list`
struct TransfersList: Command {
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "transfers", "list", summary: "List running, waiting and unfinished transfers",
        """
        States: running; waiting, for any network or for one that is not metered; paused; interrupted, if its process
        ended: the next pull continues it; finished, if all bytes are received but not installed; corrupted, if they did
        not match their checksum: nothing is fetched before you pull or resume it; orphaned, if its plan names no model
        or it was cancelled.

        With --format json, an array of objects with key, file, family, version, variant, state, process, receivedBytes,
        totalBytes, diskBytes, changed and reason.

        hearth transfers list  # Show all transfers.
        hearth transfers list --format json  # The same for a program.
        """)

    func run(in context: CommandContext) async throws {
        let list = try await context.transfers().transfers.list()
        try context.console.list(
            list, format, json: JSON.pretty(list.map { TransferRow($0) }), empty: "There are no transfers.",
            [
                .left("KEY") { $0.shortKey }, .left("FILE") { $0.plan?.label ?? "-" },
                .left("MODEL") { $0.release?.description ?? "-" }, .right("RECEIVED") { $0.received },
                .left("STATE") { $0.state.sentence },
            ])
    }
}

/// `hearth transfers pause KEY`
struct TransfersPause: Command {
    @Argument(.transferKey) var key: String

    static let declaration = CommandDeclaration(
        "transfers", "pause", summary: "Stop a transfer and keep its bytes",
        """
        The process that runs it stops fetching within a second and continues after `hearth transfers resume`. The
        transfer stays paused if its process ends; a pull of the same model continues it.

        hearth transfers pause lupus-diary  # All transfers of one model.
        """)

    func run(in context: CommandContext) async throws {
        let transfers = try await context.transfers().transfers
        for summary in try await transfers.list().matching(key) {
            switch try await transfers.pause(summary.key) {
            case .here, .nobody: context.console.say("\(summary.name) is paused; \(summary.received) is kept.")
            case .elsewhere(let holder): context.console.say("\(summary.name): \(holder) pauses within a second.")
            }
        }
    }
}

/// `hearth transfers resume KEY`
struct TransfersResume: Command {
    @Argument(.transferKey) var key: String
    @Option(
        "limit-rate", "BYTES/s", .byteCount, default: "no limit", "Fetch at most so many bytes a second, such as 2M.")
    var rate: UInt64?
    @Flag("allow-unverified", "Accept files for which the publisher gives no digest.") var allowUnverified
    @Option(.metered) var metered: MeteredUse?
    @Option(.events) var format: EventFormat

    static let declaration = CommandDeclaration(
        "transfers", "resume", summary: "Continue a paused or interrupted transfer",
        """
        If a process waits for it, that process continues it. Otherwise this command repeats the pull: received bytes
        are not fetched again, and the model is installed at the end.

        With --format json, events as of pull.

        0: Another process continues it, or the model is installed.
        1: It failed; see the code.
        75: Not now: the origin cannot be reached, or the network is metered or offline.
        130: Interrupted; received bytes are kept.

        hearth transfers resume lupus-diary  # Continue all transfers of one model.
        """)

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        let manager = try await context.transfers()
        var options = PullOptions()
        (options.bytesPerSecond, options.allowUnverified) = (rate, allowUnverified)
        options.metered = try await context.meteredUse(metered)
        var pulled: [ModelReference] = []
        for summary in try await manager.transfers.list().matching(key) {
            switch try await manager.transfers.resume(summary.key) {
            case .here: context.console.say("\(summary.name) continues in process \(getpid()).")
            case .elsewhere(let holder): context.console.say("\(summary.name) continues in \(holder).")
            case .nobody:
                guard let plan = summary.plan else { continue }
                if let reference = plan.reference {
                    // One pull fetches all files of a release.
                    guard !pulled.contains(reference) else { continue }
                    pulled.append(reference)
                }
                let (resolved, options) = try await manager.resolve(again: plan, options: options)
                let outcome = try await context.pull(
                    resolved, with: manager, options: options, format: format)
                if format == .json { try context.console.emit(PullEvent.done(PulledRelease(outcome))) }
            }
        }
    }
}

/// `hearth transfers cancel KEY`
struct TransfersCancel: Command {
    @Argument(.transferKey) var key: String

    static let declaration = CommandDeclaration(
        "transfers", "cancel", summary: "End a transfer and delete its bytes", isDestructive: true,
        """
        The process that runs it ends with the code cancelled. Prints the key of each removed transfer.

        0: It is removed.
        75: The process that runs it does not answer.

        hearth transfers cancel lupus-diary  # All transfers of one model.
        """)

    func run(in context: CommandContext) async throws {
        let transfers = try await context.transfers().transfers
        for summary in try await transfers.list().matching(key) {
            try await transfers.cancel(summary.key)
            try context.console.print(summary.key.name)
            context.console.say("\(summary.name) is cancelled; \(ByteCount(summary.allocatedBytes)) are free again.")
        }
    }
}

/// `hearth transfers clean`
struct TransfersClean: Command {
    @Flag("all", "Remove every transfer that no process runs: paused, interrupted and finished ones as well.") var all
    @Flag("dry-run", "Only show what would be removed.") var isDryRun

    static let declaration = CommandDeclaration(
        "transfers", "clean", summary: "Remove unfinished transfers", isDestructive: true,
        """
        Removes orphaned transfers and prints the key, the size on the disk and the state of each. Running transfers are
        always kept.

        hearth transfers clean --all --dry-run  # Show what could be removed.
        hearth transfers clean  # Remove orphaned transfers.
        """)

    func run(in context: CommandContext) async throws {
        let removed = try await context.transfers().transfers.clean(
            onlyOrphans: !all, isDryRun: isDryRun)
        guard !removed.isEmpty else { return context.console.say("There is nothing to remove.") }
        try context.console.print(
            removed,
            [
                .left("KEY") { $0.shortKey }, .left("FILE") { $0.plan?.label ?? "-" },
                .right("DISK") { ByteCount($0.allocatedBytes).description }, .left("STATE") { $0.state.word },
            ])
        let bytes = ByteCount(removed.reduce(0) { $0 + $1.allocatedBytes })
        context.console.say(isDryRun ? "\(bytes) would be free again." : "\(bytes) are free again.")
    }
}
