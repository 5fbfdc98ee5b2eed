/// A part of a text between blanks, as the grammar of typed words compares it.
struct WordToken {
    /// The place in the text, with punctuation.
    let range: Range<String.Index>
    /// The word in lower case without the punctuation around it; the point of an ordinal such as `3.` stays.
    let word: String
    /// Whether it begins with a capital letter.
    let isCapital: Bool
    let opensBracket: Bool
    let closesBracket: Bool
    /// Whether punctuation follows it.
    let endsClause: Bool
    /// Whether it stands between quotation marks, where nothing is a time.
    var isQuoted = false
}

/// Splits a text at its blanks, in time that grows with its length alone.
struct WordTokenizer {
    private static let opening: Set<Unicode.Scalar> = [
        "(", "[", "{", "\"", "„", "“", "”", "«", "»", "'", "‘", "‚", "*",
    ]
    private static let closing: Set<Unicode.Scalar> = [
        ")", "]", "}", "\"", "“", "”", "«", "»", "'", "’", "‘", ",", ";", ":", "!", "?", "…", "*",
    ]
    private static let quotes: Set<Unicode.Scalar> = ["\"", "„", "“", "”", "«", "»"]
    private static let clauseEnds: Set<Unicode.Scalar> = [",", ";", ":", "!", "?", ".", ")", "…"]

    /// The words of a text.
    /// - Returns: `nil` if they are more than the most.
    static func tokens(of text: String, atMost most: Int) -> [WordToken]? {
        let scalars = text.unicodeScalars
        var tokens: [WordToken] = []
        var quoteStart: Int?
        var index = scalars.startIndex
        while index < scalars.endIndex {
            guard !isBlank(scalars[index]) else {
                index = scalars.index(after: index)
                continue
            }
            guard tokens.count < most else { return nil }
            let start = index
            while index < scalars.endIndex, !isBlank(scalars[index]) { index = scalars.index(after: index) }
            tokens.append(token(scalars[start..<index]))
            markQuotes(scalars[start..<index], &tokens, &quoteStart)
        }
        return tokens
    }

    /// Blanks and control characters separate words.
    static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }

    private static func token(_ whole: Substring.UnicodeScalarView) -> WordToken {
        var core = whole
        while let first = core.first, opening.contains(first) { core.removeFirst() }
        while let last = core.last, closing.contains(last) { core.removeLast() }
        let hadPoint = core.last == "."
        // `3.` and `3.5.` are ordinals; the point of `tomorrow.` ends a sentence.
        while core.last == ".", !core.dropLast().allSatisfy({ isDigit($0) || $0 == "." }) || core.count == 1 {
            core.removeLast()
        }
        var word = String(core).lowercased()
        if word.isEmpty { word = ["-", "–", "—"].first { String(whole) == $0 } ?? "" }
        if word.contains("’") { word = String(word.map { $0 == "’" ? "'" : $0 }) }
        if ["a.m", "p.m"].contains(word) { word.remove(at: word.index(after: word.startIndex)) }
        return WordToken(
            range: whole.startIndex..<whole.endIndex, word: word,
            isCapital: core.first?.properties.isUppercase ?? false,
            opensBracket: whole.first == "(" || whole.first == "[",
            closesBracket: whole.contains { $0 == ")" || $0 == "]" },
            endsClause: whole.last.map { clauseEnds.contains($0) } ?? false && (!hadPoint || !core.hasSuffix(".")))
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// Marks the tokens between two quotation marks; one alone marks nothing.
    private static func markQuotes(
        _ whole: Substring.UnicodeScalarView, _ tokens: inout [WordToken], _ start: inout Int?
    ) {
        for scalar in whole where quotes.contains(scalar) {
            guard let first = start else {
                start = tokens.count - 1
                continue
            }
            for index in first..<tokens.count { tokens[index].isQuoted = true }
            start = nil
        }
    }
}

extension Substring.UnicodeScalarView {
    fileprivate func hasSuffix(_ scalar: Unicode.Scalar) -> Bool { last == scalar }
}
