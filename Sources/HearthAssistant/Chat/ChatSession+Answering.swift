import Foundation
import HearthBase
import HearthInference

extension ChatSession {
    /// Generates one pass of a turn.
    /// - Parameter tell: takes the events of the generation.
    func answer(
        _ pass: Turn.Pass, within left: Duration, _ tell: @escaping @Sendable (Turn.Event) -> Void
    ) async throws -> GenerationSummary {
        let (registry, texts) = (registry, parts.settings.texts)
        let report: @Sendable (GenerationEvent) -> Void = { event in
            if let event = Turn.Event(event, registry, texts) { tell(event) }
        }
        switch pass {
        case .answer: try await prepareAnswer(tell)
        case .searched: extend(with: searchedQuestion)
        case .repair: extend(with: turn?.complaint ?? "")
        case .continuation: try await prepareContinuation(tell)
        }
        guard let context, let engine = context.engine else { throw CancellationError() }
        var options = context.generation
        options.timeout = left
        return try await engine.generate(context.messages, options: options, onEvent: report)
    }

    /// Builds the prompt for the rest of an answer: the question as it was sent, and the answer so far as the last message.
    private func prepareContinuation(_ tell: @Sendable (Turn.Event) -> Void) async throws {
        let written = turn?.raw ?? ""
        try await prepareAnswer(tell, isContinued: !written.isEmpty)
        guard !written.isEmpty else { return }
        if turn?.message.results?.isEmpty == false, turn?.message.cards.contains(where: \.hasSearched) == true {
            context?.messages[(context?.messages.count ?? 1) - 1].content += "\n\n" + searchedQuestion
        }
        context?.messages.append(ChatMessage(.assistant, written))
        context?.generation.continuesLastMessage = true
        // The thinking came before the answer.
        context?.generation.thinking = .disabled
    }

    /// Builds the prompt of the question anew, and keeps the question as it is sent.
    /// - Parameter isContinued: whether the question was sent before, and stays as it was.
    private func prepareAnswer(_ tell: @Sendable (Turn.Event) -> Void, isContinued: Bool = false) async throws {
        guard let context else { throw CancellationError() }
        let question = context.question
        let asked = try await asked(question, context.options)
        for notice in asked.notices { tell(.notice(notice)) }
        var text = asked.text
        if isContinued {
            text = question.rawContent ?? question.content
        } else {
            await keep(text, of: question.id)
        }
        self.context?.generation = asked.generation
        self.context?.tags = asked.tags
        self.context?.messages =
            asked.before + [ChatMessage(.user, text, images: asked.sees ? question.images : [], id: question.id)]
        self.context?.engine = asked.engine
        self.context?.model = asked.model
        self.context?.isSeen = asked.isSeen
    }

    /// A question as an engine gets it.
    struct Asked {
        let engine: any InferenceEngine
        let model: String
        /// The messages before the question, the system message first.
        let before: [ChatMessage]
        /// The question with what is sent beside it.
        let text: String
        /// The part of ``text`` that ends with the question's own words.
        let beginning: String
        let sees: Bool
        /// Whether the engine for pictures answers.
        let isSeen: Bool
        /// The actions that the model is told of.
        let tags: [ActionTag]
        let generation: GenerationOptions
        /// What the user is told.
        let notices: [String]
    }

    /// Builds the prompt of a question.
    func asked(_ question: AssistantMessage, _ chosen: SendOptions) async throws -> Asked {
        var engine = engine.engine
        var abilities = try await engine.capabilities
        var isSeen = false
        if !question.images.isEmpty, !abilities.contains(.vision), let seeing = self.engine.seeing {
            let others = try await seeing.capabilities
            isSeen = others.contains(.vision)
            if isSeen { (engine, abilities) = (seeing, others) }
        }
        let texts = parts.settings.texts
        let sees = abilities.contains(.vision)
        var notices = question.images.isEmpty || sees ? [] : [texts.picturesLeftOut]
        let information = try await engine.modelInformation
        let branch = messagesKept.tree.branch(to: question.parent)
        let history = ChatHistory.messages(
            branch, limit: parts.settings.effectiveHistoryLimit, withPictures: sees)
        let act = chosen.act.flatMap { registry.tags.contains($0) ? $0 : nil }
        let form = parts.settings.instructsSmallModels ? .full : PromptForm(for: information)
        let isPlain = form == .plain && act == nil
        let meter = TokenMeter(abilities.contains(.tokenCounts) ? engine : nil)
        let builder = PromptBuilder(
            texts: texts, actions: registry.promptActions,
            sources: [MomentSource()] + parts.sources + parts.settings.sources)
        let prompt =
            if let own = parts.settings.systemPrompt {
                PromptBuilder.Prompt(system: own, tail: "", tags: registry.tags)
            } else {
                await builder.build(
                    form, of: question.content, act: act,
                    at: PromptMoment(
                        now: question.date, timeZone: parts.settings.timeZone, locale: parts.settings.locale),
                    history: history.filter { $0.role == .user }.map(\.content), window: information.contextLength,
                    meter: meter)
            }
        let system = [prompt.system, parts.settings.instructions ?? ""].filter { !$0.isEmpty }
            .joined(separator: "\n\n")
        var tail = prompt.tail
        if isPlain, parts.settings.systemPrompt == nil, !registry.tags.isEmpty {
            let text = AssistantTexts.filled(texts.withoutActions, information.description)
            // Once for each model of a conversation.
            if !branch.contains(where: { $0.notices.contains(text) }) { notices.append(text) }
        }
        if let act {
            tail += (tail.isEmpty ? "" : "\n\n") + AssistantTexts.filled(texts.force, act.rawValue)
        }
        let results = (isPlain ? [] : branch.last { $0.role == .assistant }?.results ?? [])
            .map { $0.bounded(Self.resultLimit) }
        var generation = options(abilities, registry.only(prompt.tags), chosen)
        let files = await documents(
            of: question, beside: [prompt.system, question.content, tail] + results.map(\.text),
            information.contextLength,
            generation, meter)
        notices += files.cuts.map { AssistantTexts.filled(texts.documentCut, Self.words(of: $0)) }
        // The next process finds no trace of a private conversation.
        generation.ownInstructions = isPrivate ? 0 : prompt.ownBytes
        return Asked(
            engine: engine, model: information.description,
            before: (system.isEmpty ? [] : [ChatMessage(.system, system)]) + history,
            text: PromptBuilder.question(question.content, results: results, files: files.texts, tail: tail),
            beginning: PromptBuilder.question(question.content, results: results, files: files.texts, tail: ""),
            sees: sees, isSeen: isSeen, tags: prompt.tags, generation: generation, notices: notices)
    }

