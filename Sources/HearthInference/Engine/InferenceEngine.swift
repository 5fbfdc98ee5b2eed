/// A loaded or remote model that answers conversations.
///
/// ```swift
/// let summary = try await engine.generate([ChatMessage(.user, "Why?")], options: GenerationOptions()) { event in
///     if case .text(let piece) = event { print(piece, terminator: "") }
/// }
/// ```
/// A conforming type needs ``modelInformation``, ``capabilities`` and ``generate(_:options:onEvent:)``; an engine on this
/// device also has ``tokens``. Conversations with history and tools use ``LanguageModelSession``.
public protocol InferenceEngine: Sendable {
    /// The facts of the model.
    var modelInformation: ModelInformation { get async throws }

    /// The abilities of the engine with its model.
    var capabilities: EngineCapabilities { get async throws }

    /// Answers the last message of `messages`.
    ///
    /// Generations start in the order of the calls; the engine decides how many run side by side. Cancelling the task ends the
    /// call with `CancellationError`; the engine stops within one prefill chunk or token and stays usable.
    /// - Parameter onEvent: called for each event in order, one call at a time, and never after this method returned or threw.
    ///   It may run on the engine's own thread, so it must not block. Engines report no ``GenerationEvent/finish(_:)``.
    /// - Returns: the facts of the complete answer.
    /// - Throws: ``LLMError``; `CancellationError` also when another caller stopped the engine.
    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary

    /// Reads tokens, makes vectors and prepares prompts; `nil` by default, as for a remote engine.
    var tokens: (any TokenReader)? { get }
}

extension InferenceEngine {
    public var tokens: (any TokenReader)? { nil }
}

extension InferenceEngine where Self: TokenReader {
    public var tokens: (any TokenReader)? { self }
}
