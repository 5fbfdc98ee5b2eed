import Foundation
import HearthTestSupport
import Testing

@testable import HearthInference

@Suite(.timeLimit(.minutes(5))) struct PatternTests {
    private func matched(_ pattern: String, _ text: String) throws -> Bool? { try Pattern(pattern).matches(text) }

    @Test(
        arguments: [
            ("^\\d{5}$", "12345", true), ("^\\d{5}$", "1234", false), ("\\S", " a ", true), ("\\S", " \n", false),
            ("^[\\s\\S]{0,3}$", "a\n", true), ("^[\\s\\S]{0,3}$", "abcd", false), ("^a\\/b\\-c$", "a/b-c", true),
            ("^\\u0041\\x42\\u{43}$", "ABC", true), ("^(?:cat|dog)s?$", "dogs", true),
            ("^(?<year>\\d{4})$", "2024", true),
            ("^(?=.*[A-Z])(?=.*\\d).{4,}$", "aB3d", true), ("^(?=.*[A-Z])(?=.*\\d).{4,}$", "ab3d", false),
            ("^(?!.*\\.\\.)[a-z.]+$", "a.b", true), ("^(?!.*\\.\\.)[a-z.]+$", "a..b", false),
            ("^(?!-)[a-z-]+(?<!-)$", "a-b", true), ("^(?!-)[a-z-]+(?<!-)$", "ab-", false),
            ("^((?!foo).)*$", "bar", true), ("^((?!foo).)*$", "afoo", false), ("^(a|b)\\1$", "aa", true),
            ("^(a|b)\\1$", "ab", false), ("\\bcat\\b", "a cat!", true), ("\\bcat\\b", "cats", false), ("", "x", true),
            ("^$", "", true), ("^$", "a", false), ("^a|b$", "ax", true), ("^a|b$", "xb", true), ("^a|b$", "xa", false),
            ("(^a$)|(^b$)", "b", true), ("^[^]]+$", "a]", false), ("^[-+]?\\d+$", "-3", true), ("^[a\\-z]$", "-", true),
            ("^[\\w.-]+$", "a_b.c-d", true), ("^\\p{L}+$", "Zoë", true), ("^\\p{Lu}$", "a", false),
            ("^(?i)abc$", "aBC", true), ("^(?i:a)b$", "AB", false), ("^x{2}{3}?$", "xx", nil),
            ("^a{,3}$", "a{,3}", nil),
            ("^a{x}$", "a{x}", true), ("^\\.\\*$", ".*", true), ("^(?P<n>a)(?P=n)$", "aa", true),
            ("\\Aab\\Z", "ab", true),
            ("^[[:alpha:]]+$", "ab", true), ("^.$", "\n", false), ("^.$", "😀", true), ("^\\ud83d\\ude00$", "😀", true),
            ("^[^\\d]$", "5", false), ("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false),
            ("^(a|a|a)*$", String(repeating: "a", count: 3000) + "b", false), ("^/a/$", "/a/", true),
        ] as [(String, String, Bool?)])
    func readsExpressions(pattern: String, text: String, fits: Bool?) throws {
        guard let fits else {
            // Read without a crash; dialects differ about the meaning.
            _ = try? Pattern(pattern)
            return
        }
        #expect(try matched(pattern, text) == fits)
        if let automaton = try Pattern(pattern).matching { #expect(automaton.matches(text.unicodeScalars) == fits) }
    }

    @Test(arguments: [
        "(", ")", "[", "[z-a]", "*a", "a**", "(?<>a)", "\\", "(?'a'b)", "\\p{Nonsense}", "a{3,2}", "(?P=x)",
    ])
    func refusesWhatIsNoExpression(pattern: String) {
        #expect(throws: PatternFlaw.self) { try Pattern(pattern) }
    }

    @Test func deepAndLongExpressionsAreRefused() {
        #expect(throws: PatternFlaw.self) { try Pattern(String(repeating: "(", count: 10_000)) }
        #expect(throws: PatternFlaw.self) { try Pattern(String(repeating: "a", count: 20_000)) }
    }

    /// The two ways to decide agree, for random expressions and texts.
    @Test func automataAndBacktrackingAgree() throws {
        let pieces = [
            "a", "b", "[ab]", "[^a]", ".", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!", "|", "*", "+", "?", "{2}",
            "{1,2}", "^",
            "$", "\\b", "\\w", "\\W", "-",
        ]
        var random = SeededGenerator(seed: 11)
        var compared = 0
        for _ in 0..<(TestExtent.isFull ? 60_000 : 6000) {
            let source = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            guard let pattern = try? Pattern(source), let automaton = pattern.matching else { continue }
            for _ in 0..<6 {
                let text = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    ["a", "b", "-", "c", "\n"].randomElement(using: &random) ?? ""
                }.joined()
                guard let found = pattern.matches(text) else { continue }
                compared += 1
                #expect(found == automaton.matches(text.unicodeScalars), "\(source) in \(text.debugDescription)")
            }
        }
        #expect(compared > 5000)
    }

    /// A text that an automaton's states lead to.
    private func drawn(_ machine: TextMachine, _ random: inout SeededGenerator) -> String? {
        var state: UInt64 = 0
        var text = String.UnicodeScalarView()
        while text.count < 400 {
            if machine.mayEnd(state), !machine.canGrow(state) || Int.random(in: 0..<4, using: &random) == 0 {
                return (try? JSONSerialization.jsonObject(with: Data("[\"\(String(text))\"]".utf8)) as? [String])?.first
            }
            let letters = (UInt32(0x20)...0x7E).shuffled(using: &random) + [0xE9, 0x4E2D, 0x1F600]
            guard
                let (next, value) = letters.lazy.compactMap({ value in machine.step(state, value).map { ($0, value) } })
                    .first,
                let scalar = Unicode.Scalar(value)
            else { return nil }
            state = next
            text.append(scalar)
        }
        return nil
    }

    /// Texts written for the expressions of published tools match them by a foreign engine too.
    @Test func writtenTextsMatchForeignEngines() throws {
        var random = SeededGenerator(seed: 3)
        var held = 0
        for source in PatternCorpus.patterns {
            let texts = try Pattern(source).texts
            if texts.isLoosened { continue }
            held += 1
            let machine = TextMachine(texts.automaton, fewest: texts.fewest, most: texts.most ?? 60)
            #expect(!machine.isEmpty, "\(source)")
            let expression = try? NSRegularExpression(pattern: source)
            for _ in 0..<10 {
                guard let text = drawn(machine, &random) else { continue }
                #expect(try matched(source, text) == true, "\(source): \(text.debugDescription)")
                if let expression {
                    let range = NSRange(text.startIndex..., in: text)
                    #expect(
                        expression.firstMatch(in: text, range: range) != nil, "\(source): \(text.debugDescription)")
                }
            }
        }
        #expect(PatternCorpus.patterns.count == 60 && held >= 58)
    }

    @Test func wordsOfFewTextsAreListed() throws {
        #expect(
            try Pattern("^(red|green)s?$").texts.automaton.words(atMost: 8)?.sorted() == [
                "green", "greens", "red", "reds",
            ])
        #expect(try Pattern("^[a-z]{2}$").texts.automaton.words(atMost: 8) == nil)
        #expect(try Pattern("a").texts.automaton.words(atMost: 8) == nil)
    }

    /// No expression takes for ever, and no text either.
    @Test func workIsBounded() throws {
        for source in [
            "^(a*)*(b*)*c$", "(.*)(.*)(.*)(.*)(.*)(.*)x", "^(?:(?:(?:a{50}){50}){50}){50}$", "a.{200}b.{200}c",
            ".*a.{30}$",
            "^(?=.*a.{20}$)(?=.*b.{20}$)(?=.*c.{20}$).*$",
            String(repeating: "(a|", count: 40) + "b" + String(repeating: ")*", count: 40),
            "^(\\w+\\s?)*$", "(x+x+)+y", "^[\\s\\S]{0,100000}$", "^(ab|cd){1,100000}$",
        ] {
            guard let pattern = try? Pattern(source) else { continue }
            _ = pattern.texts
            _ = pattern.matches(String(repeating: "ab ", count: 2000) + "!")
        }
    }
}
