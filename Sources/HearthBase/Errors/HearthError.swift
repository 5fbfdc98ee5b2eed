import Foundation

/// A type whose failures have error codes of their own.
///
/// A module declares the codes in an extension, and names the error with a type alias:
///
/// ```swift
/// extension InstalledRelease: ErrorDomain {}
/// public typealias StoreError = HearthError<InstalledRelease>
/// extension ErrorCode<InstalledRelease> {
///     /// The family or release asked for is not on this device.
///     public static var notInstalled: Self { "not-installed" }
/// }
/// ```
public protocol ErrorDomain: Sendable {}

/// A stable, string-backed error code for logs, `--format json` and HTTP bodies.
///
/// The set is open: code that switches over it needs a default. `docs/errors.md` lists all codes.
public struct ErrorCode<Domain: ErrorDomain>: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Lower-case words joined by hyphens, such as `checksum-mismatch`.
    public let rawValue: String

    /// Makes a code with this exact text. Prefer the named codes.
    public init(stringLiteral value: String) { rawValue = value }

    public var description: String { rawValue }
}

/// The meaning of a failure for the caller; each case has one exit status.
public enum ErrorDisposition: Int32, Sendable, Hashable {
    /// The request failed, and will fail again until the cause is removed.
    case failed = 1
    /// The request itself was wrong.
    case usage = 64
    /// A later attempt may succeed: offline, metered, busy.
    case tryLater = 75
    /// The user or the system ended the operation.
    case interrupted = 130

    /// The process exit status: 1, 64, 75 or 130.
    public var exitStatus: Int32 { rawValue }
}

/// The facts of a failure, for programs. Never contains secrets or a user's text.
public struct ErrorContext: Sendable, Hashable, Codable {
    /// The affected model, by the name that the user gave.
    public var model: String?
    /// The affected file or folder.
    public var file: String?
    /// The affected address, without its query.
    public var url: String?
    /// The affected field or option, such as `models[2].sha256`.
    public var field: String?
    /// The expected value.
    public var expected: String?
    /// The actual value.
    public var found: String?
    /// The next action for a person, as a sentence.
    public var remedy: String?
    /// The number of the failed system call (`errno`).
    public var systemError: Int32?
    /// The seconds after which a refused request may be sent again.
    public var retryAfterSeconds: Double?

    /// Makes a context of the given facts.
    public init(
        model: String? = nil, file: String? = nil, url: String? = nil, field: String? = nil,
        expected: String? = nil, found: String? = nil, remedy: String? = nil
    ) {
        self.model = model
        self.file = file
        self.url = url
        self.field = field
        self.expected = expected
        self.found = found
        self.remedy = remedy
    }
}

/// The common interface of all errors of this package.
public protocol HearthFailure: LocalizedError, CustomStringConvertible, Sendable {
    /// The stable code, as text.
    var codeText: String { get }
    /// One sentence without the code and without a full stop.
    var message: String { get }
    /// The facts of the failure.
    var context: ErrorContext { get }
    /// The meaning for the caller.
    var disposition: ErrorDisposition { get }
    /// The error that caused this one.
    var underlying: (any Error)? { get }
}

extension HearthFailure {
    /// One sentence that tells a user what to do.
    public var errorDescription: String? {
        guard let remedy = context.remedy else { return message }
        return "\(message). \(remedy)"
    }

    /// The sentence, the code in brackets, and the chain of causes.
    public var description: String {
        var text = "\(message) [\(codeText)]"
        if let underlying { text += " <- \(underlying)" }
        return text
    }
}

/// The error of one module: a code, a sentence, the facts, the cause.
public struct HearthError<Domain: ErrorDomain>: HearthFailure {
    /// The code, for programs.
    public let code: ErrorCode<Domain>
    public let message: String
    public var context: ErrorContext
    public let disposition: ErrorDisposition
    public let underlying: (any Error)?

    /// Makes an error.
    public init(
        _ code: ErrorCode<Domain>, _ message: String, context: ErrorContext = ErrorContext(),
        disposition: ErrorDisposition = .failed, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.context = context
        self.disposition = disposition
        self.underlying = underlying
    }

    public var codeText: String { code.rawValue }

    /// The codes of the module.
    public typealias Code = ErrorCode<Domain>
}

extension ErrorCode {
    /// Matches an error of this code: `catch LLMError.Code.timedOut`.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? HearthError<Domain>)?.code == code }
}
