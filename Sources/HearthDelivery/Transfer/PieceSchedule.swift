import HearthBase

/// Which bytes of a file are fetched next and by whom: pieces in order, and at the end a share of what the slowest has left.
///
/// No byte is ever assigned twice at a time. A worker is a connection, known by its number.
struct PieceSchedule: Sendable {
    /// What one worker is fetching.
    struct Assignment: Sendable, Equatable {
        /// The bytes still to come.
        var left: Range<UInt64>
        let start: UInt64
        let began: Duration
        /// When the last of its bytes came.
        var lastBytes: Duration
    }

    /// How long the slowest worker has to need, in seconds, before somebody helps it.
    private static let worthHelping = 0.25

    /// The file's length; `nil` while only a limit is known.
    private(set) var total: UInt64?
    /// The bytes that are not here and that nobody is fetching.
    private(set) var missing: RangeSet<UInt64>
    private(set) var assignments: [Int: Assignment] = [:]
    private let pieceLength: UInt64
    private let minimumSplit: UInt64
    /// How long a worker has to be silent before somebody else does its work.
    private let silence: Duration
    /// What a connection brought in a second, when it was done; 0 before the first was.
    private var pace = 0.0

    /// A file of `total` bytes, or of at most `limit`, of which `held` is here.
    init(total: UInt64?, limit: UInt64, held: RangeSet<UInt64>, tuning: TransferTuning) {
        self.total = total
        pieceLength = max(1, tuning.pieceLength)
        minimumSplit = max(1, tuning.minimumSplit)
        silence = (tuning.stragglerInterval ?? .seconds(1)) * 4
        missing = RangeSet(0..<(total ?? limit)).subtracting(held)
    }

    /// Whether nothing more has to come, though some of it may still be on its way to the disk.
    var isComplete: Bool { missing.isEmpty && assignments.values.allSatisfy(\.left.isEmpty) && total != nil }

    /// Whether there is anything to be fetched that nobody is fetching.
    var hasUnassigned: Bool { !missing.isEmpty }

    /// Notes the length once a server has said it.
    mutating func settle(total: UInt64) {
        guard self.total == nil else { return }
        self.total = total
        missing.remove(contentsOf: total..<UInt64.max)
        for (worker, assignment) in assignments where assignment.left.upperBound > total {
            assignments[worker]?.left = min(assignment.left.lowerBound, total)..<total
        }
    }

    /// Gives a worker the next bytes; `nil` when nothing is left that would be worth another connection.
    /// - Parameter whole: everything from the first missing byte on, for a server that sends no parts.
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

    /// Lets a worker have everything behind its first byte, because the server sends the whole file.
    mutating func widen(_ worker: Int) {
        guard let assignment = assignments[worker] else { return }
        let end = total ?? missing.ranges.last?.upperBound ?? assignment.left.upperBound
        missing.remove(contentsOf: assignment.left.lowerBound..<max(end, assignment.left.upperBound))
        assignments[worker]?.left = assignment.left.lowerBound..<max(end, assignment.left.upperBound)
    }

    /// Begins a worker's assignment again at the file's first byte.
    mutating func rewind(_ worker: Int, limit: UInt64, at now: Duration) {
        missing = RangeSet()
        assignments = [worker: Assignment(left: 0..<(total ?? limit), start: 0, began: now, lastBytes: now)]
    }

    /// Takes bytes a worker received; returns how many of them are its own. Somebody else may have taken over the rest.
    mutating func accept(_ worker: Int, _ count: Int, at now: Duration) -> Int {
        guard let assignment = assignments[worker] else { return 0 }
        let accepted = min(UInt64(count), UInt64(assignment.left.count))
        assignments[worker]?.left = (assignment.left.lowerBound + accepted)..<assignment.left.upperBound
        assignments[worker]?.lastBytes = now
        return Int(accepted)
    }

    /// Ends a worker's assignment: what it did not bring is missing again.
    mutating func release(_ worker: Int, at now: Duration) {
        guard let assignment = assignments.removeValue(forKey: worker) else { return }
        let (done, elapsed) = (Double(assignment.left.lowerBound - assignment.start), (now - assignment.began).seconds)
        if assignment.left.isEmpty, elapsed > 0 { pace = pace == 0 ? done / elapsed : (pace + done / elapsed) / 2 }
        missing.insert(contentsOf: assignment.left)
    }

    /// Wants bytes again that were here and turned out to be wrong; those that are on their way again already come once.
    mutating func putBack(_ range: Range<UInt64>) {
        missing.formUnion(RangeSet(range).subtracting(RangeSet(assignments.values.map(\.left))))
    }

    /// Takes a share off the worker that would be the last to end, and makes it missing: as much as a connection of the
    /// usual pace brings in the same time; everything, if that worker has fallen silent.
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

    /// The time in seconds a worker will need at its pace so far; without a byte yet, as if it never ended.
    private func secondsLeft(_ assignment: Assignment, at now: Duration) -> Double {
        let done = Double(assignment.left.lowerBound - assignment.start)
        let elapsed = (now - assignment.began).seconds
        guard elapsed > 0 else { return 0 }
        return done > 0 ? Double(assignment.left.count) * elapsed / done : .infinity
    }
}
