import HearthCatalog
import HearthDelivery

/// Splits the words of a command line by a command's parameters, without converting them.
struct ArgumentParser {
    let declaration: CommandDeclaration
    let parameters: CommandParameters

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
        if options[Flag.help.shape.name] == nil {
            try check(positionals)
            if let missing = declaration.requiredOptions.first(where: { options[$0] == nil }) {
                throw problem("\(declaration.commandLine) needs --\(missing)")
            }
        }
        return ParsedArguments(declaration: declaration, options: options, positionals: positionals)
    }

    private func option(of word: String) throws -> (OptionShape, attached: String?) {
        let known = parameters.optionShapes
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
        if next == "--" || parameters.optionShapes.contains(where: { $0.flag == name }) {
            throw problem(
                "\(shape.flag) needs a value (\(valueName)); write \(shape.flag)=\(next.shownOnTerminal) if that is it"
            )
        }
        rest = rest.dropFirst()
        return next
    }

    private func check(_ positionals: [String]) throws {
        let shapes = parameters.arguments.map(\.shape)
        let required = shapes.filter(\.isRequired)
        if positionals.count < required.count {
            throw problem("\(declaration.commandLine) needs \(required[positionals.count].name)")
        }
        if shapes.last?.takesRest != true, positionals.count > shapes.count {
            throw problem("unexpected argument \(positionals[shapes.count].quotedForTerminal)")
        }
    }

    private func problem(_ message: String, near: [String] = []) -> UsageError {
        UsageError(message, hint: declaration.hint(near: near))
    }
}

/// The words of a command line by parameter, not yet converted.
struct ParsedArguments: Sendable {
    let declaration: CommandDeclaration
    let options: [String: [String]]
    let positionals: [String]

    /// Whether a flag was given.
    func has(_ flag: Flag) -> Bool { options[flag.shape.name] != nil }

    /// The words of the argument at a place.
    func positionals(of shape: ArgumentShape, at index: Int) -> [String] {
        guard index < positionals.count else { return [] }
        return Array(shape.takesRest ? positionals[index...] : positionals[index...index])
    }
}
