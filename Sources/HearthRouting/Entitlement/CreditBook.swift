import Foundation
import HearthBase

/// The credits spent this month: the value in the file, and its rules.
struct CreditBook: DiskRecord, Hashable {
    /// A turn that has been paid for.
    struct Turn: Codable, Hashable {
        var id: String
        var date: Date
        /// Whether its request has not brought a token yet.
        var isOpen: Bool
    }

    static let format = 1
    /// The turns that are remembered, so that a further pass of one costs nothing.
    static let maximumTurns = 64
    /// The age at which an open turn belongs to a process that has ended.
    static let openTurnLifetime: TimeInterval = 600
    static let maximumFileSize = 64 << 10

    private var format = Self.format
    /// The month in UTC, such as `2026-11`.
    private(set) var month: String
    /// Below zero if the server allows more than the tier.
    private(set) var spent: Int
    private(set) var turns: [Turn]

    /// An empty book.
    init(at date: Date) { (month, spent, turns) = (Self.month(of: date), 0, []) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try container.require(format: Self.format, .format)
        month = try container.checked(.month, or: "not a month") { (text: String) in
            text.wholeMatch(of: /\d{4}-\d{2}/) != nil
        }
        spent = try container.checked(.spent, or: "out of range") { (-1_000_000_000...1_000_000_000).contains($0) }
        turns = try container.checked(.turns, or: "too many") { (turns: [Turn]) in
            turns.count <= Self.maximumTurns
        }
    }

    /// The credits left of so many in the month.
    func left(of allowance: Int) -> Int { max(0, allowance - spent) }

    /// Begins a new month when it has come. A clock that was set back changes nothing.
    mutating func turnPage(at date: Date) {
        let now = Self.month(of: date)
        guard now > month else { return }
        (month, spent) = (now, 0)
    }

    /// Pays for a turn, unless it has been paid for.
    /// - Returns: whether the turn may go on.
    mutating func take(_ id: String, of allowance: Int, at date: Date) -> Bool {
        turnPage(at: date)
        if turns.contains(where: { $0.id == id }) { return true }
        guard left(of: allowance) > 0 else { return false }
        add(id, isOpen: true, at: date)
        return true
    }

    /// Notes that a turn has brought a token, so that its credit is not given back any more.
    mutating func settle(_ id: String, at date: Date) {
        if let index = turns.firstIndex(where: { $0.id == id }) {
            turns[index].isOpen = false
        } else {
            // Another pass of the turn gave the credit back.
            add(id, isOpen: false, at: date)
        }
    }

    /// Gives the credit of a turn back if no pass of it has brought a token.
    mutating func giveBack(_ id: String) {
        guard let index = turns.firstIndex(where: { $0.id == id && $0.isOpen }) else { return }
        turns.remove(at: index)
        spent -= 1
    }

    /// Takes over the server's count, which may not hold the open turns of other requests yet.
    mutating func correct(left: Int, of allowance: Int, answering id: String, at date: Date) {
        turnPage(at: date)
        let others = turns.count { turn in
            turn.isOpen && turn.id != id && abs(date.timeIntervalSince(turn.date)) < Self.openTurnLifetime
        }
        spent = allowance - max(0, min(left, 1_000_000) - others)
    }

    private mutating func add(_ id: String, isOpen: Bool, at date: Date) {
        turns.append(Turn(id: id, date: date, isOpen: isOpen))
        turns = turns.suffix(Self.maximumTurns)
        spent += 1
    }

    private static func month(of date: Date) -> String {
        date.formatted(.iso8601.year().month())
    }
}
