import Foundation

/// A failure as rows, events and replies hold it: without the type of its error.
///
/// On the wire, the facts stand beside code and message: `{"code", "message", "remedy", "model", "file", …}`.
public struct FailureBody: HearthFailure, Hashable, Codable {
    /// The stable code of the error, such as `connection-lost`.
    public let code: String
    public let message: String
    /// Empty where ``message`` says all to people.
    public let context: ErrorContext
    /// On the wire, its exit status unless that is 1.
    public let disposition: ErrorDisposition

    public var codeText: String { code }
    public var underlying: (any Error)? { nil }

    /// A failure of the given facts.
    public init(
        code: String, message: String, context: ErrorContext = ErrorContext(),
        disposition: ErrorDisposition = .failed
    ) {
        self.code = code
        self.message = message
        self.context = context
        self.disposition = disposition
    }

    /// An error without its type and its cause.
    public init(_ error: any HearthFailure) {
        self.init(
            code: error.codeText, message: error.message, context: error.context, disposition: error.disposition)
    }

    private enum CodingKeys: CodingKey { case code, message, status }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let status = try container.decodeIfPresent(Int32.self, forKey: .status)
        self.init(
            code: try container.decode(String.self, forKey: .code),
            message: try container.decode(String.self, forKey: .message), context: try ErrorContext(from: decoder),
            disposition: status.flatMap(ErrorDisposition.init) ?? .failed)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(message, forKey: .message)
        if disposition != .failed { try container.encode(disposition.exitStatus, forKey: .status) }
        try context.encode(to: encoder)
    }
}
