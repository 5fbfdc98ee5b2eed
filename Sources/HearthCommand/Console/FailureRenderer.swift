import Foundation
import HearthBase

/// The one place where an error becomes text and an exit status.
struct FailureRenderer {
    /// The lines for stderr.
    let lines: [String]
    /// The event for `--format json`.
    let event: FailureEvent
    let exitStatus: Int32

    /// Renders any error; those not of this package get the code `internal-error`.
    /// - Parameter subject: what it is about, where that is not the command as a whole.
    init(_ error: any Error, of subject: String = "hearth") {
        let failure = Self.failure(error)
        var lines = ["\(subject): \(TerminalText.singleLine(failure.message)) [\(failure.codeText)]"]
        if let remedy = failure.context.remedy { lines.append("  " + Self.sentence(remedy)) }
        self.lines = lines
        event = FailureEvent(failure)
        exitStatus = failure.disposition.exitStatus
    }

    /// The event of a part that failed, after which the command goes on.
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

/// The last line of a command that speaks in events and failed; as `failed`, what a part of it that failed has to say.
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
        remedy = failure.context.remedy
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

/// What the command line itself finds wrong.
public typealias CommandError = HearthError<CommandErrorDomain>

extension ErrorCode<CommandErrorDomain> {
    /// The user or the system ended the command.
    public static var interrupted: Self { "interrupted" }
    /// A failure without a code of its own: a mistake in this program.
    public static var internalError: Self { "internal-error" }
    /// `doctor` found something that does not work.
    public static var problemsFound: Self { "problems-found" }
    /// Of several updates, some could not be brought.
    public static var updatesFailed: Self { "updates-failed" }
    /// Of several releases, some could not be read or mended.
    public static var verificationFailed: Self { "verification-failed" }
    /// No model is installed that the command could use.
    public static var noModel: Self { "no-model" }
    /// Several models are installed and none was named.
    public static var severalModels: Self { "several-models" }
}

extension HearthError where Domain == CommandErrorDomain {
    /// The user or the system ended the command; `kept` says what was not lost.
    static func interrupted(kept: String?) -> Self {
        Self(.interrupted, kept.map { "interrupted; \($0)" } ?? "interrupted", disposition: .interrupted)
    }
}
