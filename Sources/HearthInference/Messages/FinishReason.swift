/// Why a generation ended; an open set, which engines may extend.
public struct FinishReason: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// Lower-case words joined by hyphens, such as `stop-string`.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(stringLiteral value: String) { rawValue = value }

    /// The model ended its answer.
    public static let endOfGeneration: Self = "stop"
    /// A stop string of the request appeared; it is not part of the text.
    public static let stopString: Self = "stop-string"
    /// The maximum of new tokens was reached.
    public static let maximumNewTokens: Self = "length"
    /// The context window is full.
    public static let contextFull: Self = "context-full"
    /// The answer repeated one sequence of tokens again and again; see `GenerationOptions.maximumRepeats`.
    public static let repeating: Self = "repeating"
    /// The time-out passed; the text until then was delivered.
    public static let timedOut: Self = "timeout"
    /// The model calls tools and waits for their results.
    public static let toolCalls: Self = "tool-calls"
    /// A filter of the provider ended the answer.
    public static let contentFilter: Self = "content-filter"
    /// The engine or its connection broke off after a part of the answer.
    public static let interrupted: Self = "interrupted"

    /// Whether the model itself ended the answer, so that no part of it is missing.
    public var isComplete: Bool { [.endOfGeneration, .stopString, .toolCalls].contains(self) }

    public var description: String { rawValue }
}
