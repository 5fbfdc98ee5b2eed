import HearthBase

/// The mark of what is being made of a release: on the disk while the engine's code is at it, with how far that has come.
///
/// It goes with the wish to end and not with the end: whoever is told to stop, by Ctrl-C or because the app ends, is no sign of
/// anything, and the engine may take seconds to notice. Blocks, all of it.
final class MakingMark: Sendable {
    private struct State {
        var mark: ActivityMark
        var isOver = false
    }

    private let files: MarkFiles
    private let release: ReleaseIdentity
    private let token = ActivityMark.token()
    private let state: Locked<State>

    init(_ mark: ActivityMark, of release: ReleaseIdentity, in files: MarkFiles) {
        self.files = files
        self.release = release
        state = Locked(State(mark: mark))
    }

    /// Says that it begins.
    func begin() throws { try files.put(state.withLock(\.mark), release, token: token) }

    /// Says how far it has come, 0...1: a small file is written at each hundredth.
    func reached(_ fraction: Double) {
        guard fraction >= 0, fraction < 1 else { return }
        let hundredths = Int(fraction * 100)
        let next = state.withLock { state -> ActivityMark? in
            guard !state.isOver, hundredths > state.mark.reached ?? 0 else { return nil }
            state.mark.reached = hundredths
            return state.mark
        }
        guard let next else { return }
        do {
            try files.put(next, release, token: token)
        } catch {
            Log.write(.info, "delivery.activation", "how far \(release) is made is not noted: \(error)")
        }
        // It was over meanwhile, and has come back.
        if state.withLock(\.isOver) { end() }
    }

    /// Takes it away, for good: one that stays counts as an end of the process.
    func end() {
        state.withLock { $0.isOver = true }
        do {
            try files.remove(release, token: token)
        } catch {
            Log.write(.warning, "delivery.activation", "the mark of \(release) stays until the next start: \(error)")
        }
    }
}
