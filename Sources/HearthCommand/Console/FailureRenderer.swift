import Foundation
import HearthBase

/// Turns errors into text, events and exit statuses.
struct FailureRenderer {
    /// The lines for stderr.
    let lines: [String]
    /// The failure for `--format json`, with the remedy in words of the command line.
    let body: FailureBody
    let exitStatus: Int32

    /// Renders any error; errors from outside this package get the code `internal-error`.
    /// - Parameter subject: the subject of the message, if not the whole command.
    init(_ error: any Error, of subject: String = "hearth") {
        let failure = Self.failure(error)
        var lines = ["\(subject): \(TerminalText.singleLine(failure.message)) [\(failure.codeText)]"]
        if let remedy = CommandRemedy.text(failure) { lines.append("  " + Self.sentence(remedy)) }
        self.lines = lines
        body = Self.body(failure, failure.context.model)
        exitStatus = failure.disposition.exitStatus
    }

    /// Reports the failure of one of several models, after which the command continues.
    static func report(_ failure: any HearthFailure, of model: String, _ format: EventFormat, on console: Console)
        throws
    {
        let rendered = FailureRenderer(failure, of: model)
        if format == .json { try rendered.emitPart(of: model, on: console) }
        for line in rendered.lines { console.complain(line) }
    }

    /// Writes the event of a partial failure, after which the command continues.
    func emitPart(of model: String, on console: Console) throws {
        try console.emit("failed", Self.body(body, body.context.model ?? model, remedy: body.context.remedy))
    }

    private static func body(_ failure: any HearthFailure, _ model: String?, remedy: String? = nil) -> FailureBody {
        var context = failure.context
        context.model = model
        context.remedy = remedy ?? CommandRemedy.text(failure)
        return FailureBody(
            code: failure.codeText, message: failure.message, context: context, disposition: failure.disposition)
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

/// The domain of ``CommandError``.
package enum CommandErrorDomain: ErrorDomain {}

/// An error of the command line itself.
package typealias CommandError = HearthError<CommandErrorDomain>

extension ErrorCode<CommandErrorDomain> {
    /// The user or the system ended the command.
    package static var interrupted: Self { "interrupted" }
    /// An error without a code: a defect of this program.
    package static var internalError: Self { "internal-error" }
    /// `doctor` found a problem.
    package static var problemsFound: Self { "problems-found" }
    /// Some of several updates failed.
    package static var updatesFailed: Self { "updates-failed" }
    /// Some of several releases could not be read or repaired.
    package static var verificationFailed: Self { "verification-failed" }
    /// No model is installed that the command could use.
    package static var noModel: Self { "no-model" }
    /// Several models are installed, and the command named none.
    package static var severalModels: Self { "several-models" }
}

extension HearthError where Domain == CommandErrorDomain {
    /// The user or the system ended the command; `kept` says what was kept.
    static func interrupted(kept: String?) -> Self {
        Self(.interrupted, kept.map { "interrupted; \($0)" } ?? "interrupted", disposition: .interrupted)
    }
}
