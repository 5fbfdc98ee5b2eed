/// The user's decision about an action.
public enum ActionDecision: Sendable, Hashable {
    case approve
    /// Approves this action, and later ones with its tag in the same conversation while no text from outside is in the
    /// context.
    case approveForConversation
    /// Approves this action, and all later ones with its tag while no text from outside is in the context.
    case always
    case decline
    /// Shows the action again with another payload, a JSON object.
    case edit(payload: String)
}

/// Asks the user about an action.
public protocol ActionApproval: Sendable {
    /// Shows the card and waits for the decision. A cancelled task declines.
    func decide(_ card: ActionCard) async -> ActionDecision
}

/// Approves no action, for programs without a user at the screen.
package struct DeclineAll: ActionApproval {
    package init() {}

    package func decide(_ card: ActionCard) async -> ActionDecision { .decline }
}
