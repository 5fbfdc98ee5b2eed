/// The declaration of a command, used by the parser and the help text.
struct CommandDeclaration: Sendable {
    /// An example command line and its explanation.
    struct Example: Sendable {
        let line: String
        let explanation: String

        init(_ line: String, _ explanation: String) {
            self.line = line
            self.explanation = explanation
        }
    }

    /// The words that name the command, without `hearth`: `["config", "get"]`.
    let path: [String]
    /// One line without a full stop.
    let summary: String
    /// Paragraphs of documentation.
    let discussion: [String]
    let arguments: [any DeclaredArgument]
    let options: [any DeclaredOption]
    /// Meanings of this command's exit statuses, where they differ from the general list.
    let exitStatuses: [(status: Int32, meaning: String)]
    let examples: [Example]

    init(
        _ path: String..., summary: String, discussion: [String] = [], arguments: [any DeclaredArgument] = [],
        options: [any DeclaredOption] = [], exitStatuses: [(Int32, String)] = [], examples: [Example]
    ) {
        self.path = path
        self.summary = summary
        self.discussion = discussion
        self.arguments = arguments
        self.options = options
        self.exitStatuses = exitStatuses.map { (status: $0.0, meaning: $0.1) }
        self.examples = examples
    }

    /// The full name, for example `hearth config get`.
    var commandLine: String { (["hearth"] + path).joined(separator: " ") }

    /// The command's options, including those all commands share.
    var allOptions: [OptionShape] { options.map(\.shape) + [Flag.quiet.shape, Flag.help.shape] }
}

extension Flag {
    /// Suppresses messages on stderr; shared by all commands.
    static let quiet = Flag("quiet", short: "q", "Say nothing on stderr but errors.")
    /// Prints the help text; shared by all commands.
    static let help = Flag("help", short: "h", "Show this help.")
}

/// A command: declared once, created from parsed arguments, then run.
protocol Command: Sendable {
    static var declaration: CommandDeclaration { get }
    /// - Throws: ``UsageError`` if a value is invalid.
    init(_ values: ParsedArguments) throws
    /// Runs the command. Data goes to the console's output, messages to its errors.
    func run(in context: CommandContext) async throws
}
