import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

@Suite struct CanaryTests {
    @Test(
        arguments: [
            ("paris", "It is paris.", true), ("paris", "It is Paris.", false), ("(?i)paris", "It is PARIS.", true),
            ("(?i)ÄÖ", "äö", true), ("^a", "ba", false), ("^a", "ab", true), ("a$", "ba", true), ("a$", "ab", false),
            ("^$", "", true), ("^$", "x", false), ("a|b|cd", "xcd", true), ("a|b|cd", "xc", false), ("", "x", nil),
            ("[a-c]+z", "aabz", true), ("[^a-c]z", "az", false), ("[^a-c]z", "xz", true), ("[]x]", "]", true),
            ("[a-]", "-", true), ("a{2,3}b", "aab", true), ("^a{2,3}b", "aaaab", false), ("a{2}", "a", false),
            ("a{2,}", "xaaax", true), ("^(ab)*$", "ababab", true), ("^(ab)*$", "aba", false),
            ("(?:a|b)+c", "abac", true),
            ("colou?r", "color", true), ("\\d+ km", "12 km", true), ("\\w\\s\\w", "a\tb", true), ("\\.", "a", false),
            (".", "\n", false), ("a.c", "abc", true), ("(a*)*b", "aab", true), ("x*?y", "xxy", true),
            ("$", "abc", true),
            ("\\S\\D\\W", "ab-", true), ("^^a", "a", true), ("a$|^b", "bc", true), ("\\n", "a\nb", true),
        ] as [(String, String, Bool?)])
    func patternsMatchAsEverybodyExpects(_ pattern: String, _ text: String, _ expected: Bool?) {
        #expect(CanaryPattern(pattern)?.occurs(in: text) == expected)
    }

