import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthRouting
import HearthStore

/// What a conversation is made of.
struct ConversationParts: Sendable {
    let configuration: Configuration
    let hearth: Hearth
    let engine: any InferenceEngine
    let printer: AnswerPrinter
    let attachments: Attachments
    let options: GenerationOptions
}

/// The one question of a command.
struct ChatQuestion: Sendable, Hashable {
    let prompt: String
    /// What was piped in beside the prompt.
    var piped = ""

    var text: String { piped.isEmpty ? prompt : "\(prompt)\n\n\(piped)" }

    /// What another person may have written.
    var outside: [OutsideText] { piped.isEmpty ? [] : [OutsideText(source: "standard input", text: piped)] }

    /// The question for the assistant: what was piped in may be the text of another person.
    var marked: String {
        guard !piped.isEmpty else { return prompt }
        return "\(prompt)\n\n\(PromptMarks.marked(piped, as: "file", source: "standard input"))"
    }
}

extension Chat {
    private static let maximumPromptBytes = 16 << 20

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        var configuration = try await context.configuration
        if ignoresMemory { configuration.ignoresMemory = true }
        // Computed states hold what was said.
        if route.isPrivate { configuration.stateFolder = nil }
        var options = GenerationOptions(configuration: configuration)
        options.sampling = sampling(options.sampling.temperature)
        options.thinking.isEnabled = isThinkingEnabled
        options.stopStrings = stopStrings
        options.constraint = try await constraint()
        if let maximumTokens { options.maximumNewTokens = maximumTokens }

