import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer

/// Maps keys of `hearth models` to actions. Has no side effects.
struct LibraryControl: Sendable, Hashable {
    /// A question before an action; only a yes starts the action.
    enum Question: Sendable, Hashable {
        case delete(Family)
        /// Download on a metered network?
        case metered(Family)
        case rollBack(Family)

        fileprivate var family: Family {
            switch self {
            case .delete(let family), .metered(let family), .rollBack(let family): family
            }
        }
    }

    enum Action: Sendable, Hashable {
        case leave
        /// End the command as a signal would.
        case interrupt
        case redraw
        /// Stop the program until the shell continues it.
        case suspend
        case refresh
        /// Download the model or its update.
        case download(Family)
        /// Download the model on a metered network.
        case downloadMetered(Family)
        case makeDefault(Family)
        case cancel(Family)
        case delete(Family)
        case rollBack(Family)
    }

    /// Whether to ask about downloads refused on a metered network.
    let asksAboutMetered: Bool
    /// The row that keys apply to.
    private(set) var selection: Family?
    private(set) var question: Question?
    /// The result of the last key, until the next one.
    var message: String?
    private var place = 0

    init(asksAboutMetered: Bool) { self.asksAboutMetered = asksAboutMetered }

    /// Adapts the selection to the current rows. It stays with its model; if that is gone, it moves to the next one.
    mutating func settle(in rows: [LibraryRow]) {
        place = rows.firstIndex { $0.id == selection } ?? max(0, min(place, rows.count - 1))
        selection = rows.isEmpty ? nil : rows[place].id
        if let question, !rows.contains(where: { $0.id == question.family }) { self.question = nil }
    }

    /// Asks whether to download on a metered network after a refusal, unless another question is open.
    mutating func refusedAsMetered(_ family: Family) {
        if asksAboutMetered, question == nil { question = .metered(family) }
    }

    /// The open question, or the result of the last key.
    func prompt(in rows: [LibraryRow]) -> String? {
        guard let question, let row = rows.first(where: { $0.id == question.family }) else { return message }
        let model = row.model
        switch question {
        case .delete: return "Delete \(model.displayName) from this device? [y/N]"
        case .metered: return MeteredUse.question("\(model.sizeText) of \(model.displayName)") + " [y/N]"
        case .rollBack:
            guard let from = row.local?.model.identity, let to = row.rollback else { return message }
            return "Roll back \(model.displayName) to \(to.version)? \(from.version) is held back. [y/N]"
        }
    }

    /// Returns the action of a key.
    /// - Parameter page: the number of rows visible at once.
    mutating func take(_ key: Key, in rows: [LibraryRow], page: Int) -> Action? {
        message = nil
        if key == .interrupt { return .interrupt }
        if key == .redraw { return .redraw }
        if key == .suspend { return .suspend }
        if let question {
            self.question = nil
            guard key == .character("y") || key == .character("Y") else { return nil }
            switch question {
            case .delete(let family): return .delete(family)
            case .metered(let family): return .downloadMetered(family)
            case .rollBack(let family): return .rollBack(family)
            }
        }
        switch key {
        case .up, .character("k"): move(to: place - 1, in: rows)
        case .down, .character("j"): move(to: place + 1, in: rows)
        case .pageUp: move(to: place - max(1, page), in: rows)
        case .pageDown: move(to: place + max(1, page), in: rows)
        case .home: move(to: 0, in: rows)
        case .end: move(to: rows.count - 1, in: rows)
        case .character("r"): return .refresh
        case .character("q"), .endOfInput: return .leave
        default: return rows.first { $0.id == selection }.flatMap { act(key, on: $0) }
        }
        return nil
    }

    private mutating func move(to index: Int, in rows: [LibraryRow]) {
        place = max(0, min(index, rows.count - 1))
        selection = rows.isEmpty ? nil : rows[place].id
    }

    private mutating func act(_ key: Key, on row: LibraryRow) -> Action? {
        switch key {
        case .enter, .character(" "): return primaryAction(of: row)
        case .character("u") where row.canBeUpdated: return .download(row.id)
        case .character("c") where row.canBeCancelled: return .cancel(row.id)
        case .character("x") where row.isUsable:
            question = .delete(row.id)
            return nil
        case .character("b") where row.canBeRolledBack:
            question = .rollBack(row.id)
            return nil
        default: return nil
        }
    }

    private mutating func primaryAction(of row: LibraryRow) -> Action? {
        switch row.primaryAction {
        case .download where asksAboutMetered && row.isRefusedAsMetered:
            question = .metered(row.id)
            return nil
        case .download: return .download(row.id)
        case .select: return .makeDefault(row.id)
        case nil: return nil
        }
    }
}

extension LibraryRow {
    /// Whether the download was refused on a metered network.
    fileprivate var isRefusedAsMetered: Bool {
        if case .failed(let failure) = state { failure.isMetered } else { false }
    }
}

extension FailureBody {
    /// Whether the failure is the refusal of a metered network.
    var isMetered: Bool { code == ErrorCode<MeteredUse>.meteredNetwork.rawValue }
}
