/// How many lines of its log a worker may tell: a hostile one would fill the disk.
struct LineBudget: Sendable {
    /// The lines of one minute. A load with all details has some hundred.
    static let perMinute = 5000

    private var minute: Int64 = 0
    private var count = 0

    /// Whether a line is told; the others of the minute are dropped.
    mutating func takes(at now: Duration) -> Bool {
        let current = now.components.seconds / 60
        if current != minute { (minute, count) = (current, 0) }
        count += 1
        return count <= Self.perMinute
    }
}
