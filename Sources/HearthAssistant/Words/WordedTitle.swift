/// The words of a text that are left when those that say a time are gone.
enum WordedTitle {
    private static let marks: Set<Character> = [",", ";", ":", "-", "–", "—", " ", "\t"]

    /// The title: the other words in their order and spelling.
    static func text(_ line: String, _ tokens: [WordToken], without used: [Range<Int>]) -> String {
        var isUsed = Array(repeating: false, count: tokens.count)
        for range in used { for index in range { isUsed[index] = true } }
        var parts: [Substring] = []
        var index = 0
        while index < tokens.count {
            guard !isUsed[index] else {
                index += 1
                continue
            }
            let first = index
            while index < tokens.count, !isUsed[index] { index += 1 }
            parts.append(line[tokens[first].range.lowerBound..<tokens[index - 1].range.upperBound])
        }
        var title = parts.joined(separator: " ")[...]
        // Marks that have joined the words to those that are gone.
        if isUsed.first == true { title = title.drop { marks.contains($0) } }
        if isUsed.last == true { while let last = title.last, marks.contains(last) { title.removeLast() } }
        return String(title)
    }

    /// The words at some places.
    static func words(_ line: String, _ tokens: [WordToken], _ range: Range<Int>) -> String {
        guard let first = range.first, let last = range.last else { return "" }
        return String(line[tokens[first].range.lowerBound..<tokens[last].range.upperBound])
    }
}

/// The place of an event.
enum WordedPlace {
    /// Subjects and states that `in` leads to as it leads to places.
    private static let noPlaces: Set<String> = [
        "ruhe", "eile", "form", "mathe", "mathematik", "deutsch", "englisch", "französisch", "spanisch", "latein",
        "physik",
        "chemie", "biologie", "bio", "geschichte", "informatik", "sport", "musik", "kunst", "zivil", "uniform",
        "schwarz",
        "bar", "raten", "maths", "english", "german", "french", "spanish", "latin", "physics", "chemistry", "history",
        "teilzeit", "vollzeit", "elternzeit", "rente", "trauer", "begleitung", "java", "python", "swift",
    ]

    /// The words of a place: `at Luigi's` or `in Köln` at the end of the text, behind words that say a time.
    static func find(in tokens: [WordToken], after used: [Range<Int>], _ language: WordLanguage) -> Range<Int>? {
        guard let start = used.map(\.upperBound).max(), start < tokens.count - 1, tokens.count - start <= 7 else {
            return nil
        }
        let leads: Set<String> = language == .english ? ["at", "in"] : ["in", "bei", "beim", "im"]
        guard leads.contains(tokens[start].word), tokens[start + 1].isCapital,
            !noPlaces.contains(tokens[start + 1].word)
        else { return nil }
        let links: Set<String> = ["of", "the", "and", "&", "am", "der", "an"]
        let isName = tokens[(start + 1)...].allSatisfy {
            $0.isCapital || links.contains($0.word) || $0.word.first?.isNumber == true
        }
        guard isName, !tokens[start..<tokens.count - 1].contains(where: { $0.endsClause || $0.isQuoted }) else {
            return nil
        }
        return start..<tokens.count
    }
}
