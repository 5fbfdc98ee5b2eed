/// Decides whether an action runs, is asked about, or is refused.
///
/// | setting | the user's own context | text from outside in the context |
/// | --- | --- | --- |
/// | none | reads and queries run, changes ask | asks |
/// | `ask` | asks | asks |
/// | `always`, approved before | runs | asks |
/// | `never` | refused | refused |
///
/// A query that leaves the device also asks, whatever is set, while data of the user is in the context: the model may have put
/// it into the words.
package struct ApprovalPolicy: Sendable, Hashable {
    /// The user's setting `approval.TAG`.
    package enum Setting: String, Sendable, Hashable, Codable, CaseIterable {
        case ask, always, never
    }

    package enum Verdict: Sendable, Hashable {
        case run, ask, refuse
    }

    package var settings: [ActionTag: Setting]
    /// The tags approved for all actions of this process.
    package var preApproved: Set<ActionTag>
    /// The tags approved for a conversation.
    private var approved: [String: Set<ActionTag>] = [:]

    package init(settings: [ActionTag: Setting] = [:], preApproved: Set<ActionTag> = []) {
        self.settings = settings
        self.preApproved = preApproved
    }

    /// Decides about an action.
    /// - Parameters:
    ///   - isTainted: whether any text from outside is in the context of the answer.
    ///   - hasOwnData: whether records, files or results of the user are.
    package func verdict(
        _ tag: ActionTag, _ effect: ActionPlan.Effect, in conversation: String, isTainted: Bool,
        hasOwnData: Bool = false
    ) -> Verdict {
        let setting = settings[tag]
        if setting == .never { return .refuse }
        if isTainted || effect == .sends && hasOwnData { return .ask }
        if preApproved.contains(tag) || approved[conversation]?.contains(tag) == true { return .run }
        switch setting {
        case .always: return .run
        case .ask: return .ask
        default: return effect == .changes ? .ask : .run
        }
    }

    /// Remembers the user's approval of a tag for a conversation.
    package mutating func approve(_ tag: ActionTag, in conversation: String) {
        approved[conversation, default: []].insert(tag)
    }

    /// Forgets the approvals of a conversation.
    package mutating func forget(_ conversation: String) { approved[conversation] = nil }
}
