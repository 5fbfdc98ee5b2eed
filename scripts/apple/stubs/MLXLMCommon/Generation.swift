import AppleFoundation

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/Evaluate.swift
public struct GenerateParameters: Sendable {
    public init(
        maxTokens: Int? = nil, maxKVSize: Int? = nil, kvBits: Int? = nil, kvGroupSize: Int = 64,
        quantizedKVStart: Int = 0, temperature: Float = 0.6, topP: Float = 1.0, topK: Int = 0, minP: Float = 0.0,
        repetitionPenalty: Float? = nil, repetitionContextSize: Int = 20) {}
}
public enum Generation: Sendable {
    case chunk(String)
    case info(GenerateCompletionInfo)
    case toolCall(ToolCall)
}
public enum GenerateStopReason: Sendable {
    case stop, length, cancelled
}
public struct GenerateCompletionInfo: Sendable {
    init(stub: Void) {}
    public var promptTokenCount: Int { get {} }
    public var generationTokenCount: Int { get {} }
    public var stopReason: GenerateStopReason { get {} }
}

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/Tool/ToolCall.swift
public struct ToolCall: Hashable, Codable, Sendable {
    public struct Function: Hashable, Codable, Sendable {
        public let name: String
        public let arguments: [String: JSONValue]
    }
    public let function: Function
    public let id: String?
}

// github.com/ml-explore/mlx-swift-lm/blob/main/Libraries/MLXLMCommon/Tool/Value.swift
public enum JSONValue: Hashable, Codable, Sendable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}
