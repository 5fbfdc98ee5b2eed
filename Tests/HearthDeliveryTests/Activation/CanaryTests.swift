import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

@Suite struct CanaryTests {
    @Test(
        arguments: [
            ("Paris", "It is Paris.", true), ("Paris", "It is paris.", false), ("[Pp]aris", "It is paris.", true),
            ("capital*Paris", "The capital is\nParis.", true), ("Paris*capital", "The capital is Paris.", false),
            ("4?2", "4,2", true), ("4?2", "42", false), ("[0-9] km", "12 km", true), ("[!0-9]z", "7z", false),
            ("[!0-9]z", "az", true), ("a|b", "b", false), ("(?i)paris", "paris", false), ("[4", "[42", true),
            ("*", "", true), ("yes/", "yes/no", true), ("yes/", "yes", false),
        ] as [(String, String, Bool)])
    func patternOccursAnywhereInTheAnswer(_ pattern: String, _ text: String, _ expected: Bool) {
        #expect(Canary(prompt: "?", pattern: pattern).isAnswered(by: text) == expected)
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
            #"{"prompt":"Capital of France?","pattern":"Paris","maxNewTokens":9,"minTokensPerSecond":1.5,"#
                + #""maxMemoryBytes":1000,"timeoutSeconds":30,"later":1}"#)
        #expect(
            whole
                == Canary(
                    prompt: "Capital of France?", pattern: "Paris", maximumNewTokens: 9,
                    minimumTokensPerSecond: 1.5, maximumMemoryBytes: 1000, timeoutSeconds: 30))
        #expect(try parse(#"{"prompt":"Hi"}"#) == Canary(prompt: "Hi"))
        let data = try JSONEncoder().encode(whole)
        #expect(try JSONDecoder().decode(Canary.self, from: data) == whole)
    }

    @Test(arguments: [
        "[]", "7", "{}", #"{"prompt":""}"#, #"{"prompt":7}"#, #"{"prompt":"x","pattern":""}"#,
        "{\"prompt\":\"x\",\"pattern\":\"\(String(repeating: "a", count: 513))\"}", #"{"prompt":"x","maxNewTokens":0}"#,
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

    private typealias Answer = ProbeReport.Answer

    /// Two answers, and a word of the objection; none for what may be right.
    private static let pairs: [([Answer], String?)] = [
        ([], nil),
        ([Answer(text: "", generatedTokens: 0)], nil),
        ([Answer(text: "", generatedTokens: 0), Answer(text: "", generatedTokens: 0)], "first token"),
        ([Answer(text: "", generatedTokens: 0), Answer(text: "Yes.", generatedTokens: 2, tokens: [1, 2])], nil),
        ([Answer(text: "", generatedTokens: 8), Answer(text: " \n\u{200B}", generatedTokens: 8)], "no text"),
        ([Answer(text: "", generatedTokens: 8), Answer(text: "", generatedTokens: 8, droppedBytes: 8)], "character"),
        ([Answer(text: "\u{FFFD}", generatedTokens: 1), Answer(text: "\u{FFFD}", generatedTokens: 8)], "character"),
        (
            [
                Answer(text: "aa", generatedTokens: 2, tokens: [7, 7]),
                Answer(text: "bbbbbbbb", generatedTokens: 8, tokens: Array(repeating: 9, count: 8)),
            ], "one token"
        ),
        // One word is an answer, and so is a short one said twice.
        (Array(repeating: Answer(text: "a", generatedTokens: 1, tokens: [7]), count: 2), nil),
        (
            [
                Answer(text: "ab", generatedTokens: 2, tokens: [7, 8]),
                Answer(text: "bbbbbbbb", generatedTokens: 8, tokens: Array(repeating: 9, count: 8)),
            ], nil
        ),
        // An engine that reports no tokens.
        ([Answer(text: "aaaaaaaa", generatedTokens: 8), Answer(text: "aaaaaaaa", generatedTokens: 8)], nil),
    ]

    @Test(arguments: pairs.indices) func answersOfABrokenModelAreKnown(_ index: Int) throws {
        let (answers, word) = Self.pairs[index]
        var report = report()
        report.answers = answers
        let objection = Canary(prompt: "?").objection(to: report)
        #expect((objection == nil) == (word == nil), "\(objection ?? "taken")")
        if let word { #expect(try #require(objection).contains(word)) }
    }

    @Test func whatIsMeasuredIsJudged() {
        var canary = Canary(prompt: "?")
        #expect(canary.objection(to: report("", tokens: 0, rate: 0)) == nil)
        #expect(canary.objection(to: report(isTimedOut: true))?.contains("120 seconds") == true)
        canary.pattern = "Paris"
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
