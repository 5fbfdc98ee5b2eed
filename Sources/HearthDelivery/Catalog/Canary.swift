import Foundation
import HearthBase

/// What a release has to show before it becomes live: a question whose answer tells a working model from a broken one.
///
/// ```json
/// { "prompt": "Name the capital of France.", "pattern": "(?i)paris", "maxNewTokens": 16,
///   "minTokensPerSecond": 2, "maxMemoryBytes": 3000000000, "timeoutSeconds": 60 }
/// ```
/// It comes from a publisher, so every part of it is bounded.
public struct Canary: Sendable, Hashable {
    /// What the model is asked, 1...4096 bytes.
    public var prompt: String
    /// What the answer has to contain, `nil` for any answer.
    public var pattern: CanaryPattern?
    /// The answer ends after so many tokens, 1...256.
    public var maximumNewTokens: Int
    /// The least tokens a second after the first, above 0; `nil` for any speed.
    public var minimumTokensPerSecond: Double?
    /// The most memory the model may take while it answers, in bytes; `nil` for any.
    public var maximumMemoryBytes: UInt64?
    /// The most seconds that loading and answering may take together, 1...3600.
    public var timeoutSeconds: Int

    /// The longest prompt, in bytes.
    public static let maximumPromptBytes = 4096
    /// The most tokens of an answer.
    public static let tokenRange = 1...256
    /// The seconds a probe may take.
    public static let timeoutRange = 1...3600
    /// The rates that may be asked for, in tokens a second.
    public static let rateRange = 0.001...1_000_000.0

    /// A question of the given bounds; numbers outside of their ranges are brought into them.
    public init(
        prompt: String, pattern: CanaryPattern? = nil, maximumNewTokens: Int = 16,
        minimumTokensPerSecond: Double? = nil, maximumMemoryBytes: UInt64? = nil, timeoutSeconds: Int = 120
    ) {
        self.prompt = prompt
        self.pattern = pattern
        self.maximumNewTokens = min(max(maximumNewTokens, Self.tokenRange.lowerBound), Self.tokenRange.upperBound)
        self.minimumTokensPerSecond = minimumTokensPerSecond
        self.maximumMemoryBytes = maximumMemoryBytes
        self.timeoutSeconds = min(max(timeoutSeconds, Self.timeoutRange.lowerBound), Self.timeoutRange.upperBound)
    }

    /// What is asked of a release whose publisher asks nothing: that it loads and answers at all.
    public static let usual = Canary(prompt: "Hello", maximumNewTokens: 8, timeoutSeconds: 600)

    /// Whether a prompt may be asked: not empty, not too long.
    static func isPrompt(_ text: String) -> Bool { (1...maximumPromptBytes).contains(text.utf8.count) }
}

extension Canary: Codable {
    private enum Key: String, CodingKey {
        case prompt, pattern, maxNewTokens, minTokensPerSecond, maxMemoryBytes, timeoutSeconds
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        func refuse(_ key: Key) -> DecodingError {
            DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: "out of bounds")
        }
        prompt = try values.decode(String.self, forKey: .prompt)
        pattern = try values.decodeIfPresent(CanaryPattern.self, forKey: .pattern)
        maximumNewTokens = try values.decodeIfPresent(Int.self, forKey: .maxNewTokens) ?? 16
        minimumTokensPerSecond = try values.decodeIfPresent(Double.self, forKey: .minTokensPerSecond)
        maximumMemoryBytes = try values.decodeIfPresent(UInt64.self, forKey: .maxMemoryBytes)
        timeoutSeconds = try values.decodeIfPresent(Int.self, forKey: .timeoutSeconds) ?? 120
        guard Self.isPrompt(prompt) else { throw refuse(.prompt) }
        guard Self.tokenRange.contains(maximumNewTokens) else { throw refuse(.maxNewTokens) }
        guard Self.timeoutRange.contains(timeoutSeconds) else { throw refuse(.timeoutSeconds) }
        if let rate = minimumTokensPerSecond, !Self.rateRange.contains(rate) { throw refuse(.minTokensPerSecond) }
        if maximumMemoryBytes == 0 { throw refuse(.maxMemoryBytes) }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(prompt, forKey: .prompt)
        try values.encodeIfPresent(pattern, forKey: .pattern)
        try values.encode(maximumNewTokens, forKey: .maxNewTokens)
        try values.encodeIfPresent(minimumTokensPerSecond, forKey: .minTokensPerSecond)
        try values.encodeIfPresent(maximumMemoryBytes, forKey: .maxMemoryBytes)
        try values.encode(timeoutSeconds, forKey: .timeoutSeconds)
    }
}
