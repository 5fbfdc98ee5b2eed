import Foundation
import HearthBase

/// Turns errors into text, events and exit statuses.
struct FailureRenderer {
    /// The lines for stderr.
    let lines: [String]
    /// The event for `--format json`.
    let event: FailureEvent
    let exitStatus: Int32

    /// Renders any error; errors from outside this package get the code `internal-error`.
    /// - Parameter subject: the subject of the message, if not the whole command.
    init(_ error: any Error, of subject: String = "hearth") {
        let failure = Self.failure(error)
        var lines = ["\(subject): \(TerminalText.singleLine(failure.message)) [\(failure.codeText)]"]
        if let remedy = CommandRemedy.text(failure) { lines.append("  " + Self.sentence(remedy)) }
        self.lines = lines
        event = FailureEvent(failure)
        exitStatus = failure.disposition.exitStatus
    }

    /// The event of a partial failure, after which the command continues.
    func partEvent(of model: String) -> FailureEvent {
        var part = event
        part.event = "failed"
        part.model = part.model ?? model
        return part
    }

    private static func sentence(_ text: String) -> String {
        let line = TerminalText.singleLine(text)
        return line.last.map { ".!?`".contains($0) } ?? true ? line : line + "."
    }

    private static func failure(_ error: any Error) -> any HearthFailure {
        switch error {
        case let failure as any HearthFailure: failure
        case is CancellationError: CommandError.interrupted(kept: nil)
        default: CommandError(.internalError, "an unexpected error: \(error)", underlying: error)
        }
    }
}

/// The last event of a failed command, or a partial failure with the event `failed`.
struct FailureEvent: Encodable {
    var event = "error"
    let code: String
    let message: String
    let remedy: String?
    var model: String?
    let file: String?
    let url: String?
    let field: String?
    let expected: String?
    let found: String?

    init(_ failure: any HearthFailure) {
        code = failure.codeText
        message = failure.message
        remedy = CommandRemedy.text(failure)
        model = failure.context.model
        file = failure.context.file
        url = failure.context.url
        field = failure.context.field
        expected = failure.context.expected
        found = failure.context.found
    }
}

/// The codes of ``CommandError``.
public enum CommandErrorDomain: ErrorDomain {
    public static var codes: [ErrorCode<Self>] {
        [.interrupted, .internalError, .noModel, .severalModels, .problemsFound, .updatesFailed, .verificationFailed]
    }
}

/// An error of the command line itself.
public typealias CommandError = HearthError<CommandErrorDomain>

extension ErrorCode<CommandErrorDomain> {
    /// The user or the system ended the command.
    public static var interrupted: Self { "interrupted" }
    /// An error without a code: a defect of this program.
    public static var internalError: Self { "internal-error" }
    /// `doctor` found a problem.
    public static var problemsFound: Self { "problems-found" }
    /// Some of several updates failed.
    public static var updatesFailed: Self { "updates-failed" }
    /// Some of several releases could not be read or repaired.
    public static var verificationFailed: Self { "verification-failed" }
    /// No model is installed that the command could use.
    public static var noModel: Self { "no-model" }
    /// Several models are installed, and the command named none.
    public static var severalModels: Self { "several-models" }
}

extension HearthError where Domain == CommandErrorDomain {
    /// The user or the system ended the command; `kept` says what was kept.
    static func interrupted(kept: String?) -> Self {
        Self(.interrupted, kept.map { "interrupted; \($0)" } ?? "interrupted", disposition: .interrupted)
    }
}
