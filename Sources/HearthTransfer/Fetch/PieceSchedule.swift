import HearthBase

/// Assigns a file's bytes to connections: pieces in order, and at the end a share of the slowest connection's rest.
///
/// No byte is assigned to two workers at a time. A worker is a connection, known by its number.
struct PieceSchedule: Sendable {
    /// The bytes that one worker fetches.
    struct Assignment: Sendable, Equatable {
        /// The bytes still to come.
        package var left: Range<UInt64>
        package let start: UInt64
        let began: Duration
        /// When the last of its bytes came.
        var lastBytes: Duration
    }

    /// The seconds that the slowest worker must still need before another one helps it.
    private static let worthHelping = 0.25

    /// The file's length; `nil` while only a limit is known.
    package private(set) var total: UInt64?
    /// The missing bytes that no worker is fetching.
    package private(set) var missing: RangeSet<UInt64>
    private(set) var assignments: [Int: Assignment] = [:]
    private let pieceLength: UInt64
    private let minimumSplit: UInt64
    /// How long a worker must be silent before another one does all its work.
    private let silence: Duration
    /// The average bytes a second of finished assignments; 0 before the first.
    private var pace = 0.0

    /// Schedules a file of `total` bytes, or of at most `limit`, without the bytes `held`.
    init(total: UInt64?, limit: UInt64, held: RangeSet<UInt64>, tuning: TransferTuning) {
        self.total = total
        pieceLength = max(1, tuning.pieceLength)
        minimumSplit = max(1, tuning.minimumSplit)
        silence = (tuning.stragglerInterval ?? .seconds(1)) * 4
        missing = RangeSet(0..<(total ?? limit)).subtracting(held)
    }

    /// Whether every byte was received; some may not be written yet.
    package var isComplete: Bool { missing.isEmpty && assignments.values.allSatisfy(\.left.isEmpty) && total != nil }

    /// Whether missing bytes wait for a worker.
    var hasUnassigned: Bool { !missing.isEmpty }

    /// Notes the length once a server has reported it.
    package mutating func settle(total: UInt64) {
        guard self.total == nil else { return }
        self.total = total
        missing.remove(contentsOf: total..<UInt64.max)
        for (worker, assignment) in assignments where assignment.left.upperBound > total {
            assignments[worker]?.left = min(assignment.left.lowerBound, total)..<total
        }
    }

    /// Assigns the next bytes to a worker; `nil` if the rest is not worth another connection.
    /// - Parameter whole: assigns the whole first gap, for a server that sends no parts.
    mutating func assign(_ worker: Int, whole: Bool = false, at now: Duration) -> Range<UInt64>? {
        guard let first = missing.ranges.first ?? split(at: now) else { return nil }
        let boundary = first.lowerBound / pieceLength * pieceLength
        let (pieceEnd, isPastEnd) = boundary.addingReportingOverflow(pieceLength)
        let end = whole || isPastEnd ? first.upperBound : min(first.upperBound, pieceEnd)
        let range = first.lowerBound..<end
        missing.remove(contentsOf: range)
        assignments[worker] = Assignment(left: range, start: range.lowerBound, began: now, lastBytes: now)
        return range
    }

    /// Extends a worker's assignment to the end of the file, because the server sends the whole file.
    mutating func widen(_ worker: Int) {
        guard let assignment = assignments[worker] else { return }
        let end = total ?? missing.ranges.last?.upperBound ?? assignment.left.upperBound
        missing.remove(contentsOf: assignment.left.lowerBound..<max(end, assignment.left.upperBound))
        assignments[worker]?.left = assignment.left.lowerBound..<max(end, assignment.left.upperBound)
    }

    /// Assigns the whole file to one worker, and nothing to the others.
    mutating func rewind(_ worker: Int, limit: UInt64, at now: Duration) {
        missing = RangeSet()
        assignments = [worker: Assignment(left: 0..<(total ?? limit), start: 0, began: now, lastBytes: now)]
    }

    /// Counts received bytes; returns how many belong to the worker. Another one may have taken over the rest.
    mutating func accept(_ worker: Int, _ count: Int, at now: Duration) -> Int {
        guard let assignment = assignments[worker] else { return 0 }
        let accepted = min(UInt64(count), UInt64(assignment.left.count))
        assignments[worker]?.left = (assignment.left.lowerBound + accepted)..<assignment.left.upperBound
        assignments[worker]?.lastBytes = now
        return Int(accepted)
    }

    /// Ends a worker's assignment; its remaining bytes are missing again.
    package mutating func release(_ worker: Int, at now: Duration) {
        guard let assignment = assignments.removeValue(forKey: worker) else { return }
        let (done, elapsed) = (Double(assignment.left.lowerBound - assignment.start), (now - assignment.began).seconds)
        if assignment.left.isEmpty, elapsed > 0 { pace = pace == 0 ? done / elapsed : (pace + done / elapsed) / 2 }
        missing.insert(contentsOf: assignment.left)
    }

    /// Marks wrong bytes as missing again, except those already assigned.
    mutating func putBack(_ range: Range<UInt64>) {
        missing.formUnion(RangeSet(range).subtracting(RangeSet(assignments.values.map(\.left))))
    }

    /// Takes a share from the worker that would end last, and makes it missing: as much as a connection of average
    /// pace fetches meanwhile; everything if that worker is silent.
    private mutating func split(at now: Duration) -> Range<UInt64>? {
        let slowest = assignments.filter { !$0.value.left.isEmpty }
            .map { (worker: $0.key, its: $0.value, seconds: secondsLeft($0.value, at: now)) }
            .max { ($0.seconds, $0.worker) < ($1.seconds, $1.worker) }
        guard let (worker, its, seconds) = slowest, seconds >= Self.worthHelping else { return nil }
        let left = UInt64(its.left.count)
        var kept: UInt64 = 0
        if now - its.lastBytes < silence {
            let itsPace = Double(left) / seconds
            kept = pace > 0 ? UInt64(Double(left) * itsPace / (itsPace + pace)) : left / 2
            guard left - kept >= minimumSplit, kept >= minimumSplit else { return nil }
        }
        let share = (its.left.lowerBound + kept)..<its.left.upperBound
        assignments[worker]?.left = its.left.lowerBound..<share.lowerBound
        missing.insert(contentsOf: share)
        return share
    }

    /// The seconds a worker still needs at its pace so far; infinite before its first byte.
    private func secondsLeft(_ assignment: Assignment, at now: Duration) -> Double {
        let done = Double(assignment.left.lowerBound - assignment.start)
        let elapsed = (now - assignment.began).seconds
        guard elapsed > 0 else { return 0 }
        return done > 0 ? Double(assignment.left.count) * elapsed / done : .infinity
    }
}
