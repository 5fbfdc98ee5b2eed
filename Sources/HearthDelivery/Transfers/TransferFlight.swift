import HearthBase

/// One transfer of this process, and everybody who asked for it. Touched by its ``TransferManager`` only.
final class TransferFlight {
    let key: TransferKey
    let request: TransferRequest
    let folder: TransferFolder
    let board: ProgressBoard
    /// Where it stands.
    var download = Download()
    /// Those who wait for its end.
    var askers: [UInt64: CheckedContinuation<TransferredFile, any Error>] = [:]
    /// Those who have got the file and have not let go of it.
    var holders = 0
    /// The file, once it is whole.
    var landed: TransferredFile?
    /// Whether one of those who let go wanted its bytes gone.
    var isUnwanted = false
    /// Nobody can join any more.
    var isEnding = false
    /// Fetches, while it runs.
    var fetching: Task<TransferredFile, any Error>?
    /// Looks at what other processes want, while it runs.
    var watching: Task<Void, Never>?
    /// Held from the first look at the folder to the last.
    var lock: TransferLock?
    /// Renews the lock's lease, while it runs.
    var renewing: Task<Void, Never>?
    /// Why the lock is not held any more, where another machine has taken it.
    var loss: TransferError?
    /// Resumed when a held transfer may go on, or ends.
    var wakeUp: CheckedContinuation<Void, Never>?
    /// Resumed when it is gone.
    var farewells: [CheckedContinuation<Void, Never>] = []

    init(key: TransferKey, request: TransferRequest, folder: TransferFolder, board: ProgressBoard) {
        self.key = key
        self.request = request
        self.folder = folder
        self.board = board
    }

    /// Does what the ``Download`` wants of a running transfer. Discarding waits until nothing writes any more.
    func carryOut(_ effects: [DownloadEffect]) {
        for effect in effects {
            switch effect {
            case .stop:
                fetching?.cancel()
                wake()
            case .fetch: wake()
            // The file is verified while it is fetched, and its bytes go at the flight's end.
            case .verify, .extract, .pause, .discardPart: break
            }
        }
    }

    private func wake() {
        wakeUp?.resume()
        wakeUp = nil
    }
}

/// Hands readings of one transfer on to everybody who watches it. They never go backwards, whoever joins and however often
/// the transfer is paused.
final class ProgressBoard: Sendable {
    private struct State {
        var last: TransferProgress?
        var watchers: [UInt64: @Sendable (TransferProgress) -> Void] = [:]
    }

    private let state = Locked(State())
    private let changed: @Sendable () -> Void

    /// - Parameter changed: called after every reading, on any thread.
    init(changed: @escaping @Sendable () -> Void) { self.changed = changed }

    /// The newest reading.
    var last: TransferProgress? { state.withLock { $0.last } }

    /// From now on every reading, and at once the newest there is.
    func add(_ id: UInt64, _ watcher: @escaping @Sendable (TransferProgress) -> Void) {
        let last = state.withLock { state in
            state.watchers[id] = watcher
            return state.last
        }
        if let last { watcher(last) }
    }

    func remove(_ id: UInt64) { state.withLock { _ = $0.watchers.removeValue(forKey: id) } }

    /// Passes a reading on.
    func post(_ progress: TransferProgress) {
        let (reading, watchers) = state.withLock { state in
            var reading = progress
            reading.completedBytes = max(state.last?.completedBytes ?? 0, progress.completedBytes)
            state.last = reading
            return (reading, Array(state.watchers.values))
        }
        for watcher in watchers { watcher(reading) }
        changed()
    }

    /// Tells that the same bytes are here, in another phase.
    func post(_ phase: TransferProgress.Phase, total: UInt64?) {
        let last = last
        post(
            TransferProgress(
                phase: phase, completedBytes: last?.completedBytes ?? 0, totalBytes: last?.totalBytes ?? total))
    }
}
