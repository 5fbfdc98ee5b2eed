import HearthBase

/// Records the entries of the log. A process has only one log, so tests that record it run one after the other.
///
/// ```swift
/// let log = await RecordedLog.start(.warning)
/// defer { log.stop() }
/// ```
package final class RecordedLog: Sendable {
    private struct Turns {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let turns = Locked(Turns())
    private let written = Locked<[Log.Entry]>([])

    private init() {}

    /// Waits until no other test records, then records every entry at or above a level.
    package static func start(_ threshold: Log.Level) async -> RecordedLog {
        await withCheckedContinuation { turn in
            let isFree = turns.withLock { turns in
                if turns.isTaken { turns.waiting.append(turn) }
                defer { turns.isTaken = true }
                return !turns.isTaken
            }
            if isFree { turn.resume() }
        }
        let log = RecordedLog()
        Log.use({ entry in log.written.withLock { $0.append(entry) } }, threshold: threshold)
        return log
    }

    /// Stops recording; the next waiting test begins.
    package func stop() {
        Log.use(nil)
        let next = Self.turns.withLock { turns in
            turns.isTaken = !turns.waiting.isEmpty
            return turns.waiting.isEmpty ? nil : turns.waiting.removeFirst()
        }
        next?.resume()
    }

    /// The messages so far; `part` is a subsystem, a category, or both joined by a full stop.
    package func messages(of part: String? = nil) -> [String] {
        written.withLock { $0 }
            .filter { part == nil || [$0.subsystem, $0.category, $0.name].contains(part) }.map(\.message)
    }
}
