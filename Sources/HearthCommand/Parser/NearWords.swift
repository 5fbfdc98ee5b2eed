import HearthCatalog
import HearthDelivery

extension NearNames {
    /// At most three similar words, the most similar first.
    static func words(_ word: String, among words: [String]) -> [String] {
        Array(of(words, to: word) { $0 }.prefix(3))
    }
}

/// Finds the commands that a mistyped word, or the word of another program, may have meant. Never finds one that deletes,
/// undoes or discards something.
struct CommandHints {
    private let entries: [CommandEntry]
    /// The words of other programs, each with the commands that do the same.
    private let others: [String: [String]]

    /// The hints for the first word of a command line.
    init(_ entries: [CommandEntry]) { (self.entries, others) = (entries, OtherWords.commands) }

    /// The hints for a word in a group.
    init(in group: CommandEntry) { (entries, others) = (group.entries, OtherWords.inGroups) }

    /// At most three commands without `hearth` or the group's name, the most likely first.
    func lines(for word: String) -> [String] {
        let word = word.lowercased()
        if let known = others[word] { return Array(known.filter(isHarmless).prefix(3)) }
        var own = entries.filter(\.isHarmless).map { (word: $0.verb, lines: [$0.verb]) }
        own += CommandTable.synonyms.map { (word: $0.key, lines: [$0.value]) }
        let foreign = others.sorted { $0.key < $1.key }.map { (word: $0.key, lines: $0.value) }
        let near = (own + foreign).enumerated().compactMap { index, candidate in
            Self.distance(from: word, to: candidate.word).map { ($0, index, candidate.lines) }
        }
        var lines: [String] = []
        for line in near.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }).flatMap(\.2)
        where isHarmless(line) && !lines.contains(line) {
            lines.append(line)
        }
        return Array(lines.prefix(3))
    }

    /// Whether a line names a command of the table that deletes nothing.
    private func isHarmless(_ line: String) -> Bool {
        var words = line.split(separator: " ").map(String.init)[...]
        var level = entries
        while let word = words.popFirst(), let entry = level.first(where: { $0.verb == word }) {
            guard entry.isGroup, !words.isEmpty else { return entry.isHarmless }
            level = entry.entries
        }
        return false
    }

    /// The number of wrong letters; `nil` for words that are not similar. The beginning of a word counts as one wrong letter.
    private static func distance(from word: String, to name: String) -> Int? {
        let distance = NearNames.distance(from: word, to: name)
        if distance <= max(1, max(word.count, name.count) / 3), distance < word.count { return distance }
        return word.count >= 2 && name.hasPrefix(word) || name.count >= 4 && word.hasPrefix(name) ? 1 : nil
    }
}
