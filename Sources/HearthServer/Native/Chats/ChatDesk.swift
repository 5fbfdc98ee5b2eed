#if Server
    import Foundation
    import HearthAssistant
    import HearthBase
    import HearthInference

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
            /// The model that the user chose for it.
            var model: String?
            var thinks: Bool?
            var running: Running?
            /// The work for the last answer.
            var turn: Task<Void, Never>?
            /// Whether it has no message yet, and is not kept.
            var isNew = false
            /// The context window of the model that answered last.
            var contextLength: Int?
            var used: UInt64 = 0
        }

        let log: EventLog
        let approvals: ApprovalDesk
        let pictures: PictureDesk
        private(set) var assistant: Assistant
        /// The engine of a named model for a conversation.
        private var engine: @Sendable (_ model: String, _ isPrivate: Bool) async throws -> any InferenceEngine
        /// Called after each answer.
        private let answered: @Sendable () async -> Void
        private var open: [String: OpenChat] = [:]
        private var uses: UInt64 = 0

        /// The most open conversations without an answer on its way.
        private static let openLimit = 32

        init(
            _ assistant: Assistant, log: EventLog, approvals: ApprovalDesk, time: TimeSource,
            engine: @escaping @Sendable (String, Bool) async throws -> any InferenceEngine,
            answered: @escaping @Sendable () async -> Void
        ) {
            self.assistant = assistant
            self.log = log
            self.approvals = approvals
            self.engine = engine
            self.answered = answered
            pictures = PictureDesk(time: time)
        }

        /// Uses other settings for conversations that are opened from now on. Private ones exist only while they are open, and
        /// stay as they are.
        func use(
            _ next: Assistant, engine: @escaping @Sendable (String, Bool) async throws -> any InferenceEngine
        ) {
            assistant = next
            self.engine = engine
            open = open.filter { $0.value.running != nil || $0.value.session.isPrivate || $0.value.isNew }
            for (id, chat) in open where chat.isNew && !chat.session.isPrivate {
                open[id] = OpenChat(session: next.newSession(id), isNew: true, used: chat.used)
            }
        }

        // MARK: Opening

        /// The open conversation with an id.
        /// - Throws: `AssistantError` with `no-such-record`.
        func openChat(_ id: String) async throws -> OpenChat {
            if let chat = open[id] { return chat }
            let session = try await assistant.session(id)
            // Another request may have opened it meanwhile.
            return open[id] ?? keep(OpenChat(session: session))
        }

        @discardableResult
        private func keep(_ chat: OpenChat) -> OpenChat {
            uses += 1
            var chat = chat
            chat.used = uses
            open[chat.session.id] = chat
            let idle = open.values.filter { $0.running == nil && !$0.session.isPrivate }
            if idle.count > Self.openLimit, let oldest = idle.min(by: { $0.used < $1.used }) {
                open[oldest.session.id] = nil
            }
            return chat
        }

        func create(_ order: NewChatOrder) async throws -> ChatBody {
            let session = try await assistant.session(nil, isPrivate: order.isPrivate ?? false)
            keep(OpenChat(session: session, isNew: true))
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

        // MARK: Lists

        func chats(limit: Int, offset: Int) async throws -> [ChatBody] {
            var chats = try await assistant.conversations.conversations(limit: limit, offset: offset).map { summary in
                ChatBody(summary, isAnswering: open[summary.id]?.running != nil)
            }
            guard offset == 0 else { return chats }
            // Conversations that are not kept, or have no message yet.
            let known = Set(chats.map(\.id))
            for chat in open.values where chat.session.isPrivate && !known.contains(chat.session.id) {
                chats.insert(await body(chat.session), at: 0)
            }
            return chats
        }

        func search(_ words: String, limit: Int) async throws -> [HitBody] {
            try await assistant.conversations.search(words, limit: limit).map {
                HitBody(chat: ChatBody($0.conversation), message: $0.messageID, excerpt: $0.excerpt, date: $0.date)
            }
        }

        // MARK: Changes

        func rename(_ id: String, to title: String) async throws -> ChatBody {
            let session = try await openChat(id).session
            await session.rename(try Self.title(title))
            return await tell(id, session)
        }

        func remove(_ id: String) async throws {
            let chat = try await openChat(id)
            await chat.session.stop()
            // What ends later would keep its message, and with it the conversation.
            await chat.turn?.value
            open[id] = nil
            try await assistant.conversations.removeConversation(id)
            log.add("chat-removed", IDBody(id: id))
        }

        func removeMessage(_ message: String, of id: String) async throws {
            let chat = try await openChat(id)
            await chat.session.delete(message)
            log.add("message-removed", MessageRemovedEvent(chat: id, message: message))
            await tell(id, chat.session)
        }

        func show(_ message: String, in id: String) async throws {
            let chat = try await openChat(id)
            guard chat.running == nil else { throw Self.busy }
            await chat.session.show(message)
            log.add("branch", ChatEventBody(chat: id))
        }

        static let busy = NativeFailure(
            409, "busy", "the conversation is being answered", remedy: "Stop the answer, or wait for its end.")

        /// Removes all conversations and the journal of actions.
        func eraseAll() async throws {
            await stopAll()
            open = [:]
            try await assistant.eraseAll()
            log.add("reset", ["reason": "erased"])
        }

        // MARK: Turns

        /// Chooses the model and the thinking of a conversation, before a message.
        func choose(_ id: String, model: String?, thinks: Bool?) async throws {
            var chat = try await openChat(id)
            let (newModel, newThinks) = (model ?? chat.model, thinks ?? chat.thinks)
            guard newModel != chat.model || newThinks != chat.thinks else { return }
            guard chat.running == nil else { throw Self.busy }
            let session = chat.session
            guard !session.isPrivate else {
                throw NativeFailure(409, "conflict", "a private conversation keeps its model", remedy: "Begin another.")
            }
            var other: (any InferenceEngine)?
            if let newModel { other = try await engine(newModel, session.isPrivate) }
            var settings = assistant.chatSettings
            if let newThinks { settings.showThinking = newThinks }
            let next =
                chat.isNew
                ? assistant.newSession(id, engine: other, settings: settings)
                : try await assistant.session(id, engine: other, settings: settings)
            chat = OpenChat(session: next, model: newModel, thinks: newThinks, isNew: chat.isNew)
            keep(chat)
        }

        /// Begins a turn, and returns when its messages exist.
        func begin(
            _ id: String,
            _ start: @escaping @Sendable (ChatSession, ThinkingControl) async -> AsyncStream<ChatEvent>
        ) async throws -> TurnBody {
            let chat = try await openChat(id)
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
            next.isNew = false
            keep(next)
            for await turn in turns { return try turn.get() }
            throw CancellationError()
        }

        private func end(_ id: String, _ session: ChatSession) async {
            guard open[id]?.session === session else { return }
            open[id]?.running = nil
            await tell(id, session)
            log.add("actions", EmptyBody())
            await answered()
        }

        /// Stops all answers; what came is kept.
        func stopAll() async {
            for chat in open.values {
                await chat.session.stop()
                await chat.turn?.value
            }
        }

        func stop(_ id: String) async throws { await (try await openChat(id)).session.stop() }

        func answerNow(_ id: String) async throws { try await openChat(id).running?.control.answerNow() }

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
#endif
