/// A command as the parser reads it and the help text shows it: one source for both.
struct CommandDeclaration: Sendable {
    /// A line to try, and what it does.
    struct Example: Sendable {
        let line: String
        let explanation: String

        init(_ line: String, _ explanation: String) {
            self.line = line
            self.explanation = explanation
        }
    }

    /// The words that call it, without `hearth`: `["config", "get"]`.
    let path: [String]
    /// One line without a full stop.
    let summary: String
    /// Paragraphs of documentation.
    let discussion: [String]
    let arguments: [any DeclaredArgument]
    let options: [any DeclaredOption]
    /// What this command's exit statuses mean where the general list says too little.
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

    /// `hearth config get`.
    var commandLine: String { (["hearth"] + path).joined(separator: " ") }

    /// Every option the command takes, with those all commands share.
    var allOptions: [OptionShape] { options.map(\.shape) + [Flag.quiet.shape, Flag.help.shape] }
}

extension Flag {
    /// Silences talk on stderr; shared by all commands.
    static let quiet = Flag("quiet", short: "q", "Say nothing on stderr but errors.")
    /// Prints the help text; shared by all commands.
    static let help = Flag("help", short: "h", "Show this help.")
}

/// One verb of the command line: declared once, made from what the parser read, then run.
protocol Command: Sendable {
    static var declaration: CommandDeclaration { get }
    /// - Throws: ``UsageError`` when a value does not fit.
    init(_ values: ParsedArguments) throws
    /// Does the work. Data goes to the console's output, talk to its errors.
    func run(in context: CommandContext) async throws
}
