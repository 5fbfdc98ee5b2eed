import Hearth
import HearthBase
import HearthDelivery

/// What the keys of `hearth models` mean. A value: it takes keys and answers with what to do.
struct LibraryControl: Sendable, Hashable {
    /// What is asked before it is done; only a yes does it.
    enum Question: Sendable, Hashable {
        case delete(Family)
        /// The network's bytes cost money.
        case metered(Family)

        fileprivate var family: Family {
            switch self {
            case .delete(let family), .metered(let family): family
            }
        }
    }

    enum Action: Sendable, Hashable {
        case leave
        /// End as a signal would end the command.
        case interrupt
        case redraw
        /// Stop the program, until the shell has it go on.
        case suspend
        case refresh
        /// Fetch it, or its update.
        case download(Family)
        /// The same, on a network whose bytes cost money.
        case downloadMetered(Family)
        case makeDefault(Family)
        case cancel(Family)
        case delete(Family)
    }

    /// Whether a download that was refused on a metered network is asked about.
    let asksAboutMetered: Bool
    /// The row that keys are about.
    private(set) var selection: Family?
    private(set) var question: Question?
    /// What came of the last key, until the next one.
    var message: String?
    private var place = 0

    init(asksAboutMetered: Bool) { self.asksAboutMetered = asksAboutMetered }

    /// Takes note of the rows there are now. The selection stays with its model; when that goes, the next one has its place.
    mutating func settle(in rows: [LibraryRow]) {
        place = rows.firstIndex { $0.id == selection } ?? max(0, min(place, rows.count - 1))
        selection = rows.isEmpty ? nil : rows[place].id
        if let question, !rows.contains(where: { $0.id == question.family }) { self.question = nil }
    }

    /// A download was refused because its bytes cost money: asks whether to fetch them all the same, unless another question
    /// stands.
    mutating func refusedAsMetered(_ family: Family) {
        if asksAboutMetered, question == nil { question = .metered(family) }
    }

    /// What the question asks, or what came of the last key.
    func prompt(in rows: [LibraryRow]) -> String? {
        guard let question, let model = rows.first(where: { $0.id == question.family })?.model else { return message }
        switch question {
        case .delete: return "Delete \(model.displayName) from this device? [y/N]"
        case .metered: return MeteredUse.question("\(model.sizeText) of \(model.displayName)") + " [y/N]"
        }
    }

    /// What a key means for these rows.
    /// - Parameter page: the rows that are seen at once.
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
    /// Whether its download was refused because the network's bytes cost money.
    fileprivate var isRefusedAsMetered: Bool {
        if case .failed(let failure) = state { failure.isMetered } else { false }
    }
}

extension DownloadFailure {
    /// Whether it is the refusal of bytes that cost money.
    var isMetered: Bool { code == ErrorCode<DeliveryErrorDomain>.meteredNetwork.rawValue }
}
