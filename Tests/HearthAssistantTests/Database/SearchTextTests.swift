import Foundation
import Testing

@testable import HearthAssistant

@Suite struct SearchTextTests {
    @Test(arguments: [
        ("", ""), ("  !? — ", ""), ("Hello, World", "hello world"), ("Café Größe ŁÓDŹ", "cafe grosse lodz"),
        ("İstanbul ISPARTA ısı", "istanbul isparta isi"), ("naïve cafe\u{301}", "naive cafe"),
        ("Ærø Œuvre Þing", "aero oeuvre thing"), ("ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"),
        ("Ёлка ЙОД", "елка иод"), ("ＡＢＣ１２３ ½", "abc123 12"), ("don't l’homme", "don t l homme"),
        ("snake_case v2.0", "snake case v2 0"), ("Donau\u{AD}dampf", "donaudampf"), ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"), ("日本語のテスト", "日本語のテスト"), ("ｶﾞｷﾞ", "ガギ"), ("が か", "が か"),
        ("iPhone用ケース", "iphone 用ケース"), ("한국어를", "한국어를"), ("\u{301}alone", "alone"), ("👩‍👩‍👧 x", "x"),
        ("a\u{0}b", "a b"), ("हिन्दी", "हिन्दी"), ("1️⃣ one", "1 one"),
    ])
    func textsAreFolded(_ text: String, _ folded: String) {
        #expect(SearchText.folded(text) == folded)
    }

    @Test func rangesAreThoseOfTheText() {
        let text = "Größe 日本、Ünder\u{AD}ground"
        let parts = SearchText.tokens(of: text).map { String(text[$0.range]) }
        #expect(parts == ["Größe", "日本", "Ünder\u{AD}ground"])
    }

    @Test func longWordsAreCut() {
        let folded = SearchText.folded(
            String(repeating: "A", count: 100_000) + " " + String(repeating: "é", count: 999))
        #expect(folded.split(separator: " ").map(\.count) == [64, 64])
    }

    @Test(arguments: [
        ("plain words", "plain words", ""), ("日本語 本", "", "日本 本語 語 本"), ("東京タワー", "", "東京 京タ タワ ワー ー"),
        ("a日b", "a b", "日"),
    ])
    func columnsSplitWordsAndRuns(_ text: String, _ words: String, _ pairs: String) {
        let columns = FullText.columns(of: text)
        #expect(columns.words == words)
        #expect(columns.pairs == pairs)
    }

    @Test(arguments: [
        ("ab", "{words} : \"ab\""), ("abc", "{words} : \"abc\" *"), ("日", "{pairs} : \"日\" *"),
        ("日本語", "{pairs} : \"日本 本語\""), ("Éa 東京 éa", "{words} : \"ea\" AND {pairs} : \"東京\""),
        ("\"* OR", "{words} : \"or\""),
    ])
    func expressionsHaveAllTerms(_ text: String, _ expression: String) {
        #expect(SearchQuery(text).expression(columns: "words") == expression)
    }

    @Test func longQueriesAreCut() {
        let words = (0..<1000).map { "w\($0)" }.joined(separator: " ")
        #expect(SearchQuery(words).terms.count == 16)
        #expect(SearchQuery(String(repeating: "x", count: 1 << 20)).terms.map(\.text.count) == [64])
    }

    @Test(arguments: [
        ("the quick brown fox", "quick fox", true), ("the quick brown fox", "qui", true),
        ("the quick brown fox", "qu", false), ("the quick brown fox", "uick", false), ("on it", "it", true),
        ("東京都に住む", "京都", true), ("東京都に住む", "東都", false), ("anything", "", false),
        ("Crème brûlée", "BRULEE creme", true),
    ])
    func queriesMatchTexts(_ text: String, _ words: String, _ isFound: Bool) {
        #expect(SearchQuery(words).matches(text) == isFound)
    }

    @Test(arguments: [
        ("short text", "text", "short text"), ("no hit here", "missing", "no hit here"), ("", "x", ""),
        ("one\n\n  two\tthree", "two", "one two three"),
    ])
    func excerptsAreOneLine(_ text: String, _ words: String, _ excerpt: String) {
        #expect(SearchQuery(words).excerpt(of: text) == excerpt)
    }

    @Test func excerptsOfLongTextsShowTheWord() {
        let filler = String(repeating: "lorem ipsum ", count: 500)
        for text in [
            filler + "needle " + filler, "needle " + filler, filler + "needle", String(repeating: "x", count: 9999),
        ] {
            let excerpt = SearchQuery("needle").excerpt(of: text)
            #expect(excerpt.count <= 160)
            #expect(excerpt.contains("…"))
            #expect(excerpt.contains("needle") == text.contains("needle"))
        }
    }
}