        // Read files first: a bad one should not cost a load.
        let attachments = try await attachments()
        let hearth = try await context.hearth(configuration)
        // The program must not end while a stopped load or answer is still marked on the disk.
        try await withEnding({ await hearth.close() }) {
            switch try await choice(configuration, in: hearth, context) {
            case .routed(let routing):
                let parts = ConversationParts(
                    configuration: configuration, hearth: hearth, engine: routing.engine, printer: routing.printer,
                    attachments: attachments, options: options)
                try await routing.perform { try await converse(parts, question(context.input), context) }
            case .local(let decision):
                try await converseLocally(decision, configuration, attachments, options, in: hearth, context)
            }
        }
    }

    /// What goes with the first question.
    private func attachments() async throws -> Attachments {
        var attachments = Attachments(images: try await blocking { [images] in try PictureFile.read(images) })
        for file in files { try await attachments.add(file: file) }
        return attachments
    }

    private func converseLocally(
        _ decision: RouteDecision?, _ configuration: Configuration, _ attachments: Attachments,
        _ options: GenerationOptions, in hearth: Hearth, _ context: CommandContext
    ) async throws {
        var context = context
        let model: ChatModel
        do {
            model = try await find(configuration, in: hearth, &context)
        } catch {
            // The rule that a person may change, where no local model can answer.
            if let decision { context.console.say("(local: \(decision.reasonText))") }
            throw error
        }
        let question = try await question(context.input)
        try await load(model, in: context)
        if let decision { context.console.announce(decision, model: model.name, format: format) }
        let parts = ConversationParts(
            configuration: configuration, hearth: hearth, engine: model.engine,
            printer: AnswerPrinter(console: context.console, format: format, model: model.name),
            attachments: attachments, options: options)
        try await converse(parts, question, context)
    }

    /// Answers one question, or talks until the person ends it.
    private func converse(_ parts: ConversationParts, _ question: ChatQuestion?, _ context: CommandContext) async throws
    {
        guard let question, !isAssistant else {
            return try await AssistantRun(chat: self, parts: parts, context: context).perform(question?.marked)
        }
        let session = LanguageModelSession(model: parts.engine, instructions: systemPrompt)
        let actions = AnswerActions(
            chat: self, parts: parts, context: context, outside: parts.attachments.files + question.outside)
        let text = parts.attachments.message(question.text)
        var printer = parts.printer
        printer.paints = !isConstrained
        let reason = try await printer.print(
            session.streamResponse(to: text, images: parts.attachments.images, options: parts.options).events,
            hiding: actions.tags, take: actions.take)
        // A script must not take half an answer for a whole one.
        guard reason != .interrupted else { throw Self.interrupted }
    }

    /// The system prompt of a conversation that is not the assistant's own; `nil` for the assistant's.
    var ownSystemPrompt: String? { systemPrompt ?? (isConstrained ? "" : nil) }

    static var interrupted: LLMError {
        LLMError(
            .answerInterrupted, "the connection to the cloud broke off in the middle of the answer",
            context: ErrorContext(remedy: "Ask again, or ask a local model."), disposition: .tryLater)
    }

    /// Who may answer the conversation.
    private func choice(
        _ configuration: Configuration, in hearth: Hearth, _ context: CommandContext
    ) async throws -> ChatRouting.Choice {
        let wanted = try await wanted(configuration, in: hearth, context)
        return try await ChatRouting.choose(route, named: otherName, configuration, format: format, in: hearth, context)
        {
            try await ChatModel.find(wanted, projector: projector, in: hearth, context: context)
        }
    }

    /// The model that is to answer: the one of the command line, else the default one; for one question with pictures one
    /// that sees.
    private func wanted(
        _ configuration: Configuration, in hearth: Hearth, _ context: CommandContext
    ) async throws -> ModelReference? {
        if let reference { return reference }
        try configuration.require(.models)
        let standard = try configuration.defaultModel.map { try ModelReference(parsing: $0) }
        // The assistant finds a model for each question with pictures itself.
        let isOneQuestion = prompt != nil || !context.input.isTerminal
        guard !images.isEmpty, projector == nil, isOneQuestion, !isAssistant else { return standard }
        if case .family(let family, _, _) = standard,
            try await hearth.manager.localModels().contains(where: { $0.model.id == family && $0.sees })
        {
            return standard
        }
        return try await hearth.visionModel().map { .family($0, version: nil, variant: nil) } ?? standard
    }

    /// Finds the model for the conversation. Offers to download a missing one.
    private func find(
        _ configuration: Configuration, in hearth: Hearth, _ context: inout CommandContext
    ) async throws -> ChatModel {
        let wanted = try await wanted(configuration, in: hearth, context)
        do {
            return try await ChatModel.find(
                wanted, projector: projector, in: hearth, context: context)
        } catch let error where ChatModel.isNotHere(error) && format == .text && context.hasPerson {
            // Input after the answer to the offer belongs to the conversation.
            context.input =
                (context.input as? DescriptorSource).map { DemandedSource($0) } ?? ContinuedSource(context.input)
            let offer = try await ModelOffer(of: wanted, seeing: !images.isEmpty, in: hearth, context)
            guard let release = try await offer.make() else { throw error }
            return try await ChatModel(release, in: hearth)
        }
    }

    /// The one question to answer, `nil` for a conversation.
    private func question(_ input: any TextSource) async throws -> ChatQuestion? {
        if let prompt {
            let more = try await input.piped(limit: Self.maximumPromptBytes) ?? ""
            return ChatQuestion(prompt: prompt, piped: more.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        if input.isTerminal { return nil }
        let text = try await input.all(limit: Self.maximumPromptBytes).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else {
            throw UsageError("the prompt on the standard input is empty", hint: Self.declaration.hint())
        }
        return ChatQuestion(prompt: text)
    }

    /// Whether the user can be asked about cards.
    func hasPerson(_ context: CommandContext) -> Bool {
        format == .text && context.hasPerson && context.console.output.isTerminal
    }

    /// Loads the model, with its progress on the terminal.
    func load(_ model: ChatModel, in context: CommandContext) async throws {
        let console = context.console
        if format == .json { try console.emit(ChatEvent.phase(.loading(fraction: nil))) }
        let shown = Locked(-1)
        defer { console.showBar(nil) }
        try await model.engine.load { value in
            guard console.barWidth != nil, value.isFinite else { return }
            let percent = Int(max(0, min(1, value)) * 100)
            let isDue = shown.withLock { last in
                defer { if percent >= last + 5 { last = percent } }
                return percent >= last + 5
            }
            if isDue { console.showBar("loading \(model.name.shownOnTerminal)  \(percent)%") }
        }
    }
}
