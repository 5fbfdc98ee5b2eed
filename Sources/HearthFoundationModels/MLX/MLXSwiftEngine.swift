#if canImport(MLXLMCommon)
import CoreImage
import Foundation
import HearthBase
import HearthInference
import HearthRouting
import MLXLMCommon

/// A model that mlx-swift-lm has loaded, as an engine.
///
/// ```swift
/// let container = try await loadModelContainer(from: HearthDownloader(manager), using: tokenizers, id: "mlx-community/Qwen3-4B-4bit")
/// let engine = MLXSwiftEngine(container, information: ModelInformation(description: "qwen3-4b", contextLength: 8192))
/// let session = LanguageModelSession(model: engine)
/// ```
/// It streams text, calls tools, and reads pictures and thinks if its capabilities say so. It holds no schema and no grammar. Each
/// request computes its whole prompt.
public struct MLXSwiftEngine: InferenceEngine {
    public let modelInformation: ModelInformation
    public let capabilities: EngineCapabilities
    private let container: ModelContainer
    private let startsThinking: Bool
    private let time: TimeSource

    /// Makes an engine of a loaded model.
    /// - Parameters:
    ///   - information: the facts of the model, with the context window that it was trained with.
    ///   - capabilities: `.vision` for a model that reads pictures, and `.thinking` for one that thinks; others have no effect.
    ///   - startsThinking: whether the model's template opens the thinking, so that answers begin inside it.
    public init(
        _ container: ModelContainer, information: ModelInformation, capabilities: EngineCapabilities = [],
        startsThinking: Bool = false, time: TimeSource = .system
    ) {
        self.container = container
        modelInformation = information
        self.capabilities = capabilities.intersection([.vision, .thinking])
        self.startsThinking = startsThinking
        self.time = time
    }

    /// Answers the last message of `messages`.
    /// - Throws: `LLMError` with `engine-missing` for a schema, a grammar or a raw prompt; errors of mlx-swift-lm;
    ///   `CancellationError`.
    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await messages.continuing(options, onEvent) { messages, onEvent in
            try await answer(messages, options, onEvent)
        }
    }

    private func answer(
        _ messages: [ChatMessage], _ options: GenerationOptions,
        _ onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let request = try MLXRequest(messages, options: options, readsPictures: capabilities.contains(.vision))
        if request.picturesLeftOut > 0 { onEvent(.picturesLeftOut(count: request.picturesLeftOut)) }
        let thinks = capabilities.contains(.thinking)
        let reader = AnswerReader(
            stopStrings: options.stopStrings, frame: AnswerFrame(tags: thinks ? ThinkingTags.known : []),
            openedByPrompt: thinks && startsThinking && request.thinks ? .think : nil)
        let output = StreamedOutput(reader, stopStrings: options.stopStrings, watch: time.stopwatch(), onEvent)
        let info = try await within(options.timeout, of: time) {
            try await run(request, output)
        }
        guard let info else { return output.finish(.timedOut) }
        return output.finish(info?.reason, info?.usage)
    }

    /// Runs the model until it ends, or a stop string ends the answer.
    private func run(_ request: MLXRequest, _ output: StreamedOutput) async throws -> GenerateCompletionInfo? {
        let input = UserInput(
            chat: request.messages.map(Chat.Message.init), additionalContext: ["enable_thinking": request.thinks])
        let prompt = try await container.prepare(input: input)
        try Task.checkCancellation()
        for await event in try await container.generate(input: prompt, parameters: GenerateParameters(request)) {
            switch event {
            case .chunk(let text): guard output.append(text) else { return nil }
            case .toolCall(let call): output.append(try ToolCall(call))
            case .info(let info): return info
            @unknown default: break
            }
        }
        try Task.checkCancellation()
        return nil
    }
}

extension GenerateCompletionInfo {
    /// `nil` if the model ended its answer.
    fileprivate var reason: FinishReason? { if case .length = stopReason { .maximumNewTokens } else { nil } }

    fileprivate var usage: TokenUsage {
        TokenUsage(promptTokens: promptTokenCount, cachedTokens: 0, generatedTokens: generationTokenCount)
    }
}

extension GenerateParameters {
    fileprivate init(_ request: MLXRequest) {
        self.init(
            maxTokens: request.maximumTokens, temperature: request.temperature, topP: request.topP,
            topK: request.topK, minP: request.minP, repetitionPenalty: request.repeatPenalty,
            repetitionContextSize: request.penaltyWindow)
    }
}

extension Chat.Message {
    fileprivate init(_ message: ChatMessage) {
        let images = message.images.compactMap { CIImage(data: Data($0.bytes)).map(UserInput.Image.ciImage) }
        switch message.role {
        case .system: self = .system(message.content)
        case .user, .tool: self = .user(message.content, images: images)
        case .assistant: self = .assistant(message.content)
        }
    }
}

extension HearthInference.ToolCall {
    fileprivate init(_ call: MLXLMCommon.ToolCall) throws {
        let arguments = try JSONEncoder().encode(call.function.arguments)
        self.init(
            id: call.id ?? Self.newID(), name: call.function.name, arguments: String(decoding: arguments, as: UTF8.self)
        )
    }
}
#endif
