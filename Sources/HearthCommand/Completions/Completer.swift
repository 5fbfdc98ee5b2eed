/// Names on this device that may complete a word.
protocol CompletionLookup: Sendable {
    var installed: [String] { get }
    var offered: [String] { get }
    /// The settings with their meanings.
    var settings: [(key: String, meaning: String)] { get }
    func values(ofSetting key: String) -> [String]
}

/// Finds what may come at the end of an unfinished command line.
struct Completer: Sendable {
    /// A word, or `:files` or `:folders` for names that the shell knows better.
    struct Candidate: Sendable, Hashable {
        let word: String
        var meaning = ""
    }

    let table: CommandTable
    let names: any CompletionLookup

    /// The candidates for the last of the words after `hearth`.
    func candidates(_ words: [String]) -> [Candidate] {
        guard let last = words.last else { return [] }
        var rest = words.dropLast()
        while let word = rest.first, word.hasPrefix("-") { rest = rest.dropFirst() }
        guard let verb = rest.popFirst() else {
            let options = HelpText.generalSections[0].rows.flatMap { row in
                row.name.split(separator: ", ").map { Candidate(word: String($0), meaning: row.meaning) }
            }
            let commands = table.entries.map { Candidate(word: $0.name, meaning: $0.summary) }
            return matching(last, last.hasPrefix("-") ? options : commands)
        }
        if verb == Help.declaration.path[0] { return help(Array(rest), last) }
        guard let entry = CommandTable.named(verb, among: table.entries, name: \.verb) else { return [] }
        return candidates(in: entry, Array(rest), last)
    }

    private func candidates(in entry: CommandEntry, _ words: [String], _ last: String) -> [Candidate] {
        guard entry.isGroup else { return candidates(of: entry.types[0], words, last) }
        guard let verb = words.first, !verb.hasPrefix("-") else {
            // A noun alone lists.
            let list = entry.entries.first { $0.verb == "list" }
            if let list, last.hasPrefix("-") || !words.isEmpty { return candidates(of: list.types[0], words, last) }
            return matching(last, entry.entries.map { Candidate(word: $0.verb, meaning: $0.summary) })
        }
        guard let inner = CommandTable.named(verb, among: entry.entries, name: \.verb) else { return [] }
        return candidates(in: inner, Array(words.dropFirst()), last)
    }

    /// The commands below those that are named, and the codes of errors.
    private func help(_ words: [String], _ last: String) -> [Candidate] {
        if last.hasPrefix("-") || words.last == "--man" { return candidates(of: Help.self, words, last) }
        var level = table.entries
        for word in words {
            guard let entry = level.first(where: { $0.verb == word }), entry.isGroup else { return [] }
            level = entry.entries
        }
        let codes = words.isEmpty && !last.isEmpty ? ErrorPage.codes.map { Candidate(word: $0) } : []
        return matching(last, level.map { Candidate(word: $0.verb, meaning: $0.summary) } + codes)
    }

    private func candidates(of type: any Command.Type, _ words: [String], _ last: String) -> [Candidate] {
        let parameters = CommandParameters(of: type.init())
        let shapes = parameters.optionShapes
        var given: Set<String> = []
        var positionals: [String] = []
        var pending: OptionShape?
        var areOptionsOver = false
        // bash makes a word of each equals sign.
        for word in words where word != "=" {
            if pending != nil {
                pending = nil
            } else if areOptionsOver || !word.hasPrefix("-") || word == "-" {
                positionals.append(word)
            } else if word == "--" {
                areOptionsOver = true
            } else if let shape = shapes.first(where: { $0.flag == word || $0.short.map { "-\($0)" } == word }) {
                given.insert(shape.name)
                if shape.valueName != nil { pending = shape }
            }
        }
        if let pending { return values(pending.completion, pending.valueName, last == "=" ? "" : last, positionals) }
        if !areOptionsOver, last.hasPrefix("-") {
            if let equals = last.firstIndex(of: "="), let shape = shapes.first(where: { $0.flag == last[..<equals] }) {
                let beginning = last[...equals]
                return values(shape.completion, shape.valueName, String(last[equals...].dropFirst()), positionals)
                    .map { $0.word.hasPrefix(":") ? $0 : Candidate(word: beginning + $0.word, meaning: $0.meaning) }
            }
            let open = shapes.filter { !given.contains($0.name) || $0.isRepeatable && $0.valueName != nil }
            return matching(last, open.map { Candidate(word: $0.flag, meaning: $0.help) })
        }
        let arguments = parameters.arguments.map(\.shape)
        guard let argument = positionals.count < arguments.count ? arguments[positionals.count] : arguments.last,
            positionals.count < arguments.count || argument.takesRest
        else { return [] }
        return values(argument.completion, argument.name, last, positionals)
    }

    private func values(_ completion: Completion, _ name: String?, _ last: String, _ before: [String]) -> [Candidate] {
        switch completion {
        case .words(let words): return matching(last, words.map { Candidate(word: $0) })
        case .installed: return matching(last, names.installed.map { Candidate(word: $0) })
        case .models:
            let offered = names.offered.filter { !names.installed.contains($0) }
            let families =
                names.installed.map { Candidate(word: $0, meaning: "installed") }
                + offered.map { Candidate(word: $0, meaning: "offered") }
            let isPath = last.contains("/") || last.hasPrefix(".")
            return isPath ? [Candidate(word: ":files")] : matching(last, families)
        case .settings:
            return matching(last, names.settings.map { Candidate(word: $0.key, meaning: $0.meaning) })
        case .settingValues:
            return matching(last, names.values(ofSetting: before.last ?? "").map { Candidate(word: $0) })
        case .files: return [Candidate(word: ":files")]
        case .folders: return [Candidate(word: ":folders")]
        case .none:
            // Names of files and folders are called so in every usage line.
            return switch name {
            case "FILE", "PATH": [Candidate(word: ":files")]
            case "FOLDER": [Candidate(word: ":folders")]
            default: []
            }
        }
    }

    private func matching(_ last: String, _ candidates: [Candidate]) -> [Candidate] {
        candidates.filter { $0.word.hasPrefix(last) }
    }
}
