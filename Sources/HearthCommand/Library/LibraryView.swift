import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer
import Observation

/// Shows a `ModelLibrary` on a terminal and carries out the user's keys. ``LibraryScreen`` formats the content,
/// ``LibraryControl`` interprets the keys.
@MainActor final class LibraryView {
    /// How the user left the screen.
    enum Ending: Sendable, Hashable { case left, interrupted }

    private enum Event: Sendable {
        /// The content changed.
        case changed
        /// A message or question arrived.
        case said
        case terminal(TerminalEvent)
        /// The pause after the last drawing ended.
        case due
    }

    /// The minimum time between two drawings.
    static let redrawInterval = ProgressRenderer.redrawInterval

    private let library: ModelLibrary
    private let terminal: any ScreenTerminal
    private let time: TimeSource
    private let notes: ScreenNotes
    private let (events, source) = AsyncStream.makeStream(of: Event.self)
    private var control: LibraryControl
    private var keys = KeyReader()
    private var painter = ScreenPainter()
    private var sinceDrawn: Stopwatch?
    private var isPausing = false
    /// Whether a change of the content will be reported.
    private var isWatching = false
    /// Whether the models on this device were not looked up yet.
    private var isNew = true
    /// Tasks started by keys.
    private var tasks: [Task<Void, Never>] = []

    /// A view of a library; its last line shows messages sent to `notes`.
    init(library: ModelLibrary, terminal: any ScreenTerminal, time: TimeSource, notes: ScreenNotes) {
        self.library = library
        self.terminal = terminal
        self.time = time
        self.notes = notes
        control = LibraryControl(asksAboutMetered: library.metered == .ask)
    }

    /// Shows the library until the user leaves or the task is cancelled. The terminal is restored, even after a crash
    /// but not after `kill -9`: `reset` restores it then.
    /// - Throws: `FileError` and ``OutputClosed`` of the terminal, `CancellationError`.
    func run(_ policy: CachePolicy) async throws -> Ending {
        defer { terminal.leave() }
        try terminal.enter { [source] in source.yield(.terminal($0)) }
        notes.divert { [weak self] note in
            Task { @MainActor in self?.show(TerminalText.singleLine(note).trimmingCharacters(in: .whitespaces)) }
        }
        defer { notes.divert(nil) }
        begin {
            self.isNew = false
            await self.library.refresh(policy)
        }
        return try await withEnding(end) { try await follow() }
    }

    private func end() async {
        // Restore the terminal first: tasks may take a moment to end.
        terminal.leave()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Draws and handles events until the user leaves.
    private func follow() async throws -> Ending {
        try await draw()
        for await event in events {
            if let ending = try await follow(event) { return ending }
        }
        throw CancellationError()
    }

    private func follow(_ event: Event) async throws -> Ending? {
        switch event {
        case .changed: isWatching = false
        case .said: break
        case .due: isPausing = false
        case .terminal(.resized): painter.forget()
        case .terminal(.ended): return .left
        case .terminal(.bytes(let bytes)):
            for key in keys.keys(bytes) {
                control.settle(in: library.rows)
                let page = screen.page(terminal.size)
                guard let action = control.take(key, in: library.rows, page: page) else { continue }
                if let ending = try await carryOut(action) { return ending }
            }
        }
        // Limit the rate of drawing; later changes are drawn after the pause.
        guard !isPausing else { return nil }
        if let elapsed = sinceDrawn?.elapsed, elapsed < Self.redrawInterval {
            isPausing = true
            Task { [time, source] in
                // Only cancelled when nothing is drawn any more.
                try? await time.sleep(for: Self.redrawInterval - elapsed)
                source.yield(.due)
            }
            return nil
        }
        try await draw()
        return nil
    }

    // MARK: Drawing

    private var screen: LibraryScreen {
        LibraryScreen(
            rows: library.rows, selection: control.selection, isRefreshing: library.isRefreshing || isNew,
            notices: library.notices, prompt: control.prompt(in: library.rows))
    }

    /// Draws the current content and observes its next change.
    private func draw() async throws {
        control.settle(in: library.rows)
        let screen = watchedScreen()
        let size = terminal.size
        let drawn = screen.drawn(size)
        guard let text = painter.paint(drawn.lines, dimmed: drawn.dimmed, on: size) else { return }
        sinceDrawn = time.stopwatch()
        try await blocking { [terminal] in try terminal.write(text) }
    }

    private func watchedScreen() -> LibraryScreen {
        // Every screen reads the same properties, so one observation at a time covers all changes.
        if isWatching { return screen }
        isWatching = true
        return withObservationTracking {
            screen
        } onChange: { [source] in
            // Called before the change, on the main actor: the event is handled after the change.
            source.yield(.changed)
        }
    }

    private func show(_ message: String) {
        control.message = message
        source.yield(.said)
    }

    // MARK: Actions

    private func carryOut(_ action: LibraryControl.Action) async throws -> Ending? {
        switch action {
        case .leave: return .left
        case .interrupt: return .interrupted
        case .redraw: painter.forget()
        case .suspend:
            try await blocking { [terminal] in try terminal.suspend() }
            painter.forget()
        case .refresh where library.isRefreshing: break
        case .refresh: begin { await self.library.refresh(.now) }
        case .download(let family): download(family, library.metered)
        case .downloadMetered(let family): download(family, .allow)
        case .makeDefault(let family): begin { try await self.library.setDefaultModel(family) }
        case .cancel(let family): library.cancelDownload(family)
        case .delete(let family): begin { try await self.library.delete(family) }
        case .rollBack(let family): begin { try await self.library.rollBack(family) }
        }
        return nil
    }

    /// Starts a download with its own permission for metered networks.
    private func download(_ family: Family, _ metered: MeteredUse) {
        guard let model = library.row(of: family)?.model else { return }
        let usual = library.metered
        library.metered = metered
        defer { library.metered = usual }
        do {
            try library.download(model) { [weak self] ending in
                guard let self, case .failed(let failure) = ending, failure.isMetered else { return }
                self.control.refusedAsMetered(family)
                self.source.yield(.said)
            }
        } catch {
            show(LibraryFailure.shown(error, model: model).message)
        }
    }

    /// Runs a task without blocking keys, and shows its failure.
    private func begin(_ work: @escaping @MainActor () async throws -> Void) {
        let task = Task {
            do {
                try await work()
            } catch {
                show(LibraryFailure.shown(error).message)
            }
        }
        tasks.append(task)
    }
}
