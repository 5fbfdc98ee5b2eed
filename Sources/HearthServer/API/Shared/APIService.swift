import Foundation
import HearthBase
import HearthInference

/// Runs the requests of all dialects on the engines of the models they name.
package struct APIService: Sendable {
    package let provider: any ModelProvider
    package let settings: APISettings
    package let answers: ServedAnswers
    package let health: ModelHealth
    let time: TimeSource

    package init(
        _ provider: any ModelProvider, settings: APISettings = APISettings(),
        answers: ServedAnswers = ServedAnswers(), time: TimeSource = .system
    ) {
        self.provider = provider
        self.settings = settings
        self.time = time
        self.answers = answers
        health = ModelHealth(provider, time: time)
    }

    /// Whether this server can search the web.
    var searches: Bool { settings.search != nil }

    /// A model with its loaded engine.
    struct Ready {
        let model: ServedModel
        let engine: any InferenceEngine
        let information: ModelInformation
        let capabilities: EngineCapabilities

        /// The most text that one request may have cut into tokens.
        /// The longest window that the model may be opened with.
        var reach: Int { max(information.contextLength, information.trainedContextLength ?? 0) }
        var textLimit: TextLimit { TextLimit(window: reach) }

        /// The error of a prompt that is too long, with the window; other errors unchanged.
        func told(_ error: any Error) -> any Error {
            guard let error = error as? LLMError, error.code == .exceededContextWindowSize else { return error }
            return APIFailure(error).told(window: information.contextLength)
        }
    }

    /// Generates one answer.
    private typealias Answering =
        @Sendable (
            _ messages: [ChatMessage], _ options: GenerationOptions, @escaping @Sendable (GenerationEvent) -> Void
        )
        async throws -> GenerationSummary

    /// The engine of a request, which searches the web where the request asks for it.
    private func answering(_ request: APIRequest, _ ready: Ready) -> Answering {
        let engine = ready.engine
        guard request.search.tool != nil, let search = settings.search else {
            return { try await engine.generate($0, options: $1, onEvent: $2) }
        }
        let searching = SearchingEngine(engine: engine, rules: request.search, search: search)
        return { try await searching.generate($0, options: $1, onEvent: $2) }
    }

    /// The tokens of a request's prompt; the greatest number for one that is too long to be cut into tokens.
    func length(of request: APIRequest) async throws -> Int {
        do {
            return try await rendered(request).tokenCount
        } catch let error as LLMError where error.code == .exceededContextWindowSize {
            return .max
        }
    }

    /// Finds a model and loads it if needed.
    func ready(_ name: String?) async throws -> Ready {
        let model = try await provider.model(name)
        let engine = CheckedCallEngine(try await provider.engine(for: model), time: time)
        return Ready(
            model: model, engine: engine, information: try await engine.modelInformation,
            capabilities: try await engine.capabilities)
    }

    /// Starts the answers of a request.
    ///
    /// Returns when the first answer has begun, so that a refusal can still have its own status; after
    /// ``APISettings/longestSilence`` at the latest.
    /// - Throws: ``APIFailure`` or the engine's error; `CancellationError`.
    package func run(_ request: APIRequest) async throws -> APIRun {
        let watch = time.stopwatch()
        let created = Int(Date().timeIntervalSince1970)
        let choices = request.input.promptCount * request.copies
        guard choices <= settings.maximumChoices else {
            throw APIFailure(
                .invalid, "a request can ask for at most \(settings.maximumChoices) answers", field: "n")
        }
        let ready = try await ready(request.model)
        let prompts: [Job]
        do {
            prompts = try await self.prompts(of: request, ready)
        } catch {
            throw ready.told(error)
        }
        let shown = request.showsPrompt ? try await self.shown(prompts, ready.engine) : []
        let (events, source) = AsyncThrowingStream<APIEvent, any Error>.makeStream()
        let start = StartSignal()
        let work = Task {
            await answers.activity.using(ready.model.name) {
                do {
                    try await generate(prompts, request.copies, answering(request, ready)) { event in
                        switch event {
                        case .event(_, let event): if event.isStart { start.succeed() }
                        case .finished(_, let summary): answers.metrics.count(summary)
                        }
                        source.yield(event)
                    }
                    start.succeed()
                    source.finish()
                } catch {
                    answers.metrics.countFailure()
                    let error = ready.told(error)
                    start.fail(error)
                    source.finish(throwing: error)
                }
            }
            await provider.used(ready.model, keepAlive: request.keepAlive)
        }
        source.endsWithItsReader { work.cancel() }
        if request.streams { try await start.wait(atMost: settings.longestSilence, time) }
        return APIRun(
            request: request, model: ready.model, information: ready.information,
            options: prompts.first?.options ?? settings.options, prompts: shown, choices: choices,
            created: created, watch: watch, events: events)
    }

    /// One prompt with its options.
    private struct Job: Hashable {
        var messages: [ChatMessage]
        var options: GenerationOptions
    }

    /// The texts of prompts, as far as the engine shows them.
    private func shown(_ jobs: [Job], _ engine: any InferenceEngine) async throws -> [String] {
        guard try await engine.capabilities.contains(.promptText) else { return [] }
        var texts: [String] = []
        for job in jobs { texts.append(try await engine.reader.rendered(job.messages, options: job.options).text) }
        return texts
    }

    private func prompts(of request: APIRequest, _ ready: Ready) async throws -> [Job] {
        try check(request, ready)
        let options = try await options(of: request, ready)
        switch request.input {
        case .chat(let messages):
            return [Job(messages: ready.model.preset?.beginning(messages) ?? messages, options: options)]
        case .prompts(let prompts):
            try ready.textLimit.check(bytes: prompts.reduce(0) { $0 + $1.textBytes })
            var jobs: [Job] = []
            for parts in prompts {
                var options = options
                options.usesChatTemplate = false
                // Several prompts are compared as tokens, where there are tokens.
                let isText = parts.count == 1 && (prompts.count == 1 || ready.information.isRemote)
                if isText, case .text(let text)? = parts.first {
                    jobs.append(Job(messages: [ChatMessage(.user, text)], options: options))
                } else {
                    options.promptTokens = try await tokens(
                        of: parts, ready.engine, limit: ready.reach)
                    jobs.append(Job(messages: [], options: options))
                }
            }
            return jobs
        }
    }

    /// The options of a generation: the server's, changed by the request.
    func options(of request: APIRequest, _ ready: Ready) async throws -> GenerationOptions {
        var options = settings.options
        let preset = try ready.model.preset?.options
        options.sampling = preset?.sampling.applied(to: options.sampling) ?? options.sampling
        options.sampling = request.sampling.applied(to: options.sampling)
        switch request.sampling.repetition {
        case .never: options.repetition = nil
        case .rule(let rule): options.repetition = rule
        case nil: break
        }
        for bias in request.sampling.logitBias {
            let limit = ready.information.contextLength
            for token in try await tokens(of: [bias.part], ready.engine, asPrompt: false, limit: limit) {
                options.sampling.logitBias[token, default: 0] += bias.value
            }
        }
        options.maximumNewTokens =
            request.maximumNewTokens ?? preset?.maximumNewTokens ?? defaultLimit(ready.information)
        options.leavesTemperature =
            request.sampling.temperature == nil && preset?.sampling.temperature == nil && settings.leavesTemperature
        if let limit = request.timeLimit { options.timeout = limit }
        options.stopStrings = request.stopStrings.isEmpty ? preset?.stopStrings ?? [] : request.stopStrings
        options.constraint = request.constraint
        options.tools = request.tools
        options.toolChoice = request.toolChoice
        options.tokenReports = ready.capabilities.contains(.logProbabilities) ? request.tokenReports : nil
        options.continuesLastMessage = request.continuesLastMessage
        options.reusesPrompt = request.reusesPrompt
        options.window = request.window ?? preset?.window
        // Programs that choose the window expect that old messages leave it.
        options.keepsAllMessages = !request.truncates && options.window == nil
        if let isEnabled = request.thinking.isEnabled { options.thinking.isEnabled = isEnabled }
        if let most = request.thinking.maximumTokens { options.thinking.maximumTokens = most }
        return options
    }

    /// The most tokens of an answer whose request names no limit; a server knows its own.
    private func defaultLimit(_ information: ModelInformation) -> Int {
        information.isRemote && settings.maximumNewTokens == nil
            ? GenerationOptions.windowLength : settings.limit(window: information.contextLength)
    }

    /// Refuses what the engine cannot do, by name.
    private func check(_ request: APIRequest, _ ready: Ready) throws {
        let abilities = ready.capabilities
        func refuse(_ field: String) -> APIFailure { .notServed(field, "is not supported by this model") }
        if case .chat(let messages) = request.input, !abilities.contains(.vision),
            messages.contains(where: { !$0.images.isEmpty })
        {
            let isNamed = request.model.map { ready.model.answers(to: $0) } ?? true
            throw APIFailure(
                isNamed ? .noVision : .noVisionInPlace, "image input is not supported by this model", field: "messages")
        }
        if case .prompts = request.input, !abilities.contains(.rawPrompt) { throw refuse("prompt") }
        if request.tokenReports?.hasProbabilities == true, !abilities.contains(.logProbabilities) {
            throw refuse("logprobs")
        }
        if !request.sampling.logitBias.isEmpty, !abilities.contains(.logitBias) { throw refuse("logit_bias") }
        if !request.tools.isEmpty, !abilities.contains(.tools) { throw refuse("tools") }
        for block in request.constraint?.blocks ?? [] {
            switch block.shape {
            case .gbnf where !abilities.contains(.grammar): throw refuse("grammar")
            case .jsonSchema, .calls:
                if !abilities.contains(.schema) { throw refuse("response_format") }
            default: break
            }
        }
    }

    /// The tokens of the parts of a raw prompt.
    /// - Parameter limit: the most tokens.
    func tokens(
        of parts: [APIRequest.PromptPart], _ engine: any InferenceEngine, asPrompt: Bool = true, limit: Int
    ) async throws -> [TokenID] {
        var tokens: [TokenID] = []
        for (index, part) in parts.enumerated() {
            switch part {
            case .tokens(let given): tokens += given
            case .text(let text), .letters(let text):
                let isRaw = if case .text = part { true } else { false }
                tokens += try await engine.reader.tokenize(
                    text, controlTokens: isRaw, wholePrompt: asPrompt && index == 0,
                    limit: max(0, limit - tokens.count))
            }
        }
        return tokens
    }

    /// One generation, and the answers that it gives.
    private struct Generated {
        let job: Job
        /// The number of its prompt.
        let prompt: Int
        var choices: [Int]
    }

    /// The generations of all answers. Equal generations whose random choices are repeatable run once.
    private func generations(_ prompts: [Job], _ copies: Int) -> [Generated] {
        var all: [Generated] = []
        var places: [Job: Int] = [:]
        for (prompt, job) in prompts.enumerated() {
            for copy in 0..<copies {
                var job = job
                job.options.sampling.seed = job.options.sampling.seed.map { $0 &+ UInt32(copy) }
                let choice = prompt * copies + copy
                let sampling = job.options.sampling
                if sampling.temperature <= 0 { job.options.sampling.seed = nil }
                if sampling.seed != nil || sampling.temperature <= 0 {
                    if let place = places[job] {
                        all[place].choices.append(choice)
                        continue
                    }
                    places[job] = all.count
                }
                all.append(Generated(job: job, prompt: prompt, choices: [choice]))
            }
        }
        return all
    }

    /// Generates all answers. The copies of a prompt begin when its first answer has computed the prompt, which they
    /// then share.
    private func generate(
        _ prompts: [Job], _ copies: Int, _ answering: @escaping Answering,
        _ tell: @escaping @Sendable (APIEvent) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var gates: [Int: Gate] = [:]
            for generation in generations(prompts, copies) {
                let first = gates[generation.prompt]
                let computed = first ?? Gate()
                gates[generation.prompt] = computed
                group.addTask {
                    defer { if first == nil { computed.open() } }
                    await first?.wait()
                    try Task.checkCancellation()
                    let job = generation.job
                    let summary = try await answering(job.messages, job.options) { event in
                        if case .phase(.decode) = event { computed.open() }
                        for choice in generation.choices { tell(.event(choice: choice, event)) }
                    }
                    for choice in generation.choices { tell(.finished(choice: choice, summary)) }
                }
            }
            try await group.waitForAll()
        }
    }
}

extension GenerationEvent {
    /// Whether the engine has accepted the prompt.
    fileprivate var isStart: Bool {
        switch self {
        case .phase(.loading), .phase(.connecting): false
        default: true
        }
    }
}
