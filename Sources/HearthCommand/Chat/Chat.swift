import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthRouting
import HearthStore

/// `hearth chat`
struct Chat: Command {
    private static let reference = Argument(
        "REF", .modelReference, arity: .optional,
        "An installed model, as family[@version][:variant], or the path of a .gguf file.")
    private static let prompt = Option("prompt", "TEXT", .word, "Ask this, print the answer and end.")
    private static let image = Option(
        "image", "FILE", .word, isRepeatable: true, "Show this JPEG, PNG or BMP picture with the first question.")
    private static let projector = Option(
        "projector", "FILE", .word, "The projector (mmproj) with which a .gguf file sees; releases bring theirs.")
    private static let system = Option("system", "TEXT", .word, "A system prompt.")
    private static let maximumTokens = Option(
        "max-tokens", "N", .integer(1...1_048_576), default: "768", "End an answer after so many tokens.")
    private static let temperature = Option(
        "temperature", "T", .number(0...5), default: "0.35", "How freely to choose; 0 takes the likeliest token.")
    private static let seed = Option(
        "seed", "N", .integer(0...Int(UInt32.max)), default: "random", "Repeat the same choices.")
    private static let topK = Option(
        "top-k", "N", .integer(1...1_048_576), default: "all", "Choose among the N likeliest tokens.")
    private static let topP = Option(
        "top-p", "P", .number(0...1), default: "all", "Choose among the likeliest tokens that make up this share.")
    private static let minP = Option(
        "min-p", "P", .number(0...1), default: "none", "Drop tokens less likely than this share of the likeliest.")
    private static let repeatPenalty = Option(
        "repeat-penalty", "R", .number(0.01...100), default: "1",
        "Divide the logits of what the answer just said by this.")
    private static let frequencyPenalty = Option(
        "frequency-penalty", "F", .number(-2...2), default: "0",
        "Take this off a token's logit for each time it was said.")
    private static let presencePenalty = Option(
        "presence-penalty", "F", .number(-2...2), default: "0", "Take this off the logit of a token that was said.")
    private static let stop = Option(
        "stop", "STRING", .word, isRepeatable: true, "End the answer before this string, where it appears in it.")
    private static let noThink = Flag(
        "no-think", "Ask for the answer at once, from a model that would think first.")
    private static let schema = Option(
        "schema", "FILE", .word, "Hold the answer to the JSON schema in this file.")
    private static let grammar = Option(
        "grammar", "FILE", .word, "Hold the answer to the grammar (GBNF) in this file.")
    private static let local = Flag("local", "Answer on this device, also where a cloud is set up.")
    private static let cloud = Flag(
        "cloud", "Answer in the cloud, also where REF names a model; fail where a setting forbids it.")
    private static let isPrivate = Flag(
        "private", "Keep the conversation on this device, and nothing of it after its end.")
    private static let format = Option(
        "format", "FORMAT", ValueKind<EventFormat>.choice, default: "text", "text, or json: one event a line.")

    static let declaration = CommandDeclaration(
        "chat", summary: "Talk with a model",
        discussion: [
            "With --prompt, or with a prompt on the standard input, it answers once: the answer on stdout, and on stderr "
                + "a line with the model, the tokens of the prompt, those found in the cache, those generated, the time to "
                + "the first token, the rate and why the answer ended. Otherwise it is a conversation; /help lists what "
                + "can be typed besides questions, and Ctrl-C stops an answer.",
            "Without REF it uses the configured defaultModel, else the only installed model that answers. A .gguf file runs "
                + "without being installed. Without --system nothing is added beyond what the model's own template adds.",
            "A model that is not on this device is an error; at a terminal the one that the origins have, or recommend, is offered "
                + "with its size, and after a yes fetched as 'hearth pull' does before the conversation begins. With --image and "
                + "no REF it is one that sees. Ctrl-C keeps what has come, and the next download goes on from there.",
            "What a model thinks before it answers is dimmed on a terminal, and left out where the answer goes to a file or a "
                + "program. With --format json it comes as events.",
            "A model without a projector cannot see: it answers the text alone, and stderr says so.",
            "Where a cloud is set up, a line before each answer says which model gives it, and why a local one does: 'hearth route' "
                + "shows the rules. A named REF is answered on this device.",
            "With --format json, one object a line: event is route, phase, truncated (with dropped), pictures-left-out (with count), "
                + "thinking or text (with delta), finish (with reason, usage and timings) or error.",
        ],
        arguments: [reference],
        options: [
            prompt, image, projector, system, maximumTokens, temperature, seed, topK, topP, minP, repeatPenalty,
            frequencyPenalty, presencePenalty, stop, noThink, schema, grammar, local, cloud, isPrivate,
            Flag.ignoreMemory,
            format,
        ],
        examples: [
            .init("hearth chat", "A conversation with the default model."),
            .init("hearth chat smollm2-135m-instruct --seed 1 --prompt \"Name three rivers.\"", "One answer."),
            .init("hearth chat --image photo.jpg --prompt \"What is this?\"", "A question about a picture."),
            .init("hearth chat ./model.gguf < question.txt", "Run a file without installing it."),
            .init("hearth chat --private", "A conversation that never leaves this device."),
        ])

