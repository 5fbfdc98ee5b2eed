import Foundation
import HearthBase
import HearthDatabase
import HearthInference
import HearthRouting

/// The assistant of an app: conversations that are kept, and actions on the user's calendars, reminders, contacts, notes and
/// habits.
///
/// ```swift
/// let assistant = try await Assistant(home: folder, engine: orchestrator, approval: screen)
/// let chat = ChatViewModel(try await assistant.session())
/// chat.sendMessage("Remind me tomorrow at nine to call Anna")
/// ```
/// The home folder:
/// ```
/// hearth.db     conversations, notes, habits, the journal of actions
/// calendar/     calendars with one file for each event
/// reminders/    lists with one file for each reminder
/// contacts/     address books
/// facts.txt     facts about the user, one on each line
/// ```
public final class Assistant: Sendable {
    /// The kept conversations.
    package let conversations: any ConversationStore
    /// The user's personal data.
    public let stores: AssistantStores
    /// Carries out actions.
    package let actions: ActionRunner
    private let database: Database?
    private let parts: ChatParts
    private let engine: any InferenceEngine
    private let seeing: (any InferenceEngine)?

    /// Opens an assistant.
    /// - Parameters:
    ///   - home: the folder of all data, made if it is missing; `nil` keeps everything in memory, without calendars,
    ///     reminders and contacts.
    ///   - engine: answers; an `LLMOrchestrator` chooses between models of this device and a cloud.
    ///   - seeing: answers questions with pictures, if `engine` cannot.
    ///   - approval: asks the user about actions.
    /// - Throws: `DatabaseError`, `FileError`.
    public convenience init(
        home: Path?, engine: any InferenceEngine, seeing: (any InferenceEngine)? = nil,
        settings: AssistantSettings = AssistantSettings(), approval: any ActionApproval
    ) async throws {
        try await self.init(
            home: home, engine: engine, seeing: seeing, settings: settings, approval: approval, time: .system)
    }

    package convenience init(
        home: Path?, engine: any InferenceEngine, seeing: (any InferenceEngine)? = nil,
        settings: AssistantSettings, approval: any ActionApproval, time: TimeSource
    ) async throws {
        if let home {
            self.init(
                try await AssistantHome(path: home, time: time), engine: engine, seeing: seeing, settings: settings,
                approval: approval)
        } else {
            let database = try await AssistantDatabase.open(home: nil)
            let stores = AssistantStores(notes: SQLiteNoteStore(database), habits: SQLiteHabitStore(database))
            self.init(
                conversations: SQLiteConversationStore(database), stores: stores.without(settings.disabledStores),
                journal: SQLiteActionJournal(database), database: database, engine: engine, seeing: seeing,
                settings: settings, approval: approval, time: time)
        }
        // Actions during which an earlier process ended are settled before new ones begin.
        _ = await actions.recover()
    }

    /// An assistant on the records of a home.
    /// - Parameter stores: those of an app in place of the home's.
    package convenience init(
        _ home: AssistantHome, stores: AssistantStores = AssistantStores(), engine: any InferenceEngine,
        seeing: (any InferenceEngine)? = nil,
        settings: AssistantSettings, approval: any ActionApproval
    ) {
        home.use(own: settings.ownCollections)
        self.init(
            conversations: home.conversations,
            stores: stores.filled(from: home.stores.without(settings.disabledStores)),
            journal: home.journal, privateJournal: home.privateJournal, facts: home.path.appending("facts.txt"),
            database: home.database, engine: engine, seeing: seeing, settings: settings, approval: approval,
            time: home.time)
    }

    /// An assistant over given stores.
    /// - Parameters:
    ///   - privateJournal: the actions of private conversations.
    ///   - facts: the file with the user's facts.
    package init(
        conversations: any ConversationStore, stores: AssistantStores, journal: (any ActionJournal)? = nil,
        privateJournal: MemoryActionJournal = MemoryActionJournal(), facts: Path? = nil, database: Database? = nil,
        engine: any InferenceEngine,
        seeing: (any InferenceEngine)? = nil, settings: AssistantSettings = AssistantSettings(),
        approval: any ActionApproval, pages: PageReader? = nil, time: TimeSource = .system
    ) {
        self.conversations = conversations
        self.stores = stores
        self.engine = engine
        self.seeing = seeing
        self.database = database
        let all = ActionRegistry.standard(
            stores, searchesWeb: settings.search != nil,
            reach: settings.search?.isRemote == false ? .onThisDevice : .remote, ringing: settings.ringing,
            own: settings.actions)
        var registry = ActionRegistry(all.actions.filter { settings.offers($0.tag) })
        registry.labels = settings.chat.texts.labels
        actions = ActionRunner(
            registry: registry, stores: stores.records, journal: journal, privateJournal: privateJournal,
            approval: approval,
            policy: ApprovalPolicy(settings: settings.approvals, preApproved: settings.preApproved), time: time,
            saveSetting: settings.saveApproval)
        let search = (settings.search as? OwnTextSearch)?.filled(stores.notes, conversations) ?? settings.search
        let readsWeb = settings.search?.isRemote == true
        parts = ChatParts(
            settings: settings.chat, store: conversations, runner: actions,
            sources: (facts.map { [FactSource(file: $0)] } ?? []) + stores.sources, search: search,
            pages: pages ?? (readsWeb ? PageReader(time: time) : nil), time: time)
    }

