import Foundation
import HearthBase

/// The settings of an assistant.
public struct AssistantSettings: Sendable {
    /// The settings of its chats.
    public var chat = ChatSettings()
    /// Answers searches; `nil` for none, and the model is not told of `WEB_SEARCH`.
    package var search: (any SearchProvider)?
    /// The app's own actions, beside those of the stores.
    public var actions: [any AssistantAction] = []
    /// The kinds of personal data that the assistant does not use.
    public var disabledStores: Set<StoreKind> = []
    /// The collections that hold the user's own records, by kind; those of other collections count as text from outside.
    package var ownCollections: [StoreKind: [String]] = [:]
    /// The tags whose actions the model is not told of.
    public var disabledActions: Set<ActionTag> = []
    /// Tells the user on a reminder's card which program will ring; `nil` says that this one does not.
    public var ringing: String?
    /// The user's decisions about each tag.
    package var approvals: [ActionTag: ApprovalPolicy.Setting] = [:]
    /// The tags approved for this process.
    package var preApproved: Set<ActionTag> = []
    /// Keeps the answer `always`.
    package var saveApproval: @Sendable (ActionTag, ApprovalPolicy.Setting) async -> Void = { _, _ in }

    public init() {}

    /// Answers searches with a SearXNG server, whose `settings.yml` has `json` in `search.formats`.
    /// - Parameters:
    ///   - address: `https`, or `http` to this machine.
    ///   - key: sent as bearer token, for servers behind a gate.
    public mutating func searchWeb(at address: URL, key: String? = nil) { search = SearXNG(address: address, key: key) }

    /// The tags whose actions run unasked while no text from outside is in the context.
    public var unaskedActions: Set<ActionTag> {
        get { Set(approvals.filter { $0.value == .always }.keys) }
        set {
            approvals = approvals.filter { $0.value != .always }
            for tag in newValue { approvals[tag] = .always }
        }
    }

    /// Whether the model is told of a tag.
    func offers(_ tag: ActionTag) -> Bool { !disabledActions.contains(tag) && approvals[tag] != .never }
}

extension AssistantStores {
    /// The sections of prompts.
    var sources: [any PromptSource] {
        var sources: [any PromptSource] = []
        if let calendar { sources.append(CalendarSource(calendar)) }
        if let reminders { sources.append(ReminderSource(reminders)) }
        return sources
    }
}
