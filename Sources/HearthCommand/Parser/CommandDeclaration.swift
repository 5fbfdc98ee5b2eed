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
    /// Further sections of the help: a title, and names with their meanings.
    let sections: [(title: String, rows: [(name: String, meaning: String)])]
    /// The parameters of a command that converts its words in an initialiser.
    let parameters: CommandParameters?
    /// Meanings of this command's exit statuses, where they differ from the general list.
    let exitStatuses: [(status: Int32, meaning: String)]
    let examples: [Example]

    init(
        _ path: String..., summary: String, discussion: [String] = [], arguments: [any DeclaredArgument]? = nil,
        options: [any DeclaredOption]? = nil, sections: [(String, [(String, String)])] = [],
        exitStatuses: [(Int32, String)] = [], examples: [Example]
    ) {
        self.path = path
        self.summary = summary
        self.discussion = discussion
        self.sections = sections.map { (title: $0.0, rows: $0.1.map { (name: $0.0, meaning: $0.1) }) }
        parameters =
            arguments == nil && options == nil
            ? nil : CommandParameters(arguments: arguments ?? [], options: options ?? [])
        self.exitStatuses = exitStatuses.map { (status: $0.0, meaning: $0.1) }
        self.examples = examples
    }

    /// A declaration whose help is one text of paragraphs: of discussion, of exit statuses (`75: Try again later.`), and
    /// of examples (`hearth list  # What is here.`, or the explanation on the next lines after `#`).
    init(_ path: String..., summary: String, _ help: String) {
        var discussion: [String] = []
        var statuses: [(status: Int32, meaning: String)] = []
        var examples: [Example] = []
        for lines in help.split(separator: "\n\n").map({ $0.split(separator: "\n").map(String.init) }) {
            if lines[0].hasPrefix("hearth ") {
                for line in lines {
                    if line.hasPrefix("# "), let last = examples.popLast() {
                        examples.append(
                            Example(
                                last.line, last.explanation + (last.explanation.isEmpty ? "" : " ") + line.dropFirst(2))
                        )
                    } else {
                        let parts = line.split(separator: "  # ", maxSplits: 1).map(String.init)
                        examples.append(Example(parts[0], parts.count == 2 ? parts[1] : ""))
                    }
                }
            } else if lines[0].first?.isNumber == true {
                for line in lines {
                    let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
                    if let status = Int32(parts[0]) { statuses.append((status, parts[1])) }
                }
            } else {
                discussion.append(lines.joined(separator: " "))
            }
        }
        (self.path, self.summary, self.discussion, sections, parameters) = (path, summary, discussion, [], nil)
        (exitStatuses, self.examples) = (statuses, examples)
    }

    /// The full name, for example `hearth config get`.
    var commandLine: String { (["hearth"] + path).joined(separator: " ") }

    /// The hint of what to type: similar names, then where to find help.
    func hint(near: [String] = []) -> String {
        let help = "Run `\(commandLine) --help` for usage."
        return near.isEmpty ? help : "Did you mean \(near.joined(separator: " or "))? \(help)"
    }
}
