import HearthBase
import HearthTestSupport
import Testing

@testable import HearthInference

@Suite struct TokenTrieTests {
    /// Generated tokens of one to eight bytes, many with the same beginning, some without whole characters.
    private static func pieces(_ count: Int) -> [[UInt8]] {
        var random = SeededGenerator(seed: 4)
        let letters = Array("etaoinshrdlu\"{}:,[]0123456789 -_é€".utf8)
        return (0..<count).map { index in
            index % 1000 == 0
                ? []
                : (0..<Int.random(in: 1...8, using: &random)).map { _ in letters.randomElement(using: &random) ?? 0 }
        }
    }

    private static let grammar = #"""
        root ::= "{" "\"state\":" ("\"unlikely\"" | "\"literal\"" | number) "}"
        number ::= [0-9]+
        """#

    @Test(arguments: ["", "{", "{\"state\":", "{\"state\":1"], [true, false])
    func allowsWhatTheGateAllowsTokenByToken(before: String, isLast: Bool) throws {
        let pieces =
            Self.pieces(4000)
            + ["{", "{\"", "{\"st", "\"u", "\"lit", "}", "12}", "12} and", "}x"].map { Array($0.utf8) }
        let trie = TokenTrie(pieces)
        var gate = ConstraintGate([.init(try Grammar(gbnf: Self.grammar), openings: isLast ? [] : ["!"])])
        let isReady = (isLast || gate.take("!".utf8)) && gate.take(before.utf8)
        #expect(isReady)
        for begun in ["", "{"] {
            var found: Set<Int> = []
            gate.visitAllowed(after: Array(begun.utf8), in: trie) { found.insert(Int($0)) }
            let expected = pieces.indices.filter { !pieces[$0].isEmpty && gate.allows(Array(begun.utf8) + pieces[$0]) }
            #expect(found == Set(expected))
        }
        #expect(trie.count + trie.others.count == pieces.count)
    }

    /// For 150,000 tokens the grammar checks some hundred bytes, not each token.
    @Test func aLargeVocabularyCostsWhatTheGrammarAllows() throws {
        let pieces = Self.pieces(150_000)
        let watch = TimeSource.system.stopwatch()
        let trie = TokenTrie(pieces)
        let made = watch.elapsed.seconds
        var gate = ConstraintGate([.init(try Grammar(gbnf: Self.grammar))])
        let isReady = gate.take("{\"state\":".utf8)
        #expect(isReady)
        var asked = 0
        trie.visit(
            take: { byte in
                asked += 1
                return byte == UInt8(ascii: "7") ? .taken : .refused
            }, back: { _ in }, { _ in })
        #expect(asked < 20_000)
        let rounds = 5
        let mask = TimeSource.system.stopwatch()
        var allowed = 0
        for _ in 0..<rounds { gate.visitAllowed(after: [], in: trie) { _ in allowed += 1 } }
        print(
            "150,000 tokens: ordered in \(made * 1000) ms, compared with a grammar in "
                + "\(mask.elapsed.seconds * 1000 / Double(rounds)) ms, \(allowed / rounds) allowed")
        #expect(allowed > 0)
    }

    /// One character that needs too much work does not end the answer: others are still allowed.
    @Test func aCostlyCandidateIsRefusedAlone() throws {
        // Every beginning of a run of `a` may be one of many nested runs.
        let grammar = try Grammar(gbnf: "root ::= \"b\"* (s | \"c\")\ns ::= s s s s | s s s | s s | \"a\"")
        var matcher = GrammarMatcher(grammar)
        var taken = 0
        while taken < 4000, matcher.take("a".utf8) { taken += 1 }
        #expect(taken < 4000 && !matcher.isExhausted && matcher.isComplete)
    }
}
