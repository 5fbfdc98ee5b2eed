import Foundation
import HearthBase

/// A test question of a release: it becomes live only if its answer meets these bounds.
///
/// ```json
/// { "prompt": "Name the capital of France.", "pattern": "Paris", "maxNewTokens": 16,
///   "minTokensPerSecond": 2, "maxMemoryBytes": 3000000000, "timeoutSeconds": 60 }
/// ```
/// The values come from a publisher, so each of them is bounded.
public struct Canary: Sendable, Hashable {
    /// The prompt, 1...4096 bytes.
    public var prompt: String
    /// A pattern that must occur in the answer, 1...512 bytes, with `*`, `?` and `[abc]`; `nil` for any answer.
    public var pattern: String?
    /// The most tokens of the answer, 1...256.
    public var maximumNewTokens: Int
    /// The lowest allowed rate in tokens per second after the first token, above 0; `nil` for any rate.
    public var minimumTokensPerSecond: Double?
    /// The most memory that the model may use while it answers, in bytes; `nil` for any.
    public var maximumMemoryBytes: UInt64?
    /// The most seconds that loading and answering together may take, 1...3600.
    public var timeoutSeconds: Int

    /// The longest prompt, in bytes.
    public static let maximumPromptBytes = 4096
    /// The longest pattern, in bytes.
    public static let maximumPatternBytes = 512
    /// The allowed number of tokens of an answer.
    public static let tokenRange = 1...256
    /// The allowed time limits, in seconds.
    public static let timeoutRange = 1...3600
    /// The allowed lowest rates, in tokens per second.
    public static let rateRange = 0.001...1_000_000.0

    /// A test question; numbers outside their ranges are clamped.
    public init(
        prompt: String, pattern: String? = nil, maximumNewTokens: Int = 16,
        minimumTokensPerSecond: Double? = nil, maximumMemoryBytes: UInt64? = nil, timeoutSeconds: Int = 120
    ) {
        self.prompt = prompt
        self.pattern = pattern
        self.maximumNewTokens = min(max(maximumNewTokens, Self.tokenRange.lowerBound), Self.tokenRange.upperBound)
        self.minimumTokensPerSecond = minimumTokensPerSecond
        self.maximumMemoryBytes = maximumMemoryBytes
        self.timeoutSeconds = min(max(timeoutSeconds, Self.timeoutRange.lowerBound), Self.timeoutRange.upperBound)
    }

    /// The test of a release without a canary of its own: it loads and gives any answer.
    public static let `default` = Canary(prompt: "Hello", maximumNewTokens: 8, timeoutSeconds: 600)

    /// Whether a text has the length of a prompt.
    static func isPrompt(_ text: String) -> Bool { (1...maximumPromptBytes).contains(text.utf8.count) }

    /// Whether a text has the length of a pattern.
    package static func isPattern(_ text: String) -> Bool { (1...maximumPatternBytes).contains(text.utf8.count) }

    /// Whether the pattern occurs in an answer.
    ///
    /// `*` stands for any run of characters, `?` for one character, `[abc]` and `[!a-z]` for one of a set. All other
    /// characters, and their case, must match exactly. A plain word may occur anywhere in the answer.
    package func isAnswered(by text: String) -> Bool {
        pattern.map { FileGlob("*\($0)*").matches(text) } ?? true
    }
}

extension Canary: Codable {
    private enum CodingKeys: String, CodingKey {
        case prompt, pattern, timeoutSeconds
        case maximumNewTokens = "maxNewTokens"
        case minimumTokensPerSecond = "minTokensPerSecond"
        case maximumMemoryBytes = "maxMemoryBytes"
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, _ isAllowed: (Value) -> Bool) throws -> Value? {
            try values.checkedIfPresent(key, or: "out of bounds", isAllowed)
        }
        self.init(
            prompt: try values.checked(.prompt, or: "out of bounds", Self.isPrompt),
            pattern: try read(.pattern, Self.isPattern),
            maximumNewTokens: try read(.maximumNewTokens, Self.tokenRange.contains) ?? 16,
            minimumTokensPerSecond: try read(.minimumTokensPerSecond, Self.rateRange.contains),
            maximumMemoryBytes: try read(.maximumMemoryBytes) { $0 > 0 },
            timeoutSeconds: try read(.timeoutSeconds, Self.timeoutRange.contains) ?? 120)
    }
}
