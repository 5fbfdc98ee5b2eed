import Foundation
import Hearth
import HearthBase
import HearthDelivery
import Observation

/// The library on a terminal: shows what ``ModelLibrary`` says, does what keys ask for. What is shown is a ``LibraryScreen``,
/// what keys mean ``LibraryControl`` decides.
@MainActor final class LibraryView {
    /// How the person left.
    enum Ending: Sendable, Hashable { case left, interrupted }

    private enum Event: Sendable {
        /// Something that the library shows has changed.
        case changed
        /// A message or a question has come.
        case said
        case terminal(TerminalEvent)
        /// The pause after the last drawing is over.
        case due
    }

    /// The screen is drawn at most so often.
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
    /// Whether the next change of what is shown will be told.
    private var isWatching = false
    /// Whether what is here was never looked for yet.
    private var isNew = true
    /// What keys have begun.
    private var tasks: [Task<Void, Never>] = []

    /// A view of a library. What is said to `notes` meanwhile is shown in its last line.
    init(library: ModelLibrary, terminal: any ScreenTerminal, time: TimeSource, notes: ScreenNotes) {
        self.library = library
        self.terminal = terminal
        self.time = time
        self.notes = notes
        control = LibraryControl(asksAboutMetered: library.metered == .ask)
    }

    /// Shows the library until somebody leaves or the task is cancelled. The terminal is given back,
    /// also by a process that crashes, but for one that is ended by `kill -9`: `reset` brings it back then.
    /// - Throws: ``FileError`` and ``OutputClosed`` of the terminal, `CancellationError`.
    func run(_ wish: ListingWish) async throws -> Ending {
        defer { terminal.leave() }
        try terminal.enter { [source] in source.yield(.terminal($0)) }
        notes.divert { [weak self] note in
            Task { @MainActor in self?.show(TerminalText.singleLine(note).trimmingCharacters(in: .whitespaces)) }
        }
        defer { notes.divert(nil) }
        begin {
            self.isNew = false
            await self.library.refresh(wish)
        }
        let ending: Result<Ending, any Error>
        do {
            ending = .success(try await follow())
        } catch {
            ending = .failure(error)
        }
        // What is under way may take a moment to end; the terminal is given back before.
        terminal.leave()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        return try ending.get()
    }

    /// Draws, and follows what happens until somebody leaves.
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
        // Not more often than eyes can follow; what changes meanwhile is drawn when the pause is over.
        guard !isPausing else { return nil }
        if let elapsed = sinceDrawn?.elapsed, elapsed < Self.redrawInterval {
            isPausing = true
            Task { [time, source] in
                // Cut short only when nothing is drawn any more.
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

    /// Draws what is to be seen now, and hears of the next change of it.
    private func draw() async throws {
        control.settle(in: library.rows)
        let screen = watchedScreen()
        let size = terminal.size
        guard let text = painter.paint(screen.lines(size), on: size) else { return }
        sinceDrawn = time.stopwatch()
        try await blocking { [terminal] in try terminal.write(text) }
    }

    private func watchedScreen() -> LibraryScreen {
        // Every screen reads the same properties: one watch at a time hears of all their changes.
        if isWatching { return screen }
        isWatching = true
        return withObservationTracking {
            screen
        } onChange: { [source] in
            // Told before it is made, on the main actor: whoever hears of it sees it.
            source.yield(.changed)
        }
    }

    private func show(_ message: String) {
        control.message = message
        source.yield(.said)
    }

    // MARK: Carrying out

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
        }
        return nil
    }

    /// Begins a download; what is allowed to this one is not allowed to the next.
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

    /// Does what takes a while beside the keys; a failure is shown.
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
