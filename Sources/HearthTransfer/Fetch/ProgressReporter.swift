import HearthBase

/// Reports the progress of one file, or of several fetched together, through one meter.
///
/// Readings are decided under a lock and delivered in that order. So progress never goes backwards, even if several
/// threads report or a transfer is paused.
package final class ProgressReporter: Sendable {
    package typealias Watcher = @Sendable (TransferProgress) -> Void

    private struct State {
        var meter = ProgressMeter()
        var files: FileReadings
        var last: TransferProgress?
        var watchers: [UInt64: Watcher] = [:]
        /// The readings that are not delivered yet.
        var pending: [(reading: TransferProgress, watchers: [Watcher])] = []
        var isDelivering = false
    }

    private let state: Locked<State>
    private let stopwatch: Stopwatch
    private let pulse: TimeSource

    /// - Parameters:
    ///   - files: the sizes of the files, where several are fetched together.
    ///   - time: measures rates.
    ///   - pulse: measures the time between two readings while nothing is reported.
    ///   - report: the first watcher.
    package init(
        files: [FileSize] = [], time: TimeSource, pulse: TimeSource = .system, report: Watcher? = nil
    ) {
        state = Locked(State(files: FileReadings(files), watchers: report.map { [0: $0] } ?? [:]))
        stopwatch = time.stopwatch()
        self.pulse = pulse
    }

    /// The newest reading.
    package var last: TransferProgress? { state.withLock { $0.last } }

    /// Adds a watcher: it gets the newest reading at once and every one after it.
    package func add(_ id: UInt64, _ watcher: @escaping Watcher) {
        state.withLock { state in
            state.watchers[id] = watcher
            if let last = state.last { state.pending.append((last, [watcher])) }
        }
        deliver()
    }

    package func remove(_ id: UInt64) { state.withLock { _ = $0.watchers.removeValue(forKey: id) } }

    package func report(
        _ new: TransferState, _ completed: UInt64, _ total: UInt64?, fetched: UInt64? = nil, connections: Int = 0,
        source: String? = nil
    ) {
        decide { meter, _, now in
            meter.update(
                state: new, completed: completed, total: total, fetched: fetched, connections: connections,
                source: source, at: now)
        }
    }

    /// Reports a state in which no bytes come.
    /// - Parameters:
    ///   - held: the bytes on the disk; the meter may know of more.
    ///   - total: the length of the file, used until the meter knows it.
    package func report(_ new: TransferState, holding held: UInt64, of total: UInt64?) {
        decide { meter, _, now in meter.update(state: new, completed: held, total: meter.total ?? total, at: now) }
    }

    /// Applies a change of one of several files, and reports their sum.
    package func take(_ change: @Sendable (inout FileReadings) -> Void) {
        decide { meter, files, now in
            change(&files)
            return meter.update(files.sum, at: now)
        }
    }

    /// Passes on a reading that counts other bytes, such as those of an archive being unpacked.
    package func forward(_ reading: TransferProgress) { decide { _, _, _ in reading } }

    /// Reports standstills while `body` runs: workers report only when bytes come.
    package func whileTicking<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        async let _ = keepTicking()
        return try await body()
    }

    /// Ends when its task is cancelled.
    private func keepTicking() async {
        while await isNextPulse() { decide { meter, _, now in meter.tick(at: now) } }
    }

    /// Reports how many of the held bytes have been read again, until its task is cancelled.
    /// - Parameter total: the length of the file, if it is known.
    func keepReporting(check part: PartFile, of total: UInt64?) async {
        repeat {
            let checked = part.checkedCount
            decide { meter, _, now in
                // The speed of reading says nothing about the download.
                var reading = meter.update(state: .verifying, completed: checked, total: total, at: now)
                reading?.bytesPerSecond = nil
                return reading
            }
        } while await isNextPulse()
    }

    private func isNextPulse() async -> Bool {
        do {
            try await pulse.sleep(for: ProgressMeter.interval)
            return true
        } catch {
            return false
        }
    }

    private func decide(
        _ body: (inout ProgressMeter, inout FileReadings, _ now: Duration) -> TransferProgress?
    ) {
        let now = stopwatch.elapsed
        let isNews = state.withLock { state in
            guard let reading = body(&state.meter, &state.files, now) else { return false }
            state.last = reading
            state.pending.append((reading, Array(state.watchers.values)))
            return true
        }
        if isNews { deliver() }
    }

    /// Delivers in order: one thread at a time, which also delivers the readings of other threads.
    private func deliver() {
        let isMine = state.withLock { state in
            guard !state.isDelivering else { return false }
            state.isDelivering = true
            return true
        }
        guard isMine else { return }
        while true {
            let next = state.withLock { state -> (TransferProgress, [Watcher])? in
                guard !state.pending.isEmpty else {
                    state.isDelivering = false
                    return nil
                }
                return state.pending.removeFirst()
            }
            guard let (reading, watchers) = next else { return }
            for watcher in watchers { watcher(reading) }
        }
    }
}

/// The newest readings of files that are fetched together, and their sum.
///
/// The total is known once every file's exact length is known: from the catalog, the server or the disk. Before that, rounded
/// lengths stand in, until more bytes than those have arrived.
package struct FileReadings: Sendable {
    private struct File: Sendable {
        var size: UInt64?
        var estimate: UInt64
        var reading: TransferProgress?
        var isHere = false
    }

    private var files: [File]
    private var source: String?

    init(_ sizes: [FileSize]) { files = sizes.map { File(size: $0.exact, estimate: $0.estimate) } }

    /// Takes a reading of a file.
    package mutating func update(_ index: Int, _ reading: TransferProgress) {
        guard files.indices.contains(index), !files[index].isHere else { return }
        files[index].reading = reading
        files[index].size = reading.totalBytes ?? files[index].size
        source = reading.source ?? source
    }

    /// Notes that a file is complete, and its size.
    package mutating func end(_ index: Int, _ size: UInt64) {
        guard files.indices.contains(index) else { return }
        files[index].size = size
        files[index].isHere = true
    }

    /// The sum; its state is the one of smallest `rank` among the files that are not complete.
    package var sum: TransferProgress {
        let coming = files.filter { !$0.isHere }.compactMap(\.reading)
        let isOutgrown = files.contains { $0.size == nil && ($0.reading?.completedBytes ?? 0) > $0.estimate }
        let state = coming.map(\.state).min { $0.rank < $1.rank } ?? .verifying
        var sum = TransferProgress(
            state: state,
            completedBytes: files.map { file in
                file.isHere
                    ? file.size ?? 0
                    : file.reading.map { $0.completedBytes - min($0.completedBytes, $0.repeatedBytes) } ?? 0
            }.saturatedSum,
            totalBytes: isOutgrown ? nil : files.map { $0.size ?? $0.estimate }.saturatedSum,
            connections: coming.reduce(0) { $0 + $1.connections }, source: source)
        sum.fetchedBytes = files.map { $0.reading?.fetchedBytes ?? 0 }.saturatedSum
        return sum
    }
}

extension TransferState {
    /// Of several files in different states, the smallest rank is shown.
    fileprivate var rank: Int {
        switch self {
        case .downloading: 0
        case .connecting: 1
        case .verifying: 2
        case .retrying: 3
        case .waiting: 4
        case .queued: 5
        case .extracting, .installing, .preparing, .probing: 6
        }
    }
}
