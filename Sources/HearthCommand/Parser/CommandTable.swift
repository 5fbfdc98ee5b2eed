import HearthCatalog
import HearthDelivery

/// An entry of the overview: a command, or a group of commands such as `config`.
struct CommandEntry: Sendable {
    let name: String
    let summary: String
    let types: [any Command.Type]
    let isGroup: Bool

    /// A command.
    static func command(_ type: any Command.Type) -> Self {
        Self(name: type.declaration.path.last ?? "", summary: type.declaration.summary, types: [type], isGroup: false)
    }

    /// A group of commands.
    static func group(_ name: String, _ summary: String, _ types: [any Command.Type]) -> Self {
        Self(name: name, summary: summary, types: types, isGroup: true)
    }

    /// The declarations of its commands.
    var commands: [CommandDeclaration] { types.map { $0.declaration } }

    /// The words after its name: `create`, or `keys create` for a command of a group in it.
    var words: [String] {
        let own = name.split(separator: " ").count
        return commands.map { $0.path.dropFirst(own).joined(separator: " ") }
    }
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

    private var entries: [CommandEntry] { chapters.flatMap(\.entries) }

    /// All commands, including those in groups.
    var commands: [any Command.Type] { entries.flatMap(\.types) }

    /// The groups of commands.
    var groups: [CommandEntry] { entries.filter(\.isGroup) }

    /// The help page without a command.
    var overview: String { HelpText.overview(chapters: chapters) }

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
        guard let verb = rest.popFirst() else { throw problem("a command is missing") }
        if verb == "help" { return try help(on: Array(rest)) }
        guard let entry = entries.first(where: { $0.name == verb }) else {
            throw problem(
                "unknown command \(verb.quotedForTerminal)", near: NearNames.words(verb, among: entries.map(\.name)))
        }
        if entry.isGroup { return try invocation(in: entry, Array(rest), isQuiet: isQuiet) }
        return try invocation(of: entry.types[0], Array(rest), isQuiet: isQuiet)
    }

    private func help(on words: [String]) throws -> Invocation {
        words.isEmpty ? .help(overview) : try invocation(of: words.prefix(3) + ["--help"])
    }

    private func invocation(in group: CommandEntry, _ words: [String], isQuiet: Bool) throws -> Invocation {
        var rest = words[...]
        let help = "Run `hearth \(group.name) --help` for its commands."
        if rest.first == "--help" || rest.first == "-h" { return .help(HelpText.page(group: group)) }
        let depth = group.name.split(separator: " ").count
        // A noun alone lists.
        if rest.first?.hasPrefix("-") ?? true,
            let list = group.types.first(where: { $0.declaration.path.dropFirst(depth) == ["list"] })
        {
            return try invocation(of: list, Array(rest), isQuiet: isQuiet)
        }
        guard let verb = rest.popFirst() else { throw UsageError("hearth \(group.name) needs a command", hint: help) }
        let inner = group.types.filter { type in
            let path = type.declaration.path
            return path.count > depth + 1 && path[depth] == verb
        }
        if !inner.isEmpty {
            let entry = CommandEntry(
                name: "\(group.name) \(verb)", summary: group.summary, types: inner, isGroup: true)
            return try invocation(in: entry, Array(rest), isQuiet: isQuiet)
        }
        guard let type = group.types.first(where: { $0.declaration.path.dropFirst(depth) == [verb] }) else {
            let near = NearNames.words(verb, among: group.words)
            let hint = near.isEmpty ? help : "Did you mean \(near.joined(separator: " or "))? \(help)"
            throw UsageError("unknown command \("\(group.name) \(verb)".quotedForTerminal)", hint: hint)
        }
        return try invocation(of: type, Array(rest), isQuiet: isQuiet)
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
}
