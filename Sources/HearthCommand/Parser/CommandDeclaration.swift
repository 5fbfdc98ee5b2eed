/// A section of a help page: a title, and names with their meanings.
typealias HelpSection = (title: String, rows: [(name: String, meaning: String)])

/// The declaration of a command, used by the parser and the help text.
struct CommandDeclaration: Sendable {
    /// The words that name the command, without `hearth`: `["config", "get"]`.
    let path: [String]
    /// One line without a full stop.
    let summary: String
    /// Whether the command deletes, undoes or discards something: no hint after a mistake names it.
    let isDestructive: Bool
    /// The names of options that this command needs, and others with the same parameters do not.
    let requiredOptions: [String]
    /// Paragraphs of documentation.
    let discussion: [String]
    /// A further section of the help.
    let section: HelpSection?
    /// Meanings of this command's exit statuses, where they differ from the general list.
    let exitStatuses: [(status: Int32, meaning: String)]
    /// Example command lines and their explanations.
    let examples: [(line: String, explanation: String)]

    /// A declaration whose help is one text of paragraphs: of discussion, of exit statuses (`75: Try again later.`), and
    /// of examples (`hearth list  # What is here.`, or the explanation on the next lines after `#`).
    init(
        _ path: String..., summary: String, isDestructive: Bool = false, requiredOptions: [String] = [],
        section: HelpSection? = nil, _ help: String
    ) {
        var discussion: [String] = []
        var statuses: [(status: Int32, meaning: String)] = []
        var examples: [(line: String, explanation: String)] = []
        for lines in help.split(separator: "\n\n").map({ $0.split(separator: "\n").map(String.init) }) {
            if lines[0].hasPrefix("hearth ") {
                for line in lines {
                    if line.hasPrefix("# "), let last = examples.popLast() {
                        let space = last.explanation.isEmpty ? "" : " "
                        examples.append((last.line, last.explanation + space + line.dropFirst(2)))
                    } else {
                        let parts = line.split(separator: "  # ", maxSplits: 1).map(String.init)
                        examples.append((parts[0], parts.count == 2 ? parts[1] : ""))
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
        (self.path, self.summary, self.discussion, self.section) = (path, summary, discussion, section)
        (self.isDestructive, self.requiredOptions) = (isDestructive, requiredOptions)
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
