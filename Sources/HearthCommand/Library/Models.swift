import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

/// `hearth models`
struct Models: Command {
    @Flag("plain", "Print the list once, also at a terminal.") var isPlain
    @Flag(.refresh) var refreshes
    @Option(.metered) var metered: MeteredUse?
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "models", summary: "See and choose models, here and on offer",
        """
        At a terminal, a live view: arrow keys or j and k choose a row; Enter or space does what it needs: downloads the
        model, or makes one that is here the default of 'hearth chat'. u fetches an update, c gives up a download with
        what has come, b goes back to the release before, x deletes, r asks the origins anew, q and Ctrl-C leave: what
        has come of downloads is kept, and the next one goes on from there. Ctrl-Z stops the program until fg has it go
        on, also to be ended; a download waits as long. Only after a 'kill -9' the command reset is needed to bring the
        terminal back.

        A model that this device cannot run is dimmed; its row says why.

        Elsewhere, with --plain, NO_COLOR or TERM=dumb, the rows are printed once. * stands before the default model. An
        origin that does not answer is answered for by the last list it gave, which is said on stderr.

        With --format json, an array of objects with family, version, variant, name, summary, role, state
        (not-downloaded, downloaded, update-available or incompatible), progress, code and detail (why it stands so),
        action (what Enter would do: download, select or null), presence (none, bundled or downloaded), installed,
        update, rollback, sizeBytes, receivedBytes, memoryBytes, badges, isDefault and isSelected.

        0: It was listed, or left with q.
        1: It failed; see the code.
        130: Interrupted; what was received is kept.

        hearth models  # Look around, download, choose.
        hearth models --plain  # Only look.
        hearth models --format json  # The same for a program.
        """)

    func run(in context: CommandContext) async throws {
        guard let terminal = context.terminal, !isPlain, format == .table, context.console.canDim else {
            return try await list(in: context)
        }
        let notes = ScreenNotes(context.console.errors)
        let console = Console(
            output: context.console.output, errors: notes, environment: context.environment,
            isQuiet: context.console.isQuiet)
        let library = try await library(
            in: context.speaking(on: console), metered: try await context.meteredUse(metered, canAsk: true))
        let view = await LibraryView(library: library, terminal: terminal, time: context.time, notes: notes)
        let ending: Result<LibraryView.Ending, any Error>
        do {
            ending = .success(try await view.run(refreshes ? .now : .asPublished))
        } catch is CancellationError {
            ending = .success(.interrupted)
        } catch {
            ending = .failure(error)
        }
        let kept = await library.kept
        await library.close()
        switch try ending.get() {
        case .left: kept.map { context.console.say("\($0).") }
        case .interrupted: throw CommandError.interrupted(kept: kept)
        }
    }

    private func library(in context: CommandContext, metered: MeteredUse) async throws -> ModelLibrary {
        let hearth = try await context.hearth()
        // Fail on an unusable home, as other commands do.
        _ = try await context.recovered(hearth).store.inventory()
        return await MainActor.run {
            hearth.library.metered = metered
            return hearth.library
        }
    }

    private func list(in context: CommandContext) async throws {
        let library = try await library(in: context, metered: .deny)
        // A listing fetches no model: unfinished downloads stay as they are.
        await library.refreshLocal()
        await library.refreshOffers(refreshes ? .now : .asPublished)
        let (rows, notices) = await (library.rows, library.notices)
        for notice in notices { context.console.say(notice) }
        try context.console.list(
            rows, format, json: JSON.pretty(rows), empty: "No model is here, and none is on offer.",
            [.mark(), .family, .name(), .size, .memory, .badges, .state])
    }
}

extension ModelLibrary {
    /// What is kept of active downloads when the program ends, as the end of a sentence.
    var kept: String? {
        let kept = rows.compactMap { row in
            row.reading.flatMap { $0.completedBytes > 0 ? "\($0.bytesText) of \(row.model.displayName)" : nil }
        }
        guard !kept.isEmpty else { return nil }
        return "\(kept.joined(separator: ", ")) are kept and the next download goes on from there"
    }
}