    @Test(arguments: [
        "", "(", ")", "a)", "(a", "[", "[a", "a{", "a{2", "a{3,2}", "a{999}", "*a", "a**", "(?=a)", "(?<n>a)", "(a)\\1",
        "\\b", "\\p{L}", "[z-a]", "[\\W]", "{", "}", "^*", "a{1,2}{3}", "\\",
        "((((((((((((((((((((((((((((((((((a",
        "(((a{99}){99}){99})", "((a{99}){99}){99}",
        String(repeating: "a", count: 513), String(repeating: "(", count: 200) + String(repeating: ")", count: 200),
    ])
    func whatIsNotUnderstoodIsRefused(_ pattern: String) { #expect(CanaryPattern(pattern) == nil) }

    /// What hangs engines that try one way after the other ends here after a number of steps that can be counted.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){20}$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a?){200}a{200}", "(x+x+)+y",
        ])
    func noPatternTakesLong(_ pattern: String) throws {
        let pattern = try #require(CanaryPattern(pattern))
        for text in [String(repeating: "a", count: 4000) + "!", String(repeating: "x", count: 4000)] {
            let steps = pattern.search(text).steps
            #expect(steps > 0 && steps <= pattern.instructionCount * (text.count + 2))
        }
    }

    /// Repetitions of nothing are no program, and so no limit on its length ends them.
    @Test(.timeLimit(.minutes(1)), arguments: ["", "a{0}", "(){0}", "(|)"])
    func repetitionsOfNothingAreReadAtOnce(_ nothing: String) {
        let pattern = (0..<20).reduce("(\(nothing))") { text, _ in "(\(text){256})" }
        #expect(CanaryPattern(pattern + "x")?.occurs(in: "ax") ?? (nothing == "(|)"))
    }

    private func parse(_ canary: String) throws -> Canary? {
        let digest = String(repeating: "a", count: 64)
        let text = """
            { "schemaVersion": 1, "models": [ { "id": "x", "version": "1.0.0", "filename": "tiny-v1.0.0-q4.gguf",
              "sizeBytes": 5, "sha256": "\(digest)", "downloadUrl": "x.gguf", "canary": \(canary) } ] }
            """
        let url = try #require(URL(string: "https://example.org/models.json"))
        let catalog = try Catalog(manifest: Data(text.utf8), url: url)
        return catalog.releases[0].canary
    }

    @Test func theCatalogFieldIsRead() throws {
        let whole = try parse(
            #"{"prompt":"Capital of France?","pattern":"(?i)paris","maxNewTokens":9,"minTokensPerSecond":1.5,"#
                + #""maxMemoryBytes":1000,"timeoutSeconds":30,"later":1}"#)
        #expect(
            whole
                == Canary(
                    prompt: "Capital of France?", pattern: CanaryPattern("(?i)paris"), maximumNewTokens: 9,
                    minimumTokensPerSecond: 1.5, maximumMemoryBytes: 1000, timeoutSeconds: 30))
        #expect(try parse(#"{"prompt":"Hi"}"#) == Canary(prompt: "Hi"))
        let data = try JSONEncoder().encode(whole)
        #expect(try JSONDecoder().decode(Canary.self, from: data) == whole)
    }

    @Test(arguments: [
        "[]", "7", "{}", #"{"prompt":""}"#, #"{"prompt":7}"#, #"{"prompt":"x","pattern":"(a"}"#,
        #"{"prompt":"x","pattern":"(a)\\1"}"#, #"{"prompt":"x","maxNewTokens":0}"#,
        #"{"prompt":"x","maxNewTokens":257}"#,
        #"{"prompt":"x","maxNewTokens":1.5}"#, #"{"prompt":"x","minTokensPerSecond":0}"#,
        #"{"prompt":"x","minTokensPerSecond":-1}"#, #"{"prompt":"x","minTokensPerSecond":1e99}"#,
        #"{"prompt":"x","maxMemoryBytes":0}"#, #"{"prompt":"x","maxMemoryBytes":-1}"#,
        #"{"prompt":"x","timeoutSeconds":0}"#, #"{"prompt":"x","timeoutSeconds":3601}"#,
        "{\"prompt\":\"\(String(repeating: "x", count: 4097))\"}",
    ])
    func hostileFieldsAreRefused(_ canary: String) {
        #expect(throws: CatalogError.self) { try parse(canary) }
        if canary.hasPrefix("{") {
            #expect(throws: (any Error).self) { try JSONDecoder().decode(Canary.self, from: Data(canary.utf8)) }
        }
    }

    private func report(
        _ text: String = "Paris", tokens: Int = 5, rate: Double = 10, memory: UInt64? = 1000, isTimedOut: Bool = false
    ) -> ProbeReport {
        ProbeReport(
            text: text, generatedTokens: tokens, loadSeconds: 1, answerSeconds: 1, tokensPerSecond: rate,
            peakMemoryBytes: memory, isTimedOut: isTimedOut)
    }

    @Test func whatIsMeasuredIsJudged() {
        var canary = Canary(prompt: "?")
        #expect(canary.objection(to: report("", tokens: 0, rate: 0)) == nil)
        #expect(canary.objection(to: report(isTimedOut: true))?.contains("120 seconds") == true)
        canary.pattern = CanaryPattern("(?i)paris")
        #expect(canary.objection(to: report()) == nil)
        #expect(canary.objection(to: report("London\u{1B}[2J"))?.contains("\u{1B}") == false)
        canary.minimumTokensPerSecond = 5
        #expect(canary.objection(to: report(rate: 4.9)) != nil)
        #expect(canary.objection(to: report(tokens: 1, rate: 0)) == nil, "one token has no rate")
        canary.maximumMemoryBytes = 999
        #expect(canary.objection(to: report()) != nil)
        #expect(canary.objection(to: report(memory: 999)) == nil)
        #expect(canary.objection(to: report(memory: nil)) == nil, "not every system says")
        // A vector has neither text nor rate; the memory and the time count.
        var vector = report("", tokens: 0, rate: 0, memory: 999)
        #expect(canary.objection(to: vector) != nil)
        vector.embeddingLength = 64
        #expect(canary.objection(to: vector) == nil)
        vector.peakMemoryBytes = 1000
        #expect(canary.objection(to: vector) != nil)
        vector.isTimedOut = true
        #expect(canary.objection(to: vector)?.contains("120 seconds") == true)
    }
}
