import HearthBase

/// The settings of an assistant.
public struct AssistantSettings: Sendable {
    /// The settings of its chats.
    public var chat = ChatSettings()
    /// Answers searches; `nil` for none, and the model is not told of `WEB_SEARCH`.
    public var search: (any SearchProvider)?
    /// The app's own actions, beside those of the stores.
    public var actions: [any AssistantAction] = []
    /// The kinds of personal data that the assistant does not use.
    public var disabledStores: Set<StoreKind> = []
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

    /// Sets whether a tag's actions ask (`ask`), run unasked while no text from outside is in the context (`always`), or
    /// are not offered (`never`).
    /// - Returns: whether the text is one of the three.
    @discardableResult
    public mutating func setApproval(_ tag: ActionTag, to text: String) -> Bool {
        guard let setting = ApprovalPolicy.Setting(rawValue: text) else { return false }
        approvals[tag] = setting
        return true
    }

    /// Whether the model is told of a tag.
    func offers(_ tag: ActionTag) -> Bool { !disabledActions.contains(tag) && approvals[tag] != .never }
}

/// The personal data that an assistant uses; `nil` for what it does not.
public struct AssistantStores: Sendable {
    public var calendar: (any CalendarStore)?
    public var reminders: (any ReminderStore)?
    public var contacts: (any ContactStore)?
    public var notes: (any NoteStore)?
    public var habits: (any HabitStore)?
    /// Contacts as records, if they can change.
    package var contactRecords: (any RecordStore)?

    public init(
        calendar: (any CalendarStore)? = nil, reminders: (any ReminderStore)? = nil,
        contacts: (any ContactStore)? = nil, notes: (any NoteStore)? = nil, habits: (any HabitStore)? = nil
    ) {
        self.calendar = calendar
        self.reminders = reminders
        self.contacts = contacts
        self.notes = notes
        self.habits = habits
    }

    /// The same with the stores of another one in place of those that are `nil`.
    func filled(from other: AssistantStores) -> AssistantStores {
        var stores = self
        stores.calendar = calendar ?? other.calendar
        stores.reminders = reminders ?? other.reminders
        stores.contacts = contacts ?? other.contacts
        stores.contactRecords = contacts == nil ? other.contactRecords : contactRecords
        stores.notes = notes ?? other.notes
        stores.habits = habits ?? other.habits
        return stores
    }

    /// The stores whose records change.
    package var records: [StoreKind: any RecordStore] {
        var records: [StoreKind: any RecordStore] = [:]
        records[.calendar] = calendar
        records[.reminders] = reminders
        records[.notes] = notes
        records[.habits] = habits
        records[.contacts] = contactRecords
        return records
    }

    /// The sections of prompts.
    var sources: [any PromptSource] {
        var sources: [any PromptSource] = []
        if let calendar { sources.append(CalendarSource(calendar)) }
        if let reminders { sources.append(ReminderSource(reminders)) }
        return sources
    }
}