    /// The most characters of results in the prompt of the next turn.
    static let resultLimit = 2000

    /// Keeps the text of a question as it is sent.
    private func keep(_ text: String, of id: String) async {
        guard var question = messagesKept[id], question.rawContent != text else { return }
        question.rawContent = text == question.content ? nil : text
        messagesKept.update(question)
        await saver.save(question)
    }

    /// The options of a generation: engines with grammars get the blocks' shapes, others with tools get the actions as
    /// tools.
    private func options(
        _ abilities: EngineCapabilities, _ registry: ActionRegistry, _ chosen: SendOptions
    ) -> GenerationOptions {
        let settings = parts.settings
        var options =
            settings.generation
            ?? GenerationOptions(maximumNewTokens: settings.maximumNewTokens ?? GenerationOptions.windowLength)
        if settings.generation == nil, let temperature = settings.temperature {
            options.sampling.temperature = temperature
        }
        options.thinking =
            settings.showThinking ? ThinkingOptions(control: chosen.control) : .disabled
        guard !registry.tags.isEmpty else { return options }
        if let act = chosen.act, abilities.contains(.grammar),
            let block = registry.constraint.blocks.first(where: { $0.opening == act.opening })
        {
            options.constraint = .forced(block)
        } else if abilities.contains(.grammar) {
            options.constraint = registry.constraint
        } else if abilities.contains(.tools) {
            options.tools = registry.toolDefinitions
        }
        return options
    }

    /// Adds the answer of the pass before and the next request to the messages of the turn.
    private func extend(with text: String) {
        // The beginning of an answer that went on.
        if context?.messages.last?.role == .assistant { context?.messages.removeLast() }
        context?.messages += [
            ChatMessage(.assistant, turn?.written ?? "", thinking: turn?.message.thinkingContent ?? ""),
            ChatMessage(.user, text),
        ]
        // They answer anew.
        context?.generation.continuesLastMessage = false
        // A corrected or second answer is free.
        if context?.options.act != nil, context?.generation.constraint?.coversAnswer == true {
            let told = registry.only(context?.tags ?? [])
            context?.generation.constraint = told.tags.isEmpty ? nil : told.constraint
        }
    }

    private var searchedQuestion: String {
        PromptBuilder.question(parts.settings.texts.searched, results: turn?.message.results ?? [], tail: "")
    }

    /// The messages that led to an answer as they were sent.
    func messages(before answer: AssistantMessage?) -> [ChatMessage] {
        guard let answer else { return [] }
        return messagesKept.tree.branch(to: answer.parent).map {
            ChatMessage($0.role, $0.rawContent ?? $0.content, images: $0.images, id: $0.id)
        }
    }
}

extension ActionCard {
    /// Whether its search gave results.
    fileprivate var hasSearched: Bool { tag == .webSearch && state == .done }
}

extension MessageResult {
    /// The text with at most `limit` characters.
    func bounded(_ limit: Int) -> MessageResult {
        guard text.count > limit else { return self }
        return MessageResult(source: source, text: text.prefix(limit) + "…")
    }
}

extension Turn.Event {
    /// The meaning of an engine's event for a turn; `nil` for none.
    init?(_ event: GenerationEvent, _ registry: ActionRegistry, _ texts: AssistantTexts) {
        switch event {
        case .phase(let phase): self = .phase(phase)
        case .thinking(let piece): self = .thinking(piece)
        case .text(let piece): self = .text(piece)
        case .truncated(let dropped): self = .notice(AssistantTexts.filled(texts.truncated, "\(dropped)"))
        case .picturesLeftOut: self = .notice(texts.picturesLeftOut)
        case .toolCall(let call):
            guard let block = registry.block(of: call) else { return nil }
            self = .call(block)
        default: return nil
        }
    }
}
