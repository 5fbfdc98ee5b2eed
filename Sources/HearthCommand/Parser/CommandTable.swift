import HearthCatalog
import HearthDelivery

/// An entry of the overview: a command, or a group of commands such as `config`.
struct CommandEntry: Sendable {
    let name: String
    let summary: String
    let types: [any Command.Type]
    let isGroup: Bool
    /// A further section of a group's help.
    var section: HelpSection?

    /// A command.
    static func command(_ type: any Command.Type) -> Self {
        Self(name: type.declaration.path.last ?? "", summary: type.declaration.summary, types: [type], isGroup: false)
    }

    /// A group of commands.
    static func group(
        _ name: String, _ summary: String, _ types: [any Command.Type], section: HelpSection? = nil
    ) -> Self {
        Self(name: name, summary: summary, types: types, isGroup: true, section: section)
    }

    /// The declarations of its commands.
    var commands: [CommandDeclaration] { types.map { $0.declaration } }

    /// The number of words of its name.
    var depth: Int { name.split(separator: " ").count }

    /// The last word of its name.
    var verb: String { name.split(separator: " ").last.map(String.init) ?? "" }

    /// The words after its name: `create`, or `keys create` for a command of a group in it.
    var words: [String] { commands.map { $0.path.dropFirst(depth).joined(separator: " ") } }

    /// The commands and groups one word below a group, in order.
    var entries: [CommandEntry] {
        var entries: [CommandEntry] = []
        for type in types {
            let path = type.declaration.path
            guard path.count > depth + 1 else {
                entries.append(.command(type))
                continue
            }
            let name = path.prefix(depth + 1).joined(separator: " ")
            guard entries.last?.name != name else { continue }
            let inner = types.filter { $0.declaration.path.starts(with: path.prefix(depth + 1)) }
            entries.append(.group(name, summary, inner))
        }
        return entries
    }

    /// Whether a hint may name it: it is a group, or deletes, undoes and discards nothing.
    var isHarmless: Bool { isGroup || !commands.contains(where: \.isDestructive) }
}

/// A section of the overview.
struct CommandChapter: Sendable {
    let title: String
    let entries: [CommandEntry]
}

/// The action that a command line requests.
enum Invocation: Sendable {
    case help(String)
    case version
    case run(any Command, isQuiet: Bool)
}

/// All commands of the program.
struct CommandTable: Sendable {
    let chapters: [CommandChapter]
    /// The lines of the page of a first day.
    var firstLines: [(line: String, meaning: String)] = []

    /// All commands and groups of the overview.
    var entries: [CommandEntry] { chapters.flatMap(\.entries) }

    /// All commands, including those in groups.
    var commands: [any Command.Type] { entries.flatMap(\.types) }

    /// The groups of commands.
    var groups: [CommandEntry] { entries.filter(\.isGroup) }

    /// The help page without a command.
    var overview: String { HelpText.overview(chapters: chapters) }

    /// The page of `hearth` alone.
    var beginning: String { HelpText.beginning(firstLines) }

    /// Finds the command and parses its words.
    /// - Throws: ``UsageError``
    func invocation(of words: [String]) throws -> Invocation {
        var rest = words[...]
        var isQuiet = false
        while let word = rest.first, word.hasPrefix("-"), word.utf8.count > 1 {
            switch word {
            case "--help", "-h": return .help(overview)
            case "--version": return .version
            case "--quiet", "-q": isQuiet = true
            default:
                let near = NearNames.words(String(word.drop { $0 == "-" }), among: ["help", "version", "quiet"])
                throw problem("unknown option \(word.quotedForTerminal)", near: near.map { "--\($0)" })
            }
            rest = rest.dropFirst()
        }
        guard let verb = rest.popFirst() else { return .help(beginning) }
        guard let entry = Self.named(verb, among: entries, name: \.name) else {
            throw problem(
                "unknown command \(verb.quotedForTerminal)",
                near: CommandHints(entries).lines(for: verb).map { "`hearth \($0)`" })
        }
        if entry.isGroup { return try invocation(in: entry, Array(rest), isQuiet: isQuiet) }
        return try invocation(of: entry.types[0], Array(rest), isQuiet: isQuiet)
    }

    private func invocation(in group: CommandEntry, _ words: [String], isQuiet: Bool) throws -> Invocation {
        var rest = words[...]
        if rest.first == "--help" || rest.first == "-h" { return .help(HelpText.page(group: group)) }
        // A noun alone lists.
        if rest.first?.hasPrefix("-") ?? true,
            let list = group.types.first(where: { $0.declaration.path.dropFirst(group.depth) == ["list"] })
        {
            return try invocation(of: list, Array(rest), isQuiet: isQuiet)
        }
        guard let verb = rest.popFirst() else { return .help(HelpText.page(group: group)) }
        let entries = group.entries
        guard let entry = Self.named(verb, among: entries, name: \.verb) else {
            let near = CommandHints(in: group).lines(for: verb).map { "`hearth \(group.name) \($0)`" }
            let help = "Run `hearth \(group.name) --help` for its commands."
            throw UsageError(
                "unknown command \("\(group.name) \(verb)".quotedForTerminal)",
                hint: near.isEmpty ? help : "Did you mean \(near.joined(separator: " or "))? \(help)")
        }
        if entry.isGroup { return try invocation(in: entry, Array(rest), isQuiet: isQuiet) }
        return try invocation(of: entry.types[0], Array(rest), isQuiet: isQuiet)
    }

    private func invocation<Type: Command>(of type: Type.Type, _ words: [String], isQuiet: Bool) throws -> Invocation {
        let command = type.init()
        let parameters = CommandParameters(of: command)
        let values = try ArgumentParser(declaration: type.declaration, parameters: parameters).parse(words)
        if values.has(.help) { return .help(HelpText.page(type.declaration, parameters)) }
        try parameters.take(values)
        return .run(command, isQuiet: isQuiet || values.has(.quiet))
    }

    private func problem(_ message: String, near: [String] = []) -> UsageError {
        let help = "Run `hearth --help` for the list."
        return UsageError(
            message, hint: near.isEmpty ? help : "Did you mean \(near.joined(separator: " or "))? \(help)")
    }

    // MARK: Words for a command

    /// Other words for commands, alone and in groups.
    static let synonyms: KeyValuePairs = ["run": "chat", "ls": "list", "info": "show", "rm": "remove"]

    /// The other word for a command outside groups.
    static func synonym(of path: [String]) -> String? {
        path.count == 1 ? synonyms.first { $0.value == path[0] }?.key : nil
    }

    /// The command or group that a word names, also with another word for it.
    static func named<Named>(_ word: String, among all: [Named], name: (Named) -> String) -> Named? {
        if let exact = all.first(where: { name($0) == word }) { return exact }
        guard let other = synonyms.first(where: { $0.key == word })?.value else { return nil }
        return all.first { name($0) == other }
    }
}
