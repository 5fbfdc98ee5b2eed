import HearthBase

/// The protocol of seed 001 for local and cloud models.
public typealias LLMServiceProtocol = InferenceEngine

/// The role of a model, by its name in seed 001.
public typealias ModelType = EngineRole

extension InferenceEngine {
    /// The answer as pieces of text, as in seed 001. Thinking before the answer is not part of it.
    ///
    /// The answer begins at once. Cancelling the reading task, or releasing the stream, stops it.
    /// - Throws (from the stream): errors of ``generate(_:options:onEvent:)``.
    public func generate(
        systemPrompt: String, messages: [ChatMessage], thinkingEnabled: Bool = true
    ) -> AsyncThrowingStream<String, any Error> {
        .running { yield in
            let options = GenerationOptions(thinking: ThinkingOptions(isEnabled: thinkingEnabled))
            _ = try await generate([ChatMessage(.system, systemPrompt)] + messages, options: options) {
                if case .text(let piece) = $0 { yield(piece) }
            }
        }
    }
}

/// The messages of history in a prompt by the device's memory: the names of seed 001.
public enum ChatConstants {
    /// From 6 GiB of memory on: 50 messages.
    public static let largeHistoryLimit = DeviceRule(deviceMemory: .max).historyLimit
    /// Below 6 GiB of memory: 20 messages.
    public static let smallHistoryLimit = DeviceRule(deviceMemory: 0).historyLimit
}

extension ErrorCode<ModelInformation> {
    /// An answer took too long; the name of seed 001 for ``timedOut``.
    public static var timeout: Self { timedOut }
}
