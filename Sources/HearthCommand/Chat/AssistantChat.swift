import Foundation
import HearthAssistant
import HearthBase
import HearthInference
import HearthRouting

/// A conversation with the assistant at a terminal.
actor AssistantChat {
    /// The engine of a model that the user chose, with its name.
    typealias FoundModel = (engine: any InferenceEngine, name: String)

    let context: CommandContext
    let setup: AssistantSetup
    let reader: any LineReader
    let approval: TerminalApproval
    let findModel: @Sendable (String) async throws -> FoundModel
    /// Whether all conversations of the run are private.
    let isPrivate: Bool
    /// Refuses a private conversation of which something would be kept.
    let checkPrivate: @Sendable () throws -> Void
    /// What may leave for the cloud; `nil` without one.
    let shares: String?
    nonisolated let interrupts: ChatInterrupts
    let console: Console

    var session: ChatSession
    /// The engine that replaces the usual one, with the name of its model.
    var engine: (any InferenceEngine)?
    var modelName: @Sendable () -> String
    var settings: ChatSettings
    var attachments: Attachments
    /// The tag whose block the next answer has to be.
    var act: ActionTag?
    var showsThinking = false
    var showsStats = false
    /// The cards of the conversation, as they were last; a card's number is its place.
    var cards: [ActionCard] = []
    var last: AssistantMessage?
    /// Whether the next line goes on with a message.
    private var goesOn = false
    /// Called after a private conversation.
    var forget: @Sendable () async -> Void = {}
    /// Why the last turn gave no answer.
    private var failure: FailureBody?
    /// Whether the user goes on after an answer, so that answers may name commands of the conversation.
    private var isConversation = false
    /// The conversations listed last.
    var listed: [ConversationSummary] = []

    init(
        _ context: CommandContext, _ setup: AssistantSetup, session: ChatSession, reader: any LineReader,
        approval: TerminalApproval, attachments: Attachments, act: ActionTag?, shares: String?,
        modelName: @escaping @Sendable () -> String,
        findModel: @escaping @Sendable (String) async throws -> FoundModel,
        isPrivate: Bool = false, checkPrivate: @escaping @Sendable () throws -> Void
    ) {
        self.context = context
        self.setup = setup
        self.session = session
        self.reader = reader
        self.approval = approval
        self.attachments = attachments
        self.act = act
        self.shares = shares
        self.modelName = modelName
        self.findModel = findModel
        self.isPrivate = isPrivate
        self.checkPrivate = checkPrivate
        settings = setup.settings
        interrupts = ChatInterrupts(context, reader)
        console = context.console
    }

    /// Asks about cards at the terminal.
    func prepare() {
        let question = CardQuestion(
            reader: reader, console: console, environment: context.environment,
            registry: setup.assistant.actions.registry)
        approval.use { [self] card in
            await showAlone(card)
            return await question.decision(on: card)
        }
        self.question = question
    }

    private var question: CardQuestion?

    /// Performs something after each private conversation.
    func afterPrivate(_ body: @escaping @Sendable () async -> Void) { forget = body }

    // MARK: Lines

    /// Talks until the user ends the conversation.
    func run() async throws {
        prepare()
        isConversation = true
        await showEarlierMessages()
        console.say("\(modelName().shownOnTerminal) answers. Say something, or /help.")
        if let names = attachments.names { console.say("(with your first message: \(names))") }
        // Of texts that follow each other fast, only the last counts.
        let (texts, typing) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(1))
        reader.watch { typing.yield($0) }
        let early = Task { for await text in texts { await readEarly(text) } }
        defer { early.cancel() }
        var lines = MessageLines()
        while true {
            goesOn = lines.isOpen
            // What a program sends follows at once.
            if reader.canEdit { await readEarly("") }
            switch await reader.line(prompt: prompt(lines), initial: "") {
            case .end:
                try Task.checkCancellation()
                return console.prompt(reader.canEdit ? "" : "\n")
            case .cancelled(let hadText):
                try Task.checkCancellation()
                let isOpen = hadText || lines.isOpen
                lines = MessageLines()
                guard interrupts.lineGivenUp(hadText: isOpen) else { throw CommandError.interrupted(kept: nil) }
            case .line(let line):
                interrupts.lineEntered()
                let command = ChatCommand(line.trimmingCharacters(in: .whitespacesAndNewlines))
                if !lines.isOpen, command != .message {
                    if command != .nothing { reader.remember(line, isKept: false) }
                    guard try await performed(command) else { return }
                } else if let text = lines.append(line) {
                    try await send(text)
                }
            }
        }
    }

    /// Lets the model read the beginning of the next message while it is typed.
    private func readEarly(_ text: String) async {
        let isMessage = text.isEmpty || ChatCommand(text.trimmingCharacters(in: .whitespacesAndNewlines)) == .message
        guard isMessage, !goesOn else { return }
        await session.prewarm(promptPrefix: text)
    }

    /// The text before the next line; `\u{1}` stands around what takes no columns.
    private func prompt(_ lines: MessageLines) -> String {
        let mark = lines.isOpen ? "…" : session.isPrivate ? "(private) >" : ">"
        guard reader.canEdit, console.canDim else { return mark + " " }
        // libedit loses a sequence at the end.
        return "\u{1}\u{1B}[1m\u{1}\(mark)\u{1}\u{1B}[0m\u{1} "
    }

    /// Answers one question.
    /// - Throws: why there is none; `interrupted` if the user stopped it.
    func answer(_ question: String) async throws -> AssistantMessage? {
        prepare()
        try await send(question)
        if interrupts.wasStopped { throw CommandError.interrupted(kept: nil) }
        if let failure { throw failure }
        return last
    }

    /// Performs a command.
    /// - Returns: whether the conversation goes on.
    private func performed(_ command: ChatCommand) async throws -> Bool {
        do {
            return try await perform(command)
        } catch is OutputClosed {
            throw OutputClosed()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // A command that failed does not end the conversation.
            for line in FailureRenderer(error).lines { console.complain(line) }
            return true
        }
    }

    private func send(_ text: String) async throws {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { return }
        reader.remember(text, isKept: !session.isPrivate)
        let (message, images, chosen) = (attachments.message(text), attachments.images, act)
        (attachments, act) = (Attachments(), nil)
        try await turn { await $0.send(message, images: images, act: chosen) }
    }

    // MARK: Turns

    /// Shows one turn, and asks about its cards.
    func turn(_ start: @Sendable (ChatSession) async -> AsyncStream<ChatEvent>) async throws {
        let session = session
        failure = nil
        interrupts.answerBegins(session)
        QuietTerminal.echo(false)
        defer {
            QuietTerminal.echo(true)
            interrupts.answerEnds()
        }
        var screen = TurnScreen(
            console: console, showsThinking: showsThinking, time: context.time, model: modelName)
        for await event in await start(session) {
            switch event {
            case .card(let card):
                let number = isConversation ? keep(card) : nil
                // A search was decided about before its card comes, and runs now.
                if card.tag == .webSearch, card.state == .proposed { break }
                try screen.show(event, number: number)
                guard card.state == .proposed, let question else { break }
                QuietTerminal.echo(true)
                let decision = await question.decision(on: card)
                QuietTerminal.echo(false)
                approval.answer(decision, to: card.id)
            case .finished(let message):
                last = message
                try screen.show(event)
            case .failed(let body):
                failure = body
                // The end of the command says why it has no answer.
                if isConversation { try screen.show(event) }
            default: try screen.show(event)
            }
        }
        try screen.end()
        try Task.checkCancellation()
        guard isConversation else { return }
        if reader.canEdit { try console.write("\n") }
        if interrupts.wasStopped { console.say("(stopped; Ctrl-C again ends the conversation)") }
        if last?.facts?.finish == .interrupted {
            console.complain("(type /continue for the rest from a local model)")
        }
        if showsStats { try stats() }
    }

    /// Remembers a card as it is now.
    /// - Returns: its number.
    private func keep(_ card: ActionCard) -> Int {
        if let index = cards.firstIndex(where: { $0.id == card.id }) {
            cards[index] = card
            return index + 1
        }
        cards.append(card)
        return cards.count
    }

    /// Shows a card outside of an answer's text.
    func showAlone(_ card: ActionCard) { console.show(card, number: isConversation ? keep(card) : nil) }

    /// Shows the end of the conversation that goes on.
    func showEarlierMessages() async {
        let messages = await session.messages
        cards = messages.flatMap(\.cards)
        last = messages.last { $0.role == .assistant }
        guard !messages.isEmpty else { return }
        let title = await session.summary.title
        console.say("(\(title.shownOnTerminal), \(messages.count) messages)")
        if let question = messages.last(where: { $0.role == .user }) {
            let text = TerminalText.singleLine(Attachments.parts(of: question.content).words)
            console.say(TerminalText.truncated("> " + text, to: min(78, (console.errors.width ?? 79) - 1)))
        }
        // A terminal that is gone ends the conversation at its next line.
        if let last { try? console.printMarkdown(last.content + "\n") }
    }

    /// Shows the facts of the last answer, and what left this device for it.
    func stats() throws {
        guard let facts = last?.facts else { return console.complain("No answer was given yet.") }
        console.complain(FactsLine.text(model: modelName(), facts))
        if facts.source == .cloud {
            console.complain(
                "answered in the cloud (\(facts.reason)); your message left this device, and of the rest: "
                    + (shares ?? "nothing"))
        } else {
            console.complain(
                "answered on this device; nothing left it" + (facts.reason.isEmpty ? "" : " (\(facts.reason))"))
        }
    }
}
