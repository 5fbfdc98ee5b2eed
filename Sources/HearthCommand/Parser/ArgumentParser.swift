import HearthCatalog
import HearthDelivery

/// Splits the words of a command line by a command's declaration, without converting them.
struct ArgumentParser {
    let declaration: CommandDeclaration

    /// Parses the words after the command's name.
    ///
    /// `--name value`, `--name=value`, `-q`; `--` ends the options; a single `-` is a word. A value may begin with a
    /// hyphen unless it is one of the command's options.
    /// - Throws: ``UsageError``
    func parse(_ words: [String]) throws -> ParsedArguments {
        var options: [String: [String]] = [:]
        var positionals: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positionals += rest
                break
            }
            guard word.utf8.count > 1, word.utf8.first == UInt8(ascii: "-") else {
                positionals.append(word)
                continue
            }
            let (shape, attached) = try option(of: word)
            guard let valueName = shape.valueName else {
                if attached != nil { throw problem("\(shape.flag) takes no value") }
                options[shape.name, default: []].append("")
                continue
            }
            if options[shape.name] != nil && !shape.isRepeatable { throw problem("\(shape.flag) is given twice") }
            options[shape.name, default: []].append(
                try attached ?? value(for: shape, valueName: valueName, from: &rest))
        }
        // With `--help`, other errors don't matter.
        if options[Flag.help.shape.name] == nil { try check(positionals) }
        return ParsedArguments(declaration: declaration, options: options, positionals: positionals)
    }

    private func option(of word: String) throws -> (OptionShape, attached: String?) {
        let known = declaration.allOptions
        guard word.hasPrefix("--") else {
            if let shape = known.first(where: { $0.short.map { "-\($0)" } == word }) { return (shape, nil) }
            throw problem("unknown option \(word.quotedForTerminal)")
        }
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        guard let shape = known.first(where: { $0.name == name }) else {
            let near = NearNames.words(name, among: known.map(\.name)).map { "--\($0)" }
            throw problem("unknown option \("--\(name)".quotedForTerminal)", near: near)
        }
        return (shape, parts.count == 2 ? String(parts[1]) : nil)
    }

    private func value(for shape: OptionShape, valueName: String, from rest: inout ArraySlice<String>) throws
        -> String
    {
        guard let next = rest.first else { throw problem("\(shape.flag) needs a value (\(valueName))") }
        let name = next.prefix { $0 != "=" }
        if next == "--" || declaration.allOptions.contains(where: { $0.flag == name }) {
            throw problem(
                "\(shape.flag) needs a value (\(valueName)); write \(shape.flag)=\(next.shownOnTerminal) if that is it"
            )
        }
        rest = rest.dropFirst()
        return next
    }

    private func check(_ positionals: [String]) throws {
        let shapes = declaration.arguments.map(\.shape)
        let required = shapes.filter { $0.arity != .optional }.count
        if positionals.count < required {
            let missing = shapes.filter { $0.arity != .optional }[positionals.count].name
            throw problem("\(declaration.commandLine) needs \(missing)")
        }
        if shapes.last?.arity != .oneOrMore, positionals.count > shapes.count {
            throw problem("unexpected argument \(positionals[shapes.count].quotedForTerminal)")
        }
    }

    private func problem(_ message: String, near: [String] = []) -> UsageError {
        UsageError(message, hint: declaration.hint(near: near))
    }
}

extension CommandDeclaration {
    /// The hint of what to type: similar names, then where to find help.
    func hint(near: [String] = []) -> String {
        let help = "Run `\(commandLine) --help` for usage."
        return near.isEmpty ? help : "Did you mean \(near.joined(separator: " or "))? \(help)"
    }
}

/// The parsed words of a command line; values are converted when they are read.
struct ParsedArguments: Sendable {
    let declaration: CommandDeclaration
    let options: [String: [String]]
    let positionals: [String]

    /// Whether a flag was given.
    func has(_ flag: Flag) -> Bool { options[flag.shape.name] != nil }

    /// An option's value, `nil` if it is absent.
    /// - Throws: ``UsageError``
    func value<Value>(_ option: Option<Value>) throws -> Value? { try values(option).last }

    /// All values of a repeatable option.
    /// - Throws: ``UsageError``
    func values<Value>(_ option: Option<Value>) throws -> [Value] {
        try (options[option.shape.name] ?? []).map { try convert($0, option.kind, name: option.shape.flag) }
    }

    /// The value of a required argument.
    /// - Throws: ``UsageError``
    func value<Value>(_ argument: Argument<Value>) throws -> Value {
        guard let value = try values(argument).first else {
            throw UsageError(
                "\(declaration.commandLine) needs \(argument.shape.name)", hint: declaration.hint())
        }
        return value
    }

    /// The value of an optional argument.
    /// - Throws: ``UsageError``
    func optional<Value>(_ argument: Argument<Value>) throws -> Value? { try values(argument).first }

    /// All words of an argument.
    /// - Throws: ``UsageError``
    func values<Value>(_ argument: Argument<Value>) throws -> [Value] {
        let shapes = declaration.arguments.map(\.shape)
        guard let index = shapes.firstIndex(of: argument.shape), index < positionals.count else { return [] }
        let words = argument.shape.arity == .oneOrMore ? positionals[index...] : positionals[index...index]
        return try words.map { try convert($0, argument.kind, name: argument.shape.name) }
    }

    private func convert<Value>(_ word: String, _ kind: ValueKind<Value>, name: String) throws -> Value {
        guard let value = try kind.parse(word) else {
            throw UsageError(
                "\(name) must be \(kind.expectation), not \(word.quotedForTerminal)", hint: declaration.hint())
        }
        return value
    }
}
