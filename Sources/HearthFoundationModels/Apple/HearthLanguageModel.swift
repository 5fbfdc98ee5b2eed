// The framework is version 1 in the SDK of OS 26, which lacks these names, and version 2 in that of OS 27.
#if canImport(FoundationModels, _version: 2)
import Foundation
import FoundationModels
import HearthBase
import HearthInference

/// A model of Hearth for Apple's `LanguageModelSession`, on OS 27.
///
/// ```swift
/// let model = try await HearthLanguageModel(hearth.model("qwen3-0.6b"))
/// let session = FoundationModels.LanguageModelSession(model: model, instructions: "One sentence.")
/// print(try await session.respond(to: "Capital of France?").content)
/// ```
/// Sessions stream text and reasoning, generate values of `Generable` types, call tools and read pictures, as far as the model can:
/// ``capabilities`` tells, and a session refuses other requests. A transcript that does not fit the context window fails with
/// `LanguageModelError.contextSizeExceeded`, and is not shortened. Errors without a case of Apple's are `LLMError`s.
@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
@available(tvOS, unavailable)
public struct HearthLanguageModel: FoundationModels.LanguageModel {
    public let capabilities: LanguageModelCapabilities
    private let identity = UUID()
    private let responder: SessionResponder

    /// Makes a model of an engine, such as that of `Hearth.model(_:)` or an orchestrator; loads it if needed.
    /// - Parameter timeout: the time of one answer with its reasoning, after which the session gets
    ///   `LanguageModelError.timeout`.
    /// - Throws: errors of the load; `CancellationError`.
    public init(_ engine: any InferenceEngine, timeout: Duration = .seconds(600)) async throws {
        let abilities = ModelAbility.all(of: try await engine.capabilities)
        capabilities = LanguageModelCapabilities(abilities.map(\.capability))
        responder = SessionResponder(engine, timeout: timeout)
    }

    public var executorConfiguration: Executor.Configuration { Executor.Configuration(identity: identity) }

    /// Answers the requests of sessions.
    public struct Executor: LanguageModelExecutor {
        /// Identifies the model.
        public struct Configuration: Hashable, Sendable {
            let identity: UUID
        }

        /// The preparation under way, which the next answer ends.
        private let preparation = Locked<Task<Void, Never>?>(nil)

        public init(configuration: Configuration) {}

        /// Loads the model and computes the beginning of the next prompt. Returns at once.
        public func prewarm(model: HearthLanguageModel, transcript: FoundationModels.Transcript) {
            preparation.withLock { running in
                running?.cancel()
                running = Task {
                    let entries = await blocking { transcript.map(TranscriptEntry.init) }
                    await model.responder.prepare(entries)
                }
            }
        }

        public nonisolated(nonsending) func respond(
            to request: LanguageModelExecutorGenerationRequest, model: HearthLanguageModel,
            streamingInto channel: LanguageModelExecutorGenerationChannel
        ) async throws {
            let running = preparation.withLock { $0.take() }
            running?.cancel()
            await running?.value
            do {
                let asked = try await blocking { try SessionRequest(request) }
                let writer = AnswerWriter(tools: Set(asked.tools.map(\.name)))
                try await model.responder.respond(to: asked, writer) { await channel.send($0.event) }
            } catch let failure as RequestFailure {
                throw failure.error(Array(request.transcript))
            }
        }
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension ModelAbility {
    var capability: LanguageModelCapabilities.Capability {
        switch self {
        case .toolCalling: .toolCalling
        case .guidedGeneration: .guidedGeneration
        case .reasoning: .reasoning
        case .vision: .vision
        }
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension ChannelAction {
    /// The event for a channel. Pieces are counted as one token each until the counts of the whole answer replace them.
    var event: LanguageModelExecutorGenerationChannel.Event {
        switch self {
        case .reasoning(let piece, let entry): .reasoning(entryID: entry, action: .appendText(piece, tokenCount: 1))
        case .text(let piece, let entry): .response(entryID: entry, action: .appendText(piece, tokenCount: 1))
        case .toolCall(let call, let entry):
            .toolCalls(
                entryID: entry,
                action: .toolCall(
                    id: call.id, name: call.name, action: .appendArguments(call.arguments, tokenCount: 1)))
        case .usage(let usage, let entry, let isOfCalls):
            isOfCalls
                ? .toolCalls(entryID: entry, action: .updateUsage(input: usage.input, output: usage.output))
                : .response(entryID: entry, action: .updateUsage(input: usage.input, output: usage.output))
        }
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension TokenUsage {
    fileprivate var input: LanguageModelExecutorGenerationChannel.Usage.Input {
        .init(totalTokenCount: promptTokens, cachedTokenCount: cachedTokens)
    }

    fileprivate var output: LanguageModelExecutorGenerationChannel.Usage.Output {
        .init(totalTokenCount: generatedTokens, reasoningTokenCount: thinkingTokens)
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension RequestFailure {
    /// The error of a session.
    /// - Parameter entries: the transcript of the request.
    func error(_ entries: [FoundationModels.Transcript.Entry]) -> LanguageModelError {
        switch self {
        case .contextSizeExceeded(let size, let tokens, let text):
            .contextSizeExceeded(.init(contextSize: size, tokenCount: tokens, debugDescription: text))
        case .rateLimited(let seconds, let text):
            .rateLimited(.init(resetDate: seconds.map { Date(timeIntervalSinceNow: $0) }, debugDescription: text))
        case .guardrailViolation(let text): .guardrailViolation(.init(debugDescription: text))
        case .unsupportedCapability(let ability, let text):
            .unsupportedCapability(.init(capability: ability.capability, debugDescription: text))
        case .unsupportedContent(let places, let text):
            .unsupportedTranscriptContent(
                .init(
                    unsupportedContent: places.filter(entries.indices.contains).map { entries[$0] },
                    debugDescription: text))
        case .unsupportedGuide(let text):
            .unsupportedGenerationGuide(.init(schemaName: nil, debugDescription: text))
        case .timeout(let text): .timeout(.init(debugDescription: text))
        }
    }
}
#endif