    // MARK: Conversations

    /// A conversation.
    /// - Parameters:
    ///   - id: of a kept conversation; `nil` for a new one.
    ///   - isPrivate: whether nothing of it is kept or leaves the device.
    /// - Throws: ``AssistantError`` with `no-such-record`; `DatabaseError`.
    public func session(_ id: String? = nil, isPrivate: Bool = false) async throws -> ChatSession {
        try await session(id, isPrivate: isPrivate, engine: nil, settings: nil)
    }

    /// The same with another engine or other settings.
    package func session(
        _ id: String?, isPrivate: Bool = false, engine other: (any InferenceEngine)?, settings: ChatSettings?
    ) async throws -> ChatSession {
        var parts = parts
        if let settings { parts.settings = settings }
        let chat = ChatEngine(other ?? engine, seeing: seeing, isPrivate: isPrivate)
        guard let id, !isPrivate else {
            return ChatSession(
                id: id ?? UUID().uuidString.lowercased(), parts: parts, engine: chat, isPrivate: isPrivate)
        }
        guard let conversation = try await conversations.conversation(id) else {
            throw AssistantError(
                .noSuchRecord, "there is no conversation with this id", context: ErrorContext(found: id),
                disposition: .usage)
        }
        return ChatSession(
            id: id, parts: parts, engine: chat, conversation: conversation,
            messages: try await conversations.messages(of: id))
    }

    /// The kept conversations, those changed last first.
    public func recentConversations(limit: Int = 50, offset: Int = 0) async throws -> [ConversationSummary] {
        try await conversations.conversations(limit: limit, offset: offset)
    }

    /// The kept conversations that contain words, the best first.
    public func conversations(with words: String, limit: Int = 50) async throws -> [ConversationSummary] {
        try await conversations.search(words, limit: limit).map(\.conversation)
    }

    /// Removes a conversation with its pictures.
    public func removeConversation(_ id: String) async throws { try await conversations.removeConversation(id) }

    /// Answers the user's own searches; `nil` where none is set up.
    package var search: (any SearchProvider)? { parts.search }

    /// The best results of a search, at most `limit`.
    /// - Throws: ``AssistantError`` with `search-failed`, after the time that the settings give it too.
    package func search(_ query: String, with search: any SearchProvider, limit: Int) async throws -> [SearchResult] {
        let late = AssistantError(.searchFailed, "the search took too long", disposition: .tryLater)
        return try await within(parts.settings.searchTimeout, of: parts.time, orThrow: late) {
            try await search.search(query, limit: limit)
        }
    }

    /// The settings of its conversations.
    package var chatSettings: ChatSettings { parts.settings }

    /// Gives an open conversation the engine and the settings of this assistant, or others, from its next turn on.
    package func take(
        _ session: ChatSession, engine other: (any InferenceEngine)? = nil, settings: ChatSettings? = nil
    ) async {
        var parts = parts
        if let settings { parts.settings = settings }
        await session.use(
            parts, engine: ChatEngine(other ?? engine, seeing: seeing, isPrivate: session.isPrivate))
    }

    // MARK: Actions

    /// The cards of the last actions of all conversations, the newest first.
    public func recentActions(limit: Int = 50) async throws -> [ActionCard] {
        try await actions.history(limit: limit).map(\.card)
    }

    /// Takes an action back, within 30 days.
    /// - Throws: ``AssistantError``: `no-such-record`, `changed-elsewhere`, `cannot-be-undone`.
    @discardableResult
    public func undo(_ action: String) async throws -> ActionCard { try await actions.undo(action) }

    // MARK: End

    /// Removes all conversations and the journal of actions, from the disk too. The user's records remain: calendars,
    /// reminders, contacts, notes and habits.
    public func eraseAll() async throws {
        try await conversations.eraseAll()
        try await actions.eraseAll()
    }

    /// Closes the database. Call it before the app ends, and no other method afterwards.
    public func close() async { await database?.close() }
}
