#if canImport(SwiftUI)
import HearthAssistant
import HearthHTTP
import SwiftUI

/// The buttons of a card.
public struct CardActions {
    /// Whether the card waits for a decision.
    var isWaiting: Bool
    var decide: @MainActor (ActionDecision) -> Void
    var perform: @MainActor () -> Void
    var undo: @MainActor () -> Void

    /// The actions of an app's own screen.
    /// - Parameters:
    ///   - isWaiting: whether the user is asked about the card now.
    ///   - decide: takes the answer.
    ///   - perform: carries out an action that was not carried out.
    ///   - undo: takes an action back.
    public init(
        isWaiting: Bool = false, decide: @escaping @MainActor (ActionDecision) -> Void = { _ in },
        perform: @escaping @MainActor () -> Void = {}, undo: @escaping @MainActor () -> Void = {}
    ) {
        (self.isWaiting, self.decide, self.perform, self.undo) = (isWaiting, decide, perform, undo)
    }
}

/// An action of an answer: its values, the question whether to carry it out, its result, and undo. Shows actions of
/// all kinds, also of an app's own; ``CalendarEventCard`` and its siblings show one kind.
public struct ActionCardView: View {
    private let card: ActionCard
    private let actions: CardActions
    @Environment(\.locale) private var locale

    /// A card with its buttons' actions.
    public init(_ card: ActionCard, actions: CardActions = CardActions()) {
        (self.card, self.actions) = (card, actions)
    }

    public var body: some View {
        let words = Words(locale)
        VStack(alignment: .leading, spacing: 8) {
            SideBySide {
                Label(words.title(card), systemImage: card.tag.symbol)
                    .font(.headline)
                    .accessibilityAddTraits(.isHeader)
                Spacer()
                Text(verbatim: words.state(card, isWaiting: actions.isWaiting))
                    .font(.caption)
                    .foregroundStyle(card.state == .failed ? .red : .secondary)
            }
            // Two values of one name are two rows.
            ForEach(Array(card.fields.enumerated()), id: \.offset) { _, field in CardField(card, field) }
            ForEach(Array(card.items.enumerated()), id: \.offset) { _, item in CardItem(item) }
            if let note = words.note(card) { Text(verbatim: note).font(.caption).foregroundStyle(.secondary) }
            SideBySide { buttons(words) }
        }
        .padding()
        .background(.quaternary, in: .rect(cornerRadius: 12))
        .accessibilityElement(children: .contain)
        .accessibilityLabel(words("card.action"))
    }

    @ViewBuilder private func buttons(_ words: Words) -> some View {
        if actions.isWaiting {
            Button(words("card.approve")) { actions.decide(.approve) }.buttonStyle(.borderedProminent)
            Button(words("card.decline")) { actions.decide(.decline) }.buttonStyle(.bordered)
            Menu {
                Button(words("card.approve-chat")) { actions.decide(.approveForConversation) }
                Button(words("card.approve-always")) { actions.decide(.always) }
            } label: {
                Text(verbatim: words("card.more-decisions"))
            }
        } else if card.canUndo {
            Button(words("undo"), action: actions.undo).buttonStyle(.bordered)
        } else if card.canBePerformed {
            Button(words("card.perform"), action: actions.perform).buttonStyle(.bordered)
        }
    }
}

/// One value of a card, and the text from outside in which it occurs.
private struct CardField: View {
    let card: ActionCard
    let field: ActionCard.Field
    @Environment(\.locale) private var locale

    init(_ card: ActionCard, _ field: ActionCard.Field) { (self.card, self.field) = (card, field) }

    var body: some View {
        let words = Words(locale)
        VStack(alignment: .leading, spacing: 2) {
            Text(verbatim: words.label(field, of: card)).font(.caption).foregroundStyle(.secondary)
            Text(verbatim: words.value(field)).textSelection(.enabled)
            if let source = field.source {
                Label(source, systemImage: "exclamationmark.bubble").font(.caption2).foregroundStyle(.orange)
                    .accessibilityLabel(Text(verbatim: "\(words("card.origin.title")): \(source)"))
            }
        }
        .accessibilityElement(children: .combine)
    }
}

/// One result of a list or of a search.
private struct CardItem: View {
    let item: ActionCard.Item

    init(_ item: ActionCard.Item) { self.item = item }

    /// Addresses of other kinds would start programs.
    private var page: URL? {
        guard let url = item.url.flatMap({ URL(address: $0) }),
            url.scheme == "https" || url.scheme == "http"
        else { return nil }
        return url
    }

    var body: some View {
        VStack(alignment: .leading, spacing: 2) {
            if let page {
                Link(destination: page) { Text(verbatim: item.title) }
            } else {
                Text(verbatim: item.title)
            }
            if !item.detail.isEmpty {
                Text(verbatim: item.detail).font(.caption).foregroundStyle(.secondary)
            }
        }
    }
}

extension ActionTag {
    fileprivate var symbol: String {
        switch self {
        case .calendar: "calendar"
        case .reminder: "checklist"
        case .note: "note.text"
        case .contactsSearch: "person.crop.circle"
        case .habit: "flame"
        case .webSearch: "globe"
        default: "checkmark.circle"
        }
    }
}

extension ActionCard {
    /// Whether the user can have the action carried out; not if no action of its kind is offered.
    fileprivate var canBePerformed: Bool {
        let unoffered: Set = ["private-search", "no-search", "not-offered", "no-such-action"]
        guard !(remarks ?? []).contains(where: { unoffered.contains($0.code) }) else { return false }
        return [.declined, .failed, .notCarriedOut, .undone].contains(state)
    }
}
#endif
