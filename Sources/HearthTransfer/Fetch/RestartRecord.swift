/// Counts the restarts that each source caused without sending the whole file. A source whose responses never agree
/// would otherwise restart the transfer for ever, although no connection fails.
struct RestartRecord: Sendable {
    /// The restarts that a source may cause while the file does not grow beyond its earlier length.
    package static let limit = 3

    private var fruitless: [Int: Int] = [:]
    private var unsatisfied: Set<Int> = []

    /// Counts a restart caused by a source; `false` once there were too many.
    package mutating func take(_ source: Int) -> Bool {
        fruitless[source, default: 0] += 1
        return fruitless[source, default: 0] <= Self.limit
    }

    /// Resets the counts, because the file is longer than ever before.
    mutating func progressed() { if !fruitless.isEmpty { fruitless = [:] } }

    /// Notes a restart because a source lacks the requested bytes; `true` once for each source.
    mutating func takeUnsatisfied(_ source: Int) -> Bool { unsatisfied.insert(source).inserted }
}
