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

    /// The month in UTC, such as `2026-11`.
    private(set) var month: String
    /// Below zero if the server allows more than the tier.
    private(set) var spent: Int
    private(set) var turns: [Turn]

    /// An empty book.
    init(at date: Date) { (month, spent, turns) = (Self.month(of: date), 0, []) }

    private enum CodingKeys: CodingKey { case format, month, spent, turns }

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

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.format, forKey: .format)
        try container.encode(month, forKey: .month)
        try container.encode(spent, forKey: .spent)
        try container.encode(turns, forKey: .turns)
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
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month], from: date)
        let (year, month) = (String(parts.year ?? 0), String(parts.month ?? 0))
        return String(repeating: "0", count: max(0, 4 - year.count)) + year + "-" + (month.count < 2 ? "0" : "") + month
    }
}