    private static let maximumPromptBytes = 16 << 20

    let reference: ModelReference?
    let prompt: String?
    let images: [String]
    let projector: String?
    let systemPrompt: String?
    let maximumTokens: Int?
    let temperature: Float?
    let sampling: SamplingOptions
    let stopStrings: [String]
    let isThinkingEnabled: Bool
    let constraint: ConstraintFile?
    let ignoresMemory: Bool
    let route: RouteRequest
    let format: EventFormat

    init(_ values: ParsedArguments) throws {
        reference = try values.optional(Self.reference)
        prompt = try values.value(Self.prompt)
        images = try values.values(Self.image)
        projector = try values.value(Self.projector)
        systemPrompt = try values.value(Self.system)
        maximumTokens = try values.value(Self.maximumTokens)
        temperature = try values.value(Self.temperature)
        sampling = SamplingOptions(
            seed: try values.value(Self.seed).map { UInt32($0) }, topK: try values.value(Self.topK),
            topP: try values.value(Self.topP), minP: try values.value(Self.minP),
            repeatPenalty: try values.value(Self.repeatPenalty),
            frequencyPenalty: try values.value(Self.frequencyPenalty),
            presencePenalty: try values.value(Self.presencePenalty))
        stopStrings = try values.values(Self.stop)
        isThinkingEnabled = !values.has(Self.noThink)
        constraint = try ConstraintFile(
            schema: values.value(Self.schema), grammar: values.value(Self.grammar), hint: Self.declaration.hint())
        ignoresMemory = values.has(.ignoreMemory)
        let (local, cloud, isPrivate) = (values.has(Self.local), values.has(Self.cloud), values.has(Self.isPrivate))
        guard !cloud || !local && !isPrivate else {
            throw UsageError("--cloud excludes --local and --private", hint: Self.declaration.hint())
        }
        route = RouteRequest(
            preference: local ? .local : cloud ? .cloud : .automatic, isPrivate: isPrivate,
            model: reference.map { "\($0)" })
        format = try values.value(Self.format) ?? .text
    }

    func run(in context: CommandContext) async throws {
        if format == .json { context.console.speakEvents() }
        var configuration = try await context.configuration
        if ignoresMemory { configuration.ignoresMemory = true }
        // Computed states hold what was said.
        if route.isPrivate { configuration.stateFolder = nil }
        var options = GenerationOptions(configuration: configuration)
        let configuredTemperature = options.sampling.temperature
        options.sampling = sampling
        options.sampling.temperature = temperature ?? configuredTemperature
        options.thinking.isEnabled = isThinkingEnabled
        options.stopStrings = stopStrings
        options.constraint = try await constraint?.read()
        if let maximumTokens { options.maximumNewTokens = maximumTokens }

        // Read pictures first: a bad file should not cost a load.
        let images = try await blocking { [images] in try PictureFile.read(images) }
        let hearth = try await context.hearth(configuration)
        let failure: (any Error)?
        do {
            switch try await choice(configuration, in: hearth, context) {
            case .routed(let routing):
                try await routing.perform {
                    try await converse(
                        routing.engine, routing.printer, question(context.input), images, options, context)
                }
            case .local(let decision):
                try await converseLocally(decision, configuration, images, options, in: hearth, context)
            }
            failure = nil
        } catch {
            failure = error
        }
        // The program must not end while a stopped load or answer is still marked on the disk.
        await hearth.close()
        if let failure { throw failure }
    }

