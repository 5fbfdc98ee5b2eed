import HearthBase
import HearthInference
import HearthRouting

/// The model of Apple's operating systems as an engine: on iOS, macOS and visionOS 26 with Apple Intelligence.
///
/// ```swift
/// var engines = EngineRegistry.standard
/// engines.register(model: SystemModelEngine.name, SystemModelEngine())
/// let hearth = try Hearth(engines: engines)
/// let orchestrator = try await hearth.orchestrator(default: SystemModelEngine.name)
/// ```
/// It reads text, and answers in text or in the shape of a JSON schema. Tools are described to it in the instructions. A filter
/// of the system ends an answer with ``FinishReason/contentFilter``.
public struct SystemModelEngine: InferenceEngine {
    /// The name of the model in an app's settings and requests.
    public static let name = "apple-system"

    /// The context window of a system that does not tell it.
    private static let leastWindow = 4096

    private let model: any SystemModel
    private let time: TimeSource

    package init(model: any SystemModel, time: TimeSource = .system) {
        self.model = model
        self.time = time
    }

    /// The error of a device on which the model cannot be used now: `system-model-missing`, `system-model-off`,
    /// `system-model-not-ready`; `nil` if it can.
    public var unavailability: LLMError? { model.unavailability?.error }

    private var window: Int { model.contextSize > 0 ? model.contextSize : Self.leastWindow }

    public var modelInformation: ModelInformation {
        ModelInformation(description: Self.name, contextLength: window)
    }

    public var capabilities: EngineCapabilities { [.schema, .seed] }

    /// Answers the last message of `messages`.
    /// - Throws: `LLMError`: ``unavailability``; `context-window-exceeded`, `unsupported-language`, `rate-limited`, `busy`,
    ///   `grammar-unusable` for a schema that Apple's guides do not hold, `schema-not-met`, `answer-not-decodable`, `engine-missing`
    ///   for a grammar or a raw prompt, `generation-failed`; `CancellationError`.
    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        if let unavailability { throw unavailability }
        return try await messages.continuing(options, onEvent) { messages, onEvent in
            try await answer(messages, options, onEvent)
        }
    }

    private func answer(
        _ messages: [ChatMessage], _ options: GenerationOptions,
        _ onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let request = try SystemRequest(messages, options: options)
        if request.picturesLeftOut > 0 { onEvent(.picturesLeftOut(count: request.picturesLeftOut)) }
        let output = StreamedOutput(
            AnswerReader(stopStrings: request.stopStrings), stopStrings: options.stopStrings, watch: time.stopwatch(),
            onEvent)
        let answer = Locked(GrowingAnswer())
        do {
            let usage = try await within(options.timeout, of: time) { [model] in
                try await model.answer(request) { reading in
                    let new = answer.withLock { $0.append(reading) }
                    // A value is written when it is complete: its parts may still change.
                    return request.schema == nil ? output.append(new) : true
                }
            }
            guard let usage else { return output.finish(.timedOut) }
            if request.schema != nil {
                let text = try await checked(answer.withLock { $0.text }, options)
                output.appendWhole(request.frame.before + text + request.frame.after)
            } else if answer.withLock({ $0.isRewritten }) {
                throw LLMError(.unusableAnswer, "Apple's model changed text that it had written")
            }
            return output.finish(nil, usage)
        } catch let failure as SystemFailure {
            guard let error = failure.error(window: window) else { return output.finish(.contentFilter) }
            throw error
        }
    }

    /// The text of a finished value.
    /// - Throws: `schema-not-met` for one that violates a keyword which Apple's form has not.
    private func checked(_ answer: String, _ options: GenerationOptions) async throws -> String {
        for case .jsonSchema(let schema) in options.constraint?.blocks.filter(\.opening.isEmpty).map(\.shape) ?? [] {
            // An expression may need some hundredths of a second.
            let flaw = await blocking { SchemaCheck(schema)?.flaw(in: answer) }
            if let flaw {
                throw LLMError(
                    .schemaNotMet, "the answer does not meet `\(flaw.keyword)` of its schema",
                    context: ErrorContext(field: flaw.place, remedy: "Ask again, or make the schema simpler."))
            }
        }
        return answer
    }
}
