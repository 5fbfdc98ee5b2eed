import HearthBase

/// Parameters that several commands share, as a property of these commands.
protocol ParameterGroup: Sendable {
    init()
    /// Checks what no parameter can check alone.
    /// - Throws: ``UsageError``; without a hint, it gets that of the command's help.
    func validate() throws
}

extension ParameterGroup {
    func validate() throws {}
}

/// A command: declared once, with its parameters as properties that the command line fills, then run.
protocol Command: ParameterGroup {
    static var declaration: CommandDeclaration { get }
    /// Runs the command. Data goes to the console's output, messages to its errors.
    func run(in context: CommandContext) async throws
}

/// The parameters of a command, in the order of its properties.
struct CommandParameters: Sendable {
    private(set) var arguments: [any DeclaredArgument] = []
    private(set) var options: [any DeclaredOption] = []
    private var groups: [any ParameterGroup] = []

    /// Finds the parameters of a command or a group, and those of groups in it.
    init(of group: any ParameterGroup) {
        for (_, property) in Mirror(reflecting: group).children {
            switch property {
            case let argument as any DeclaredArgument: arguments.append(argument)
            case let option as any DeclaredOption: options.append(option)
            case let inner as any ParameterGroup:
                let inner = CommandParameters(of: inner)
                arguments += inner.arguments
                options += inner.options
                groups += inner.groups
            default: continue
            }
        }
        groups.append(group)
    }

    /// All options, including those all commands share.
    var optionShapes: [OptionShape] { options.map(\.shape) + [Flag.quiet.shape, Flag.help.shape] }

    /// Fills the parameters from the words of a command line.
    /// - Throws: ``UsageError``
    func take(_ words: ParsedArguments) throws {
        for (index, argument) in arguments.enumerated() {
            try argument.take(words.positionals(of: argument.shape, at: index), of: words.declaration)
        }
        for option in options { try option.take(words.options[option.shape.name] ?? [], of: words.declaration) }
        do {
            for group in groups { try group.validate() }
        } catch let error as UsageError where error.context.remedy == nil {
            throw UsageError(error.message, hint: words.declaration.hint())
        }
    }
}

extension Flag {
    /// Suppresses messages on stderr; shared by all commands.
    static let quiet = Flag("quiet", short: "q", "Say nothing on stderr but errors.")
    /// Prints the help text; shared by all commands.
    static let help = Flag("help", short: "h", "Show this help.")
}
