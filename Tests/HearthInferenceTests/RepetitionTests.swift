import HearthInference
import Testing

/// The end of an answer that repeats itself.
@Suite struct RepetitionTests {
    /// The number of tokens after which the watch finds a repeating end; `nil` if it finds none.
    private func end(_ tokens: [TokenID], _ rule: RepetitionRule = RepetitionRule(), maximum: Int = 4096) -> Int? {
        guard var watch = RepetitionWatch(rule, maximumTokens: maximum) else { return nil }
        return tokens.map { watch.take($0) }.firstIndex(of: true).map { $0 + 1 }
    }

    private func repeated(_ length: Int, times: Int) -> [TokenID] {
        (0..<times).flatMap { _ in (0..<TokenID(length)).map { 100 + $0 } }
    }

    private static let start: [TokenID] = (0..<50).map { 10_000 + $0 }

    private static func rule(_ shortest: Int, _ longest: Int, _ count: Int, _ tokens: Int = 0) -> RepetitionRule {
        var rule = RepetitionRule()
        (rule.shortest, rule.longest, rule.count, rule.tokens) = (shortest, longest, count, tokens)
        return rule
    }

    /// Eight repeats and 96 tokens, whichever comes later.
    @Test(arguments: [(1, 96), (2, 96), (7, 96), (12, 96), (13, 104), (40, 320), (256, 2048)])
    func eightRepeatsAnd96TokensEndAnAnswer(length: Int, expected: Int) {
        #expect(end(repeated(length, times: 200)) == expected)
        #expect(end(Self.start + repeated(length, times: 200)) == 50 + expected)
        #expect(end(Array(repeated(length, times: 200).prefix(expected - 1)) + [7, 8, 9]) == nil)
    }

    @Test func whatChangesRepeatsNothing() {
        // A counter between equal words, an unlike token in each repeat, and a sequence that is too long.
        #expect(end((0..<400).flatMap { [1, 2, 3, 50_000 + $0] }) == nil)
        #expect(end((0..<40).flatMap { repeated(9, times: 7) + [60_000 + $0] }) == nil)
        #expect(end(repeated(257, times: 15)) == nil)
        var state: UInt64 = 9
        let random: [TokenID] = (0..<4000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return TokenID(state >> 61)
        }
        #expect(end(random) == nil)
    }

    /// The rules of requests, as vLLM counts them.
    @Test func aRuleSetsLengthsAndRepeats() {
        #expect(end(repeated(3, times: 20), Self.rule(1, 3, 3)) == 9)
        #expect(end(repeated(3, times: 20), Self.rule(1, 2, 3)) == nil)
        // Twelve times one token is also three times a sequence of four.
        #expect(end(repeated(1, times: 20), Self.rule(4, 8, 3)) == 12)
        #expect(end(repeated(5, times: 4), Self.rule(1, 4096, 2)) == 10)
        // Values from another process that fit no answer.
        for rule in [
            Self.rule(5, 4, 8), Self.rule(-3, 0, 2), Self.rule(1, .max, .max), Self.rule(1, 8, 2, .max),
            Self.rule(.max, .max, 2),
        ] {
            #expect(RepetitionWatch(rule, maximumTokens: 768) == nil)
        }
        #expect(end(repeated(1, times: 9), Self.rule(.min, 8, .min, .min)) == 2)
        #expect(RepetitionWatch(nil, maximumTokens: 768) == nil)
        #expect(RepetitionWatch(RepetitionRule(), maximumTokens: 95) == nil)
    }

    @Test func whatWasBeforeAResetDoesNotCount() throws {
        var watch = try #require(RepetitionWatch(RepetitionRule(), maximumTokens: 768))
        for _ in 0..<4 {
            let found = (0..<95).map { _ in watch.take(3) }
            #expect(!found.contains(true))
            watch.reset()
        }
        let found = (1...96).map { _ in watch.take(3) }
        #expect(found.firstIndex(of: true) == 95)
    }

    @Test func anAppSetsTheNumberOfRepeats() {
        var options = GenerationOptions()
        #expect(options.maximumRepeats == 8)
        options.maximumRepeats = 20
        #expect(options.repetition == Self.rule(1, 256, 20, 96))
        options.maximumRepeats = 0
        #expect(options.maximumRepeats == 2)
        options.maximumRepeats = nil
        #expect(options.repetition == nil)
    }
}
