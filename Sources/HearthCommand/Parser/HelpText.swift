/// Renders declarations as help pages, always 80 columns wide.
enum HelpText {
    private static let width = 80
    private static let column = 26

    /// The help page of a command.
    static func page(_ declaration: CommandDeclaration, _ parameters: CommandParameters) -> String {
        var text = "\(declaration.commandLine): \(declaration.summary)\n"
        text += section("usage", wrapped(usage(declaration, parameters), indent: 2, hanging: 6))
        if let other = CommandTable.synonym(of: declaration.path) {
            text += "\n" + wrapped("`hearth \(other)` means the same.", indent: 0)
        }
        for paragraph in declaration.discussion { text += "\n" + wrapped(paragraph, indent: 0) }
        let arguments = parameters.arguments.map(\.shape)
        text += section("arguments", arguments.map { row($0.name, $0.help) }.joined())
        if let extra = declaration.section {
            text += section(extra.title, extra.rows.map { row($0.name, $0.meaning) }.joined())
        }
        text += section("options", parameters.optionShapes.map { row(label($0), help($0)) }.joined())
        text += section(
            "exit status", declaration.exitStatuses.map { row(String($0.status), $0.meaning, column: 7) }.joined())
        text += section(
            "examples",
            declaration.examples
                .map { wrapped("# " + $0.explanation, indent: 2, hanging: 4) + "  \($0.line)\n" }
                .joined(separator: "\n"))
        return text
    }

    /// The help page of a group.
    static func page(group: CommandEntry) -> String {
        var text = "hearth \(group.name): \(group.summary)\n"
        text += section("usage", "  hearth \(group.name) COMMAND …\n")
        text += section("commands", zip(group.words, group.commands).map { row($0, $1.summary) }.joined())
        if let extra = group.section {
            text += section(extra.title, extra.rows.map { row($0.name, $0.meaning) }.joined())
        }
        text += section(
            "examples", group.commands.compactMap(\.examples.first).map { "  \($0.line)\n" }.joined())
        return text + "\nRun `hearth \(group.name) COMMAND --help` for one of them.\n"
    }

    /// The page of a first day: few commands, each with a line that can be typed.
    static func beginning(_ lines: [(line: String, meaning: String)]) -> String {
        var text = "hearth: bring AI models to this device and run them here\n"
        text += section("to begin with", lines.map { row("hearth " + $0.line, $0.meaning, column: 28) }.joined())
        return text + "\nRun `hearth --help` for all commands, `hearth COMMAND --help` for one of them.\n"
    }

    /// The overview of all commands.
    static func overview(chapters: [CommandChapter]) -> String {
        var text = "hearth: bring AI models to this device and run them here\n"
        text += section("usage", "  hearth COMMAND …\n")
        for chapter in chapters {
            text += section(chapter.title, chapter.entries.map { row($0.name, $0.summary) }.joined())
        }
        for part in generalSections {
            let column = part.title == "exit status" ? 7 : column
            text += section(part.title, part.rows.map { row($0.name, $0.meaning, column: column) }.joined())
        }
        let examples = [
            "hearth pull smollm2-135m-instruct", "hearth chat", "hearth list --format json", "hearth pull --help",
        ]
        text += section("examples", examples.map { "  \($0)\n" }.joined())
        return text
    }

    /// What holds for all commands: titles, and names with their meanings.
    static let generalSections: [HelpSection] = [
        (
            "options",
            [
                ("-q, --quiet", Flag.quiet.shape.help), ("-h, --help", "Show help, for every command too."),
                ("--version", "Print the version."),
            ]
        ),
        (
            "environment",
            [
                ("HEARTH_HOME", "Where models are kept (default: ~/.local/share/hearth)."),
                ("HEARTH_ORIGIN", "The models.json to use instead of the configured origins."),
                ("HEARTH_NETWORK", "metered, unmetered or offline: what the system gets wrong or cannot know."),
                ("HEARTH_LOG", "debug, info, warning or error: log to stderr."),
                ("NO_COLOR", "Print without colour."),
            ]
        ),
        (
            "exit status",
            [
                ("0", "Done."), ("1", "Failed; the code is in brackets."), ("64", "Wrong usage."),
                ("75", "Try again later: offline, metered or busy."),
                ("130", "Interrupted; what was received is kept."),
            ]
        ),
    ]

    private static func usage(_ declaration: CommandDeclaration, _ parameters: CommandParameters) -> String {
        let arguments = parameters.arguments.map(\.shape.usage)
        let options = parameters.options.map(\.shape).map { shape in
            // Keep the words in brackets on one line.
            let value = shape.valueName.map { "\u{A0}\($0)" } ?? ""
            let words = shape.flag + value
            let isRequired = shape.isRequired || declaration.requiredOptions.contains(shape.name)
            return (isRequired ? words : "[\(words)]") + (shape.isRepeatable && shape.valueName != nil ? "…" : "")
        }
        return ([declaration.commandLine] + arguments + options).joined(separator: " ")
    }

    private static func label(_ shape: OptionShape) -> String {
        let short = shape.short.map { "-\($0), " } ?? ""
        return short + shape.flag + (shape.valueName.map { " \($0)" } ?? "")
    }

    static func help(_ shape: OptionShape) -> String {
        var text = shape.help
        if shape.isRepeatable && shape.valueName != nil { text += " May be given several times." }
        if let value = shape.defaultText { text += " (default: \(value))" }
        return text
    }

    private static func section(_ title: String, _ body: String) -> String {
        body.isEmpty ? "" : "\n\(title.uppercased())\n\(body)"
    }

    static func row(_ label: String, _ text: String, column: Int = column) -> String {
        let start = "  " + label
        let body = wrapped(text, indent: column)
        guard start.count + 2 <= column else { return start + "\n" + body }
        return start + body.dropFirst(start.count)
    }

    /// Wraps text at spaces; the first line is indented by `indent`, the others by `hanging`.
    static func wrapped(_ text: String, indent: Int, hanging: Int? = nil) -> String {
        TerminalText.wrapped(text, to: width, first: indent, hanging: hanging ?? indent)
            .map { $0.replacingNoBreakSpaces + "\n" }.joined()
    }
}

extension String {
    fileprivate var replacingNoBreakSpaces: String { String(map { $0 == "\u{A0}" ? " " : $0 }) }
}
