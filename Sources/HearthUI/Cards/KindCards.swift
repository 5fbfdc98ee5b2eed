#if canImport(SwiftUI)
import HearthAssistant
import SwiftUI

// The cards of one kind each, by the names of seed 001. They show nothing for a card of another kind.

/// The card of an event of the calendar.
public struct CalendarEventCard: View {
    private let card: ActionCard
    private let actions: CardActions

    /// A card with its buttons' actions.
    public init(_ card: ActionCard, actions: CardActions = CardActions()) {
        (self.card, self.actions) = (card, actions)
    }

    public var body: some View { if card.tag == .calendar { ActionCardView(card, actions: actions) } }
}

/// The card of a reminder.
public struct ReminderCard: View {
    private let card: ActionCard
    private let actions: CardActions

    /// A card with its buttons' actions.
    public init(_ card: ActionCard, actions: CardActions = CardActions()) {
        (self.card, self.actions) = (card, actions)
    }

    public var body: some View { if card.tag == .reminder { ActionCardView(card, actions: actions) } }
}

/// The card of a note.
public struct NoteCard: View {
    private let card: ActionCard
    private let actions: CardActions

    /// A card with its buttons' actions.
    public init(_ card: ActionCard, actions: CardActions = CardActions()) {
        (self.card, self.actions) = (card, actions)
    }

    public var body: some View { if card.tag == .note { ActionCardView(card, actions: actions) } }
}

/// The card of contacts that were looked up.
public struct ContactCard: View {
    private let card: ActionCard
    private let actions: CardActions

    /// A card with its buttons' actions.
    public init(_ card: ActionCard, actions: CardActions = CardActions()) {
        (self.card, self.actions) = (card, actions)
    }

    public var body: some View { if card.tag == .contactsSearch { ActionCardView(card, actions: actions) } }
}

/// The card of a habit.
public struct HabitCard: View {
    private let card: ActionCard
    private let actions: CardActions

    /// A card with its buttons' actions.
    public init(_ card: ActionCard, actions: CardActions = CardActions()) {
        (self.card, self.actions) = (card, actions)
    }

    public var body: some View { if card.tag == .habit { ActionCardView(card, actions: actions) } }
}

/// The card of pages that a web search has found.
public struct WebSearchCard: View {
    private let card: ActionCard
    private let actions: CardActions

    /// A card with its buttons' actions.
    public init(_ card: ActionCard, actions: CardActions = CardActions()) {
        (self.card, self.actions) = (card, actions)
    }

    public var body: some View { if card.tag == .webSearch { ActionCardView(card, actions: actions) } }
}
#endif
