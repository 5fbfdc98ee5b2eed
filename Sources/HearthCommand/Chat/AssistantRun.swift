import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthDatabase
import HearthDelivery
import HearthInference
import HearthRouting

/// One run of `hearth chat` as the assistant: a conversation, or one question.
struct AssistantRun: Sendable {
    let chat: Chat
    let parts: ConversationParts
    let context: CommandContext

    /// Answers a question, or talks until the user ends the conversation.
    func perform(_ question: String?) async throws {
        let approval = TerminalApproval()
        let isAsking = chat.hasPerson(context) || question == nil && chat.format == .text
        let setup = try await AssistantSetup(
            parts, thinks: chat.isThinkingEnabled, insists: chat.asksAssistant, preApproved: chat.approved ?? [],
            systemPrompt: chat.ownSystemPrompt,
            isPrivate: chat.route.isPrivate, approval: isAsking ? approval : DeclineAll(), in: context)
        try await withEnding({ await setup.home.database.close() }) {
            try await perform(question, setup, approval, isAsking: isAsking)
        }
    }

    private func perform(
        _ question: String?, _ setup: AssistantSetup, _ approval: TerminalApproval, isAsking: Bool
    ) async throws {
        let last = chat.goesOn ? try await setup.home.conversations.conversations(limit: 1, offset: 0).first : nil
        let session = try await setup.assistant.session(last?.id, isPrivate: chat.route.isPrivate)
        guard isAsking else { return try await answer(question, session) }
        let history = chat.route.isPrivate ? nil : LineHistory(path: setup.home.path.appending("chat-history"))
        let reader = Self.lineReader(context, history: history)
        let talk = AssistantChat(
            context, setup, session: session, reader: reader, approval: approval,
            attachments: parts.attachments, act: chat.act, shares: shares, modelName: modelName,
            findModel: findModel, isPrivate: chat.route.isPrivate, checkPrivate: checkPrivate)
        await talk.afterPrivate { [hearth = parts.hearth] in await hearth.forgetConversations() }
        try await context.interruptions.handling(.interrupt, with: { talk.interrupts.interrupt() }) {
            guard let question else { return try await talk.run() }
            let message = try await talk.answer(question)
            if let facts = message?.facts {
                context.console.say(FactsLine.text(model: modelName(), facts))
            }
            guard message?.facts?.finish != .interrupted else { throw Chat.interrupted }
        }
    }

    /// Answers one question for a program, or with `--format json` a question on each line.
    private func answer(_ question: String?, _ session: ChatSession) async throws {
        var (attachments, act) = (parts.attachments, chat.act)
        if let question {
            return try await report(
                session.send(attachments.message(question), images: attachments.images, act: act))
        }
        for await line in context.input.lines() {
            do {
                switch line.trimmingCharacters(in: .whitespacesAndNewlines) {
                case "": continue
                case "/exit": return
                case "/continue": try await report(session.continueLocally())
                case let text:
                    let message = attachments.message(text)
                    try await report(session.send(message, images: attachments.images, act: act))
                    (attachments, act) = (Attachments(), nil)
                }
            } catch let error as LLMError {
                // Continue the conversation after a failed question.
                let failure = FailureRenderer(error)
                for line in failure.lines { context.console.complain(line) }
                if error.code == .answerInterrupted {
                    // The event of the end says it.
                    context.console.complain("  /continue lets a local model finish it.")
                } else {
                    try failure.emitPart(of: modelName(), on: context.console)
                }
            }
        }
    }

    /// Writes the events of an answer.
    /// - Throws: why there is none; `answer-interrupted`: a script must not take half an answer for a whole one.
    private func report(_ events: AsyncStream<ChatEvent>) async throws {
        var report = TurnReport(console: context.console, format: chat.format)
        var facts: AnswerFacts?
        for await event in events {
            if case .finished(let message) = event { facts = message.facts }
            try report.write(event)
        }
        try report.end()
        try Task.checkCancellation()
        if let facts, chat.format == .text {
            context.console.say(FactsLine.text(model: modelName(), facts))
        }
        if let failure = report.failure {
            throw LLMError(
                .init(stringLiteral: failure.code), failure.message, context: failure.context,
                disposition: failure.disposition)
        }
        guard facts?.finish != .interrupted else { throw Chat.interrupted }
    }

    // MARK: Parts

    /// The name of the model that answers now.
    private var modelName: @Sendable () -> String {
        { [printer = parts.printer] in printer.answering?.withLock { $0 } ?? printer.model }
    }

    /// The editor of the terminal, or plain lines.
    static func lineReader(_ context: CommandContext, history: LineHistory?) -> any LineReader {
        let isEditable = context.terminal != nil && !(context.input is ContinuedSource)
        let editor =
            isEditable
            ? LineEditor(environment: context.environment, history: history) { line in
                ChatCommand.completion(of: line) { FileCompletion.candidates($0) }
            } : nil
        return editor ?? PlainLines(context.input, context.console)
    }

    /// What may leave for the cloud; `nil` without one.
    private var shares: String? {
        guard parts.engine is RoutedEngine else { return nil }
        // A setting that is not made shares everything.
        return ((try? parts.configuration.value(of: "cloud.shares")) ?? nil) ?? CloudShares.all.text
    }

    /// Refuses a private conversation of which something would be kept.
    private var checkPrivate: @Sendable () throws -> Void {
        { [configuration = parts.configuration] in
            guard configuration.stateFolder == nil else {
                throw UsageError(
                    "computed states are kept in stateFolder, and hold what is said",
                    hint: "Begin a private conversation with `hearth chat --private`.")
            }
        }
    }

    /// Finds and loads a model by name.
    private var findModel: @Sendable (String) async throws -> AssistantChat.FoundModel {
        { [chat, parts, context] name in
            let model = try await ChatModel.find(
                try ModelReference(parsing: name), projector: nil, in: parts.hearth, context: context)
            try await chat.load(model, in: context)
            return (model.engine, model.name)
        }
    }
}
