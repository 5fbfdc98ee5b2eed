import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthCatalog
import HearthInference
import HearthRouting

/// The conversations of the page. Answers run here: a page that is closed or reloaded changes nothing, and finds the answer
/// as far as it is.
actor ChatDesk {
    /// An answer on its way, as clients have seen it so far.
    struct Running: Sendable {
        var answer: AssistantMessage?
        /// The lengths of its text and its thinking in UTF-16 units.
        var textLength = 0
        var thinkingLength = 0
        var phase: GenerationPhase?
        let control = ThinkingControl()
    }

    /// An open conversation.
    struct OpenChat: Sendable {
        let session: ChatSession
        var running: Running?
        /// The work for the last answer.
        var turn: Task<Void, Never>?
        /// The cards that are carried out on the user's request, by id.
        var cards: [String: Task<Void, Never>] = [:]
        /// The context window of the model that answered last.
        var contextLength: Int?
        var used: UInt64 = 0

        var isIdle: Bool { running == nil && cards.isEmpty }
    }

    let log: EventLog
    let approvals: ApprovalDesk
    let pictures: PictureDesk
    let documents: DocumentDesk
    private(set) var assistant: Assistant
    let library: LibraryDesk
    let home: ServedHome
    /// Whether an import runs.
    var isImporting = false
    /// The import whose file has come.
    var importWork: Task<ImportBody, any Error>?
    /// The engine of all models.
    private(set) var orchestrator: LLMOrchestrator
    private var open: [String: OpenChat] = [:]
    /// The ids of conversations whose removal has begun, which are not opened again.
    private var removed: Set<String> = []
    private var uses: UInt64 = 0
    /// The conversation whose first question is being written. Nothing of it is kept.
    private var draft: ChatSession?

    /// The most open conversations without an answer on its way.
    private static let openLimit = 32

    init(
        _ assistant: Assistant, log: EventLog, approvals: ApprovalDesk, library: LibraryDesk, home: ServedHome,
        orchestrator: LLMOrchestrator
    ) {
        self.assistant = assistant
        self.log = log
        self.approvals = approvals
        self.library = library
        self.home = home
        self.orchestrator = orchestrator
        pictures = PictureDesk(time: home.time)
        documents = DocumentDesk(time: home.time)
    }

    // MARK: Settings

    /// Uses other settings from the next turn of each conversation on.
    func use(_ next: Assistant, orchestrator: LLMOrchestrator) async {
        assistant = next
        await endDraft()
        self.orchestrator = orchestrator
        for id in Array(open.keys) { await bringUpToDate(id) }
    }

    /// Gives an open conversation the present settings, under its own.
    private func bringUpToDate(_ id: String) async {
        guard let chat = open[id] else { return }
        await assistant.take(chat.session)
    }

    // MARK: Opening

    /// The open conversation with an id.
    /// - Throws: `AssistantError` with `no-such-record`.
    func openChat(_ id: String) async throws -> OpenChat {
        guard !removed.contains(id) else { throw Self.missing }
        if let chat = open[id] { return chat }
        return try await opened { try await $0.session(id) }
    }

    /// Opens a conversation. Another request may have opened it meanwhile, or the settings may have changed.
    private func opened(_ make: (Assistant) async throws -> ChatSession) async throws -> OpenChat {
        let used = assistant
        let session = try await make(used)
        guard !removed.contains(session.id) else { throw Self.missing }
        if let chat = open[session.id] { return chat }
        let chat = keep(OpenChat(session: session))
        if used !== assistant { await bringUpToDate(session.id) }
        return chat
    }

    @discardableResult
    private func keep(_ chat: OpenChat) -> OpenChat {
        uses += 1
        var chat = chat
        chat.used = uses
        open[chat.session.id] = chat
        let idle = open.values.filter { $0.isIdle && !$0.session.isPrivate }
        if idle.count > Self.openLimit, let oldest = idle.min(by: { $0.used < $1.used }) {
            open[oldest.session.id] = nil
        }
        return chat
    }

    func create(_ order: NewChatOrder) async throws -> ChatBody {
        let isPrivate = order.isPrivate ?? false
        let stateFolder = try home.present.hearth.configuration.stateFolder
        guard !isPrivate || stateFolder == nil else { throw Self.keepsStates }
        await endDraft()
        let own = try order.settings?.changed(
            ConversationSettings(), isPrivate: isPrivate, choices: await choices(isPrivate: isPrivate))
        let session = try await opened { try await $0.session(nil, isPrivate: isPrivate) }.session
        if let own { await session.set(own) }
        if let title = order.title { await session.rename(try Self.title(title)) }
        return await tell(session.id, session)
    }

    static func title(_ text: String) throws -> String {
        let title = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard title.utf8.count <= 1024 else { throw NativeFailure.bad("title", "a text of at most 1024 bytes") }
        return title
    }

    /// The conversation for lists.
    func body(_ session: ChatSession) async -> ChatBody {
        let summary = await session.summary
        return ChatBody(
            summary, isAnswering: open[session.id]?.running != nil, isPrivate: session.isPrivate)
    }

    /// Tells clients about a conversation.
    @discardableResult
    func tell(_ id: String, _ session: ChatSession) async -> ChatBody {
        let body = await body(session)
        log.add("chat", OneChatBody(chat: body))
        return body
    }

    // MARK: Changes

    func remove(_ id: String) async throws {
        let chat = try await openChat(id)
        removed.insert(id)
        open[id] = nil
        await discard(chat)
        do {
            try await assistant.conversations.removeConversation(id)
        } catch {
            removed.remove(id)
            throw error
        }
        log.add("chat-removed", IDBody(id: id))
    }

    /// Ends the work of a conversation that is being removed; nothing of it is kept any more.
    private func discard(_ chat: OpenChat) async {
        await chat.session.end()
        chat.turn?.cancel()
        await halt(chat)
        // The home may be closed already, and its engines with it.
        if chat.session.isPrivate { try? await home.present.hearth.forgetConversations() }
    }

    /// Stops the answer of a conversation and the actions that are carried out, and waits for their ends.
    /// - Parameter failure: why the answer ends, if not for the user.
    private func halt(_ chat: OpenChat, _ failure: FailureBody? = nil) async {
        await chat.session.stop(failure)
        for card in chat.cards.values { card.cancel() }
        for card in chat.cards.values { await card.value }
        await chat.turn?.value
    }

    func removeMessage(_ message: String, of id: String) async throws {
        let chat = try await openChat(id)
        await chat.session.delete(message)
        log.add("message-removed", ChatStep(chat: id, message: message, event: .removed(id: message)))
        await tell(id, chat.session)
    }

    func show(_ message: String, in id: String) async throws {
        let chat = try await openChat(id)
        guard chat.running == nil else { throw Self.busy }
        await chat.session.show(message)
        log.add("branch", ["chat": id])
    }

    static let keepsStates = NativeFailure(
        409, "states-are-kept", "computed states are kept in `stateFolder`, and hold what is said",
        remedy: "Unset `stateFolder`.")

    static let missing = NativeFailure(404, "no-such-record", "there is no conversation with this id")

    static let busy = NativeFailure(
        409, "busy", "the conversation is being answered", remedy: "Stop the answer, or wait for its end.")

    /// Opens conversations anew that an import has changed on the disk.
    func reopen(_ ids: [String]) {
        removed.subtract(ids)
        for id in ids where open[id]?.isIdle == true { open[id] = nil }
    }

    /// Whether an answer or an action of a conversation runs.
    func isBusy(_ id: String) -> Bool { open[id].map { !$0.isIdle } ?? false }

    /// The private conversations, which are not kept.
    var privateSessions: [ChatSession] { open.values.filter { $0.session.isPrivate }.map(\.session) }

    /// Removes all conversations and the journal of actions.
    /// - Throws: ``NativeFailure`` with `busy` while an import runs, which would bring conversations back.
    func eraseAll() async throws {
        guard !isImporting else { throw Self.eraseLater }
        let chats = open
        removed.formUnion(chats.keys)
        open = [:]
        for chat in chats.values { await discard(chat) }
        try await assistant.eraseAll()
        log.add("reset", ["reason": "erased"])
    }

    // MARK: Turns

    /// Reads the beginning of a question while it is written, in the background.
    /// - Parameter id: the conversation; `nil` for a new one.
    func prewarm(_ id: String?, _ text: String) async throws {
        if let id { return await (try await openChat(id)).session.prewarm(promptPrefix: text) }
        let session: ChatSession
        if let draft { session = draft } else { session = try await assistant.session() }
        draft = session
        await session.prewarm(promptPrefix: text)
    }

    /// Ends the reading of a question for which there is a conversation now.
    private func endDraft() async {
        let ended = draft
        draft = nil
        await ended?.end()
    }

    // MARK: Cards

    /// Carries out a card of a conversation in the background. It ends before the conversation is removed.
    func carryOut(
        _ card: String, in id: String, _ work: @escaping @Sendable (ChatSession) async -> Void
    ) async throws {
        let session = try await openChat(id).session
        guard open[id]?.session === session else { throw Self.missing }
        guard open[id]?.cards[card] == nil else { throw Self.underWay }
        open[id]?.cards[card] = Task {
            await ChatContext.$chat.withValue(id) { await work(session) }
            open[id]?.cards[card] = nil
        }
    }

    static let underWay = NativeFailure(
        409, "busy", "the action is being carried out, or waits for a decision")

    // MARK: Answers

    /// Begins a turn, and returns when its messages exist.
    func begin(
        _ id: String,
        _ start: @escaping @Sendable (ChatSession, ThinkingControl) async -> AsyncStream<ChatEvent>
    ) async throws -> TurnBody {
        let chat = try await openChat(id)
        guard open[id]?.running == nil else { throw Self.busy }
        try await requireModel(chat.session)
        guard !removed.contains(id) else { throw Self.missing }
        guard open[id]?.running == nil else { throw Self.busy }
        let running = Running()
        var next = open[id] ?? chat
        let session = next.session
        let (turns, source) = AsyncStream<Result<TurnBody, NativeFailure>>.makeStream()
        next.turn = Task {
            await ChatContext.$chat.withValue(id) {
                for await event in await start(session, running.control) {
                    await take(event, id, session)
                    switch event {
                    case .started(let question, let answer):
                        source.yield(.success(TurnBody(chat: id, question: question?.id, answer: answer.id)))
                    case .failed(let failure):
                        source.yield(.failure(NativeFailure(422, failure.code, failure.message)))
                    default: break
                    }
                }
            }
            source.finish()
            await end(id, session)
        }
        next.running = running
        keep(next)
        for await turn in turns { return try turn.get() }
        throw CancellationError()
    }

    private func end(_ id: String, _ session: ChatSession) async {
        guard open[id]?.session === session else { return }
        open[id]?.running = nil
        await tell(id, session)
        log.add("actions", EmptyBody())
        // A model that has answered stays warm.
        let own = await session.settings.model
        let inUse = await library.inUse
        if let family = own ?? inUse { await home.used(family) }
        await library.tell()
    }

    /// Stops all answers and an import; what came is kept.
    func stopAll() async {
        importWork?.cancel()
        _ = await importWork?.result
        let ended = FailureBody(code: "server-ended", message: "The server ended during the answer.")
        for chat in open.values { await halt(chat, ended) }
    }

    func stop(_ id: String) async throws { await (try await openChat(id)).session.stop() }

    func answerNow(_ id: String) async throws { try await openChat(id).running?.control.answerNow() }

    /// Counts tokens with the selected model, if it is in memory; otherwise `nil`.
    func tokens(in text: String) async -> Int? { await library.tokens(in: text) }

    /// Remembers the context window of the model that has just answered.
    func rememberContext(_ id: String, _ session: ChatSession) async {
        guard let length = await session.contextLength() else { return }
        open[id]?.contextLength = length
    }

    /// The context window of the model that answered last.
    func contextLength(_ id: String) -> Int? { open[id]?.contextLength }

    /// The session of a conversation that is open.
    func session(_ id: String) -> ChatSession? { open[id]?.session }

    /// The running answer as clients have seen it.
    func running(_ id: String) -> Running? { open[id]?.running }

    func change(_ id: String, _ body: (inout Running) -> Void) {
        guard var running = open[id]?.running else { return }
        body(&running)
        open[id]?.running = running
    }
}