    private func converseLocally(
        _ decision: RouteDecision?, _ configuration: Configuration, _ images: [ChatImage], _ options: GenerationOptions,
        in hearth: Hearth, _ context: CommandContext
    ) async throws {
        var context = context
        let model: ChatModel
        do {
            model = try await find(configuration, seeing: !images.isEmpty, in: hearth, &context)
        } catch {
            // The rule that a person may change, where no local model can answer.
            if let decision { context.console.say("(local: \(decision.reasonText))") }
            throw error
        }
        let question = try await question(context.input)
        try await load(model, in: context)
        if let decision { context.console.announce(decision, model: model.name, format: format) }
        let printer = AnswerPrinter(console: context.console, format: format, model: model.name)
        try await converse(model.engine, printer, question, images, options, context)
    }

    /// Answers one question, or talks until the person ends it.
    private func converse(
        _ engine: any InferenceEngine, _ printer: AnswerPrinter, _ question: String?, _ images: [ChatImage],
        _ options: GenerationOptions, _ context: CommandContext
    ) async throws {
        if let question {
            let session = LanguageModelSession(model: engine, instructions: systemPrompt)
            let reason = try await printer.print(
                session.streamResponse(to: question, images: images, options: options).events)
            // A script must not take half an answer for a whole one.
            guard reason != .interrupted else {
                throw LLMError(
                    .answerInterrupted, "the connection to the cloud broke off in the middle of the answer",
                    context: ErrorContext(remedy: "Ask again, or ask a local model."), disposition: .tryLater)
            }
        } else {
            try await Conversation(context: context, engine: engine, printer: printer, options: options)
                .run(systemPrompt: systemPrompt, images: images)
        }
    }

    /// Who may answer the conversation.
    private func choice(
        _ configuration: Configuration, in hearth: Hearth, _ context: CommandContext
    ) async throws -> ChatRouting.Choice {
        let wanted = try wanted(configuration)
        return try await ChatRouting.choose(route, configuration, format: format, in: hearth, context) {
            try await ChatModel.find(wanted, projector: projector.map { Path($0) }, in: hearth, context: context)
        }
    }

    private func wanted(_ configuration: Configuration) throws -> ModelReference? {
        try reference ?? configuration.defaultModel.map { try ModelReference(parsing: $0) }
    }

    /// Finds the model for the conversation. Offers to download a missing one.
    private func find(
        _ configuration: Configuration, seeing: Bool, in hearth: Hearth, _ context: inout CommandContext
    ) async throws -> ChatModel {
        let wanted = try wanted(configuration)
        do {
            return try await ChatModel.find(
                wanted, projector: projector.map { Path($0) }, in: hearth, context: context)
        } catch let error where ChatModel.isNotHere(error) && format == .text && context.hasPerson {
            // Input after the answer to the offer belongs to the conversation.
            context.input = ContinuedSource(context.input)
            let offer = try await ModelOffer(of: wanted, seeing: seeing, in: hearth, context)
            guard let family = try await offer.make() else { throw error }
            return try await ChatModel(hearth.manager.installed(family), in: hearth)
        }
    }

    /// The one question to answer, `nil` for a conversation.
    private func question(_ input: any TextSource) async throws -> String? {
        if let prompt { return prompt }
        if input.isTerminal { return nil }
        let text = try await input.all(limit: Self.maximumPromptBytes).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else {
            throw UsageError("the prompt on the standard input is empty", hint: Self.declaration.hint())
        }
        return text
    }

    /// Loads the model, with its progress on the terminal.
    private func load(_ model: ChatModel, in context: CommandContext) async throws {
        let console = context.console
        if format == .json { try console.emit(PhaseEvent(phase: "load")) }
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
