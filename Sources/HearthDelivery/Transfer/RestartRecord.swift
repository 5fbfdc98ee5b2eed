/// How often each place has had everything begun again without sending the file at once: a place whose answers never agree
/// with each other would go on so for ever, and no connection of it would fail.
struct RestartRecord: Sendable {
    /// The restarts a place gets while the file does not become longer than it was before.
    static let limit = 3

    private var fruitless: [Int: Int] = [:]
    private var unsatisfied: Set<Int> = []

    /// Notes a restart because of a place; `false` once it has had too many.
    mutating func take(_ source: Int) -> Bool {
        fruitless[source, default: 0] += 1
        return fruitless[source, default: 0] <= Self.limit
    }

    /// The file is longer than it ever was.
    mutating func progressed() { if !fruitless.isEmpty { fruitless = [:] } }

    /// Notes that everything is begun again because a place does not know the bytes it was asked for; `true` once for each.
    mutating func takeUnsatisfied(_ source: Int) -> Bool { unsatisfied.insert(source).inserted }
}
