/// How many bytes a kill may cost, and when to record so that it never costs more.
///
/// A record is begun early and the network waits late, so that on a disk that keeps up it never waits.
struct RecordBudget: Sendable {
    /// A record is begun once so many bytes came: with more the network would wait for it, with fewer a record would be
    /// mostly the replacing of the journal.
    private let dueBytes: UInt64
    /// The network waits once so many came and are not recorded. What is left of the budget is in the connections' buffers.
    private let mostBytes: UInt64
    /// Came since the last record was begun.
    private var fresh: UInt64 = 0
    /// What the record that is on its way is to name.
    private var underWay: UInt64 = 0

    /// - Parameter recordBytes: what a kill may cost; see ``TransferTuning/recordBytes``.
    init(recordBytes: UInt64) {
        dueBytes = recordBytes / 4
        mostBytes = recordBytes / 8 * 5
    }

    /// Whether there is anything to record.
    var hasNews: Bool { fresh > 0 }
    /// Whether to begin a record, however short the last one is ago.
    var isDue: Bool { hasNews && fresh >= dueBytes }

    /// Whether a record has to end before more may come.
    /// - Parameter gathered: the bytes that came and are not written yet.
    func isSpent(gathered: UInt64) -> Bool {
        let unrecorded = fresh + underWay + gathered
        return unrecorded > 0 && unrecorded >= mostBytes
    }

    /// Bytes were written.
    mutating func came(_ count: UInt64) { fresh += count }

    /// A record of everything that was written is on its way.
    mutating func begin() { (fresh, underWay) = (0, fresh + underWay) }

    /// It ended. The bytes of one that failed are in the next one, too; nobody waits for them a second time.
    mutating func end() { underWay = 0 }
}
