import Foundation

/// The columns and queries of the full text indexes.
///
/// The indexes use FTS5's `ascii` tokenizer over texts that ``SearchText`` has folded and split: it splits at spaces and
/// changes nothing else. Words and runs have a column each. A run is written as its pairs of characters and its last
/// character, so that a phrase of pairs finds it inside a sentence and no phrase goes from one run to the next.
package enum FullText {
    /// The folded words of a text, and the pairs of its runs.
    package static func columns(of text: String) -> (words: String, pairs: String) {
        var words = ""
        var pairs = ""
        SearchText.forEachToken(of: text) { token in
            switch token.kind {
            case .word: append(token.text, to: &words)
            case .run: for pair in self.pairs(of: token.text, closed: true) { append(pair, to: &pairs) }
            }
            return true
        }
        return (words, pairs)
    }

    private static func append(_ word: some StringProtocol, to text: inout String) {
        if !text.isEmpty { text += " " }
        text += word
    }

    /// The pairs of neighbouring characters; with the last character alone if the run is closed.
    private static func pairs(of run: String, closed: Bool) -> [Substring] {
        var pairs: [Substring] = []
        var index = run.startIndex
        while index < run.endIndex {
            let next = run.index(after: index)
            if next == run.endIndex {
                if closed || pairs.isEmpty { pairs.append(run[index...]) }
            } else {
                pairs.append(run[index...next])
            }
            index = next
        }
        return pairs
    }
}

/// The words that a user searches for; any text is a search.
package struct SearchQuery: Sendable, Hashable {
    /// The distinct words and runs, at most 16.
    package let terms: [Term]

    /// A word or run of the search.
    package struct Term: Sendable, Hashable {
        package let kind: SearchText.Kind
        package let text: String

        /// Whether the term also matches the beginning of a word.
        var isPrefix: Bool { kind == .word && text.unicodeScalars.count >= 3 }

        /// Whether a token of a text matches.
        package func matches(_ token: SearchText.Token) -> Bool {
            guard token.kind == kind else { return false }
            if kind == .run { return token.text.contains(text) }
            return isPrefix ? token.text.hasPrefix(text) : token.text == text
        }
    }

    /// Reads the words of a user's text; of a long one its first 16.
    package init(_ text: String) {
        var terms: [Term] = []
        let beginning = String(text.prefix(2000))
        for token in SearchText.tokens(of: beginning, limit: 200) {
            let term = Term(kind: token.kind, text: token.text)
            if !terms.contains(term) { terms.append(term) }
            if terms.count == 16 { break }
        }
        self.terms = terms
    }

    package var isEmpty: Bool { terms.isEmpty }

    /// The text for `MATCH` in an index with these columns of words and a column `pairs`. All terms must match.
    package func expression(columns: String) -> String {
        let parts = terms.map { term in
            // A folded term has letters, digits and marks alone, so that its quotation marks cannot end early.
            switch term.kind {
            case .word: "{\(columns)} : \"\(term.text)\"\(term.isPrefix ? " *" : "")"
            case .run: "{pairs} : \"\(FullText.phrase(of: term.text))\"\(term.text.count == 1 ? " *" : "")"
            }
        }
        return parts.joined(separator: " AND ")
    }

    /// Whether a text has all terms.
    package func matches(_ text: String) -> Bool {
        guard !isEmpty else { return false }
        var missing = terms
        SearchText.forEachToken(of: text) { token in
            missing.removeAll { $0.matches(token) }
            return !missing.isEmpty
        }
        return missing.isEmpty
    }

    /// The text around the first found word on one line, at most `limit` characters.
    package func excerpt(of text: String, limit: Int = 160) -> String {
        var found: Range<String.Index>?
        SearchText.forEachToken(of: text) { token in
            if terms.contains(where: { $0.matches(token) }) { found = token.range }
            return found == nil
        }
        let middle = found?.lowerBound ?? text.startIndex
        // White space is shortened afterwards, so that more is taken than fits.
        let before = text[..<middle].suffix(limit * 2).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let after = text[middle...].prefix(limit * 2).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let gap = before.isEmpty || !(text[..<middle].last?.isWhitespace ?? false) ? "" : " "
        let lead = String((before + gap).suffix(limit / 4))
        let isCutBefore = lead.count < before.count + gap.count || before.count >= limit * 2
        let start = isCutBefore ? "…" + lead.drop { !$0.isWhitespace && lead.contains(where: \.isWhitespace) } : lead
        let whole = start + after
        guard whole.count > limit || text[middle...].count > limit * 2 else { return whole }
        return whole.prefix(limit - 1) + "…"
    }
}

extension FullText {
    /// The phrase that finds a run inside longer ones.
    fileprivate static func phrase(of run: String) -> String { pairs(of: run, closed: false).joined(separator: " ") }
}
