import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// One conversation with the assistant: it thinks, answers and acts.
///
/// ```swift
/// let session = try await assistant.session()
/// for await event in await session.send("Remind me tomorrow at nine to call Anna") {
///     if case .text(let piece) = event { print(piece, terminator: "") }
/// }
/// ```
/// The messages are kept while they stream, at least once a second. A consumer that ends its stream early stops the answer.
public actor ChatSession {
    /// The id of the conversation.
    public nonisolated let id: String
    /// Whether nothing of the conversation is kept or leaves the device.
    public nonisolated let isPrivate: Bool

    package internal(set) var parts: ChatParts
    /// The actions that the model is told of; in a private conversation only those that stay on the device, with a system
    /// prompt of the user's own none.
    package var registry: ActionRegistry {
        parts.settings.systemPrompt == nil ? parts.runner.registry(isPrivate: isPrivate) : ActionRegistry([])
    }
    var engine: ChatEngine
    /// The settings of all conversations; those of ``parts`` are this conversation's.
    var common: ChatSettings
    /// Replaces the parts and the engine when the running turn ends.
    var next: (parts: ChatParts, engine: ChatEngine)?
    var messagesKept: SessionMessages
    var conversation: ConversationSummary
    /// The running turn.
    var turn: Turn?
    var context: TurnContext?
    private var generation: TurnGeneration?
    /// Cancels the approval, action or search that runs.
    private var cancelWork: (@Sendable () -> Void)?
    private var isStopping = false
    private var tail: Task<Void, Never>?
    /// What is typed before the next turn, and the task that lets the engine read it.
    var typed = TypedPrompt()
    var preparation: Task<Void, Never>?
    let saver: MessageSaver

    package init(
        id: String, parts: ChatParts, engine: ChatEngine, isPrivate: Bool = false,
        conversation: ConversationSummary? = nil, messages: [AssistantMessage] = []
    ) {
        self.id = id
        let parts = isPrivate ? parts.forPrivateUse : parts
        self.parts = parts
        self.engine = engine
        self.isPrivate = isPrivate
        common = parts.settings
        let now = parts.time.now
        let summary = conversation ?? ConversationSummary(id: id, title: "", created: now, changed: now)
        self.conversation = summary
        let own = summary.settings ?? ConversationSettings()
        self.parts.settings = parts.settings.adapted(to: own)
        engine.take(own)
        messagesKept = SessionMessages(messages, leaf: conversation?.leaf)
        saver = MessageSaver(store: parts.store, conversation: id, time: parts.time)
    }

    // MARK: Reading

    /// The messages of the shown branch.
    public var messages: [AssistantMessage] {
        let branch = messagesKept.branch
        guard let turn else { return branch }
        return branch.map { $0.id == turn.message.id ? turn.message : $0 }
    }

    /// The conversation in the list; its title is the first words of the first question unless the user named it.
    public var summary: ConversationSummary {
        var summary = conversation
        summary.leaf = messagesKept.leaf
        summary.messageCount = messagesKept.all.count
        if summary.title.isEmpty {
            let question = messagesKept.all.first { $0.role == .user }
            summary.title = question.map { ConversationTitle.derived(from: $0.content) } ?? ""
            if summary.title.isEmpty { summary.title = parts.settings.texts.untitled }
        }
        return summary
    }

    /// Whether an answer is running.
    public var isAnswering: Bool { turn != nil }

    // MARK: Asking

    /// Sends a message and answers it.
    /// - Parameters:
    ///   - act: forces the answer to be one block of this tag.
    ///   - control: the button "answer now".
    public func send(
        _ text: String, images: [ChatImage] = [], act: ActionTag? = nil, control: ThinkingControl? = nil
    ) -> AsyncStream<ChatEvent> {
        send(text, images: images, documents: [], act: act, control: control)
    }

    /// The same with documents, whose texts the model reads as texts from outside. They are kept with the message.
    package func send(
        _ text: String, images: [ChatImage] = [], documents: [Document], act: ActionTag? = nil,
        control: ThinkingControl? = nil
    ) -> AsyncStream<ChatEvent> {
        let options = SendOptions(act: act, control: control)
        let attached = Attached(images: images, documents: documents)
        return run { .ask(text: text, attached, parent: $0.messagesKept.leaf, options: options) }
    }

    /// Answers a question again, as another branch.
    /// - Parameter id: the answer to repeat; `nil` answers the last question, also one without an answer.
    public func regenerate(_ id: String? = nil, control: ThinkingControl? = nil) -> AsyncStream<ChatEvent> {
        let options = SendOptions(control: control)
        return run { session in
            let question =
                id.flatMap { session.messagesKept[$0]?.parent }
                ?? session.messagesKept.branch.last { $0.role == .user }?.id
            return .answer(question: question, options: options)
        }
    }

    /// Sends another text in place of a question, as another branch.
    public func edit(
        _ id: String, to text: String, control: ThinkingControl? = nil
    ) -> AsyncStream<ChatEvent> {
        let options = SendOptions(control: control)
        return run { session in
            guard let old = session.messagesKept[id], old.role == .user else {
                return .answer(question: nil, options: options)
            }
            let attached = Attached(images: old.images, documents: old.documents ?? [])
            return .ask(text: text, attached, parent: old.parent, options: options)
        }
    }

    /// Continues the last answer, which is not complete, with a model on this device.
    public func continueLocally() -> AsyncStream<ChatEvent> { goOn(with: .local) }

    /// Continues an answer that is not complete behind its last word, in the same message.
    /// - Parameters:
    ///   - id: the last message of the shown branch; `nil` for that message.
    ///   - source: the kind of engine that continues; `nil` for that of a question. A conversation whose settings keep it
    ///     on this device goes on here.
    package func goOn(_ id: String? = nil, with source: RouteSource? = nil) -> AsyncStream<ChatEvent> {
        run { session in
            let last = session.messagesKept.branch.last
            let isMeant = last?.canGoOn == true && (id == nil || id == last?.id)
            return .resume(answer: isMeant ? last?.id : nil, source)
        }
    }

    /// Stops the running answer. What came stays.
    public func stop() { stop(nil) }

    /// The same because of a failure, which the answer keeps.
    package func stop(_ failure: FailureBody?) {
        guard turn != nil else { return }
        isStopping = true
        if let failure { generation?.fail(failure) } else { generation?.stop() }
        cancelWork?()
    }

    // MARK: Turns

    /// What goes with a question.
    private struct Attached: Sendable {
        var images: [ChatImage]
        var documents: [Document]
    }

    /// The beginning of a turn.
    private enum Request: Sendable {
        case ask(text: String, Attached, parent: String?, options: SendOptions)
        case answer(question: String?, options: SendOptions)
        case resume(answer: String?, RouteSource?)
    }

    /// Runs a turn after those before it. The request is made when the turn begins, from the messages of that moment.
    private func run(
        _ request: @escaping @Sendable (isolated ChatSession) -> Request
    ) -> AsyncStream<ChatEvent> {
        let watch = parts.time.stopwatch()
        let (stream, events) = AsyncStream<ChatEvent>.makeStream()
        let previous = tail
        let isCancelled = Locked(false)
        endReading()
        tail = Task {
            await previous?.value
            if !isCancelled.withLock({ $0 }) { await perform(request(self), since: watch, events) }
            events.finish()
        }
        events.onTermination = { [weak self] reason in
            guard case .cancelled = reason else { return }
            isCancelled.withLock { $0 = true }
            Task { await self?.stop() }
        }
        return stream
    }

    private func perform(
        _ request: Request, since watch: Stopwatch, _ events: AsyncStream<ChatEvent>.Continuation
    ) async {
        var question: AssistantMessage?
        var options = SendOptions()
        var resumed: AssistantMessage?
        let asked: AssistantMessage?
        switch request {
        case .ask(let text, let attached, let parent, let chosen):
            var message = AssistantMessage(
                role: .user, content: text, images: attached.images, date: parts.time.now, parent: parent)
            message.documents = attached.documents.isEmpty ? nil : attached.documents
            messagesKept.append(message)
            (question, asked, options) = (message, message, chosen)
        case .answer(let id, let chosen):
            (asked, options) = (id.flatMap { messagesKept[$0] }, chosen)
        case .resume(let id, let source):
            resumed = id.flatMap { messagesKept[$0] }
            asked = resumed?.parent.flatMap { messagesKept[$0] }
            // What a conversation keeps on this device, no request sends away.
            engine.prefer(settings.route == .local ? .local : source)
        }
        defer { engine.take(settings) }
        if case .resume = request, resumed == nil {
            _ = events.yield(
                .failed(
                    FailureBody(
                        code: "nothing-to-continue", message: "The last answer of this conversation is complete.")))
            return
        }
        guard let asked, asked.role == .user else {
            _ = events.yield(
                .failed(FailureBody(code: "no-such-message", message: "The conversation has no such question.")))
            return
        }
        if resumed == nil { await removeFailures(of: asked, events) }
        var answer = resumed ?? AssistantMessage(role: .assistant, date: parts.time.now, parent: asked.id)
        answer.isOpen = true
        if resumed == nil {
            messagesKept.append(answer)
        } else {
            // The turn writes it anew.
            answer.rawContent = nil
        }
        var turn = Turn(answer, tags: registry.tags, texts: parts.settings.texts)
        let first = resumed.map { turn.resume(after: $0.written) } ?? turn.begin()
        self.turn = turn
        events.yield(.started(question: question, answer: turn.message))
        if let question {
            let isFirst = messagesKept.all.count == 2
            await saver.save(question)
            if isFirst, conversation.settings != nil { await saver.save(summaryToKeep) }
        }
        // The kept text of an answer that goes on stays until more of it comes.
        if resumed == nil { await saver.save(answer) }

        engine.begin(turn: asked.id)
        context = TurnContext(question: asked, options: options, started: watch)
        isStopping = false
        await carryOut(first, events)
        generation = nil
        context = nil
        self.turn = nil
        adopt()
    }

    /// Removes the answers to a question that failed before their first word: another one is asked for.
    private func removeFailures(
        of question: AssistantMessage, _ events: AsyncStream<ChatEvent>.Continuation
    ) async {
        for answer in messagesKept.tree.children(of: question.id)
        where answer.failure != nil && answer.isEmpty && messagesKept.tree.children(of: answer.id).isEmpty {
            messagesKept.remove(answer.id)
            await saver.remove(answer.id)
            events.yield(.removed(id: answer.id))
        }
    }

    /// Carries out effects until the turn ends.
    private func carryOut(
        _ first: [Turn.Effect], _ events: AsyncStream<ChatEvent>.Continuation
    ) async {
        var effects = first[...]
        while let effect = effects.popFirst() {
            switch effect {
            case .show(let event): events.yield(event)
            case .generate(let pass): effects += await generate(pass, events)
            case .decide(let block): effects += report(await decide(block))
            case .search(let card, let query): effects += report(await search(card, query))
            case .act(let blocks): effects += report(.acted(await act(blocks, events)))
            case .shelve(let blocks): effects += report(.shelved(await shelve(blocks)))
            case .halt: generation?.halt()
            case .end(let end): await finalizeResponse(end, events)
            }
        }
    }

    /// Tells the turn what happened, or that its message was deleted.
    private func report(_ event: Turn.Event) -> [Turn.Effect] {
        guard let message = turn?.message else { return [] }
        return turn?.handle(messagesKept[message.id] == nil ? .gone : event) ?? []
    }

    /// Runs one generation and reports its events in order.
    /// - Returns: what follows it.
    private func generate(
        _ pass: Turn.Pass, _ events: AsyncStream<ChatEvent>.Continuation
    ) async -> [Turn.Effect] {
        if isStopping { return report(.stopped) }
        // Waiting and loading are part of the first generation's time.
        let started = context?.started
        let watch = pass == .answer || pass == .continuation ? started : nil
        let generation = TurnGeneration(
            limit: parts.settings.passTimeout, since: watch ?? parts.time.stopwatch(), time: parts.time
        ) { left, tell in try await self.answer(pass, within: left, tell) }
        self.generation = generation
        defer { generation.halt() }
        for await event in generation.events {
            let effects = report(event)
            if let message = turn?.message, event.changesMessage { saver.note(message) }
            let steps = effects.firstIndex { !$0.isShown } ?? effects.endIndex
            for case .show(let shown) in effects[..<steps] { events.yield(shown) }
            if steps < effects.endIndex { return Array(effects[steps...]) }
        }
        return report(.failed(FailureBody(code: "generation-failed", message: "The answer ended without a result.")))
    }

    /// Performs an approval, an action or a search, which ``stop()`` cancels.
    func working<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let task = Task { await body() }
        cancelWork = { task.cancel() }
        if isStopping { task.cancel() }
        let result = await task.value
        cancelWork = nil
        return result
    }

    /// Ends a turn, once: the message gets its facts and is kept.
    private func finalizeResponse(_ end: Turn.End, _ events: AsyncStream<ChatEvent>.Continuation) async {
        guard let turn else { return }
        var message = turn.message
        switch end {
        case .gone: break
        case .removed:
            messagesKept.remove(message.id)
            await saver.remove(message.id)
            events.yield(.removed(id: message.id))
        case .complete, .partial:
            message.facts = nil
            if let summary = turn.facts {
                message.facts = await engine.facts(
                    summary, expected: context?.model ?? "", sees: context?.isSeen ?? false)
            }
            messagesKept.update(message)
            await saver.save(message)
            events.yield(.finished(message))
        }
    }
}

extension Turn.Event {
    fileprivate var changesMessage: Bool { if case .phase = self { false } else { true } }
}

extension Turn.Effect {
    fileprivate var isShown: Bool { if case .show = self { true } else { false } }
}
