import HearthAssistant
import HearthBase

/// The outcome of an import as the command prints it.
struct ImportReport: Encodable {
    /// Components of another kind, with the command that takes them.
    struct Other: Encodable {
        let component: String
        let count: Int
        let command: String?
    }

    let added: Int
    let changed: Int
    let skipped: Int
    let unreadable: Int
    let other: [Other]
    let problems: [RecordProblem]
    let action: String?
    private let noun: String

    private enum CodingKeys: String, CodingKey { case added, changed, skipped, unreadable, other, problems, action }

    /// The most problems that are printed for people.
    private static let shown = 10

    init(_ outcome: RecordImport, noun: String, file: String) {
        (added, changed, skipped) = (outcome.added, outcome.changed, outcome.skipped)
        (unreadable, problems, action) = (outcome.unreadable, outcome.problems, outcome.action)
        self.noun = noun
        other = outcome.other.map { other in
            let name = other.store.map { "hearth \($0.rawValue) import \(Self.word(file))" }
            return Other(component: other.component, count: other.count, command: name)
        }
    }

    /// The name of a file as a word of a shell.
    private static func word(_ file: String) -> String {
        let isPlain = file.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-_./".utf8.contains(byte)
        }
        return isPlain ? file : "'\(file.replacing("'", with: "'\\''"))'"
    }

    func print(to console: Console, _ format: ListingFormat) throws {
        guard format == .table else { return try console.print(JSON.text(self)) }
        let last = unreadable > 0 ? ", \(unreadable) unreadable." : "."
        console.say("\(added) added, \(changed) changed, \(skipped) skipped" + last)
        for other in other {
            let remedy = other.command.map { ": `\($0)` takes them." } ?? ", and no command takes them."
            console.say("\(other.count) \(other.component.shownOnTerminal) not imported" + remedy)
        }
        for problem in problems.prefix(Self.shown) {
            let place = problem.line.map { "line \($0): " } ?? ""
            let title = problem.title.isEmpty ? "" : "\(problem.title.quotedForTerminal): "
            console.complain(place + title + TerminalText.singleLine(problem.reason))
        }
        if problems.count > Self.shown {
            console.complain("and \(problems.count - Self.shown) more: `hearth \(noun) problems` lists them")
        }
    }
}
