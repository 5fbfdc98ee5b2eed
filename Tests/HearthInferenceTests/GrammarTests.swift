import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct GrammarTests {
    private static let json = #"""
        root   ::= object
        value  ::= object | array | string | number | ("true" | "false" | "null") ws
        object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
        array  ::= "[" ws ( value ("," ws value)* )? "]" ws
        string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
        number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? ws
        ws ::= | " " | "\n" [ \t]{0,20} # and no more
        """#

    private func fits(_ text: String, _ gbnf: String) throws -> Bool {
        var matcher = GrammarMatcher(try Grammar(gbnf: gbnf))
        return matcher.take(text.utf8) && matcher.isComplete
    }

    @Test(arguments: [
        ("{}", true), (#"{"a": [1, -2.5e3, "é😀\n", {"b": null}]}"#, true), (#"{"a""#, false), ("[1]", false),
        (#"{"a":tru}"#, false), (#"{"a": 01}"#, false), (#"{"a": "\x"}"#, false), ("", false),
    ])
    func followsJSON(text: String, isJSON: Bool) throws { #expect(try fits(text, Self.json) == isJSON) }

    @Test(arguments: [
        // Left recursion, left recursion after an empty rule, and recursion of a whole rule.
        (#"root ::= root "a" | "a""#, "aaaa", true), (#"root ::= root "a" | "a""#, "", false),
        ("root ::= e root | \"x\"\ne ::= f\nf ::= \"\"", "x", true),
        (#"root ::= root root | "a" | """#, "aaaaaaaa", true),
        // Repetitions, sets, escapes, groups over several lines.
        ("root ::= [a-c]{2,4}", "a", false), ("root ::= [a-c]{2,4}", "abca", true),
        ("root ::= [a-c]{2,4}", "abcab", false),
        ("root ::= \"ab\"{2}", "abb", false), ("root ::= (\"ab\"){2}", "abab", true),
        ("root ::= [a]{2,}", "aaaaa", true),
        ("root ::= [^é]+ \"é\"?", "日本é", true), ("root ::= [^é]+", "é", false), ("root ::= [a\\-\\]]+", "-]a", true),
        ("root ::= (\n \"a\" |\n \"b\" )\n", "b", true), ("root ::= .", "😀", true), ("root ::= \"\\u00e9\"", "é", true),
        ("root ::= a_b\na_b ::= \"x\"", "x", true),
        // Repetitions that are counted.
        ("root ::= [a-c]{2,40}", "a", false), ("root ::= ([a-c] \"x\"?){9,12}", "axbcabcaabc", true),
        ("root ::= ([a-c] \"x\"?){9,12}", "axbcabca", false), ("root ::= ([a-c]?){9,12}", "aaaaaaaaaaaaa", false),
        ("root ::= [a]{20,} \"b\"", String(repeating: "a", count: 19) + "b", false),
        ("root ::= \"a\"{60000}", "aaa", false), ("root ::= ([a-c]?){9,12}", "", true),
    ])
    func follows(gbnf: String, text: String, isFitting: Bool) throws { #expect(try fits(text, gbnf) == isFitting) }

    @Test(arguments: [
        "", "rot ::= \"a\"", "root ::= x", "root ::= root", "root ::= a\na ::= root \"x\"", "root ::= \"a",
        "root ::= [a",
        "root ::= (\"a\"", "root ::= \"a\"\nroot ::= \"b\"", "root = \"a\"", "root ::= *", "root ::= \"a\"{2,1}",
        "root ::= \"a\"{99999999999999999999}", "root ::= \"\\q\"", "root ::= \"\\x0\"",
        "root ::= [z-a]", "root ::= <think>", "root ::= !<[3]>", "root ::= \"a\" )", "root ::= \"\\U00110000\"",
        "\u{0}",
        "root ::= " + String(repeating: "(", count: 100_000), String(repeating: "x", count: 300_000),
    ])
    func refuses(gbnf: String) {
        #expect { try Grammar(gbnf: gbnf) } throws: { ($0 as? LLMError)?.code == .unusableGrammar }
    }

    @Test func noGrammarTakesForEver() throws {
        // Two to the fortieth ways to match the empty text, ambiguous nesting, and unlimited ambiguity.
        let nested =
            "root ::= r0\n" + (0..<40).map { "r\($0) ::= r\($0 + 1) r\($0 + 1)\n" }.joined() + "r40 ::= \"x\" | \"\"\n"
        #expect(try fits("xxxx", nested))
        let ambiguous = #"root ::= "a" root "b" | "a" root "b" | """#
        #expect(try fits(String(repeating: "a", count: 40) + String(repeating: "b", count: 40), ambiguous))
        var matcher = GrammarMatcher(try Grammar(gbnf: #"root ::= root root root | "a" | """#))
        let long = String(repeating: "a", count: TestExtent.isFull ? 100_000 : 20_000)
        let isTaken = matcher.take(long.utf8)
        #expect(!isTaken && !matcher.isExhausted)
        // A character that needs too much work is refused, and after several such characters all are.
        var refused = 0
        for byte in long.utf8 where !matcher.isExhausted {
            if !matcher.take(CollectionOfOne(byte)) { refused += 1 }
        }
        #expect(matcher.isExhausted && refused == 15)
    }

    @Test func cutsMakeNoDifference() throws {
        let text = #"{"name": "Zoë 😀 日本", "list": [1, 2, {"x": true}]} "#
        let bytes = Array(text.utf8)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<100 {
            var matcher = GrammarMatcher(try Grammar(gbnf: Self.json))
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(5, rest.count), using: &generator)
                let isTaken = matcher.take(rest.prefix(count))
                // A refused byte changes no state, even in the middle of a character.
                let isOtherTaken = matcher.take([0xFF])
                #expect(isTaken && !isOtherTaken)
                rest = rest.dropFirst(count)
            }
            #expect(matcher.isComplete)
        }
    }

    @Test func aCharacterThatCannotFitIsRefusedAtItsFirstByte() throws {
        var matcher = GrammarMatcher(try Grammar(gbnf: "root ::= [à-ÿ]+"))
        let first = [[0xE0], [0xC0], [0xC3]].map { matcher.take($0) }
        #expect(first == [false, false, true])
        #expect(!matcher.isComplete && !matcher.isClosed)
        let second = [[0x80], [0xA9]].map { matcher.take($0) }
        #expect(second == [false, true])
        #expect(matcher.isComplete)
    }
}

@Suite struct ConstraintGateTests {
    private func gate(_ gbnf: String, _ triggers: [String] = []) throws -> ConstraintGate {
        ConstraintGate([ConstraintGate.Arm(try Grammar(gbnf: gbnf), openings: triggers)])
    }

    @Test func proseIsFreeAroundABlock() throws {
        var gate = try gate(#"root ::= "{" [a-z]* "}" " "?"#, ["[CAL:", "[REM:"])
        let steps: [(token: String, isTaken: Bool, isInside: Bool)] = [
            ("Hello { [CA", true, false), ("L", true, false), (":x", false, false), (":{a", true, true),
            ("b", true, true),
            ("1", false, true), ("} [CAL:x", false, true), ("} [REM:{", true, true), ("}", true, true),
            ("\n free 1", true, false), (" [CAL:", true, true),
        ]
        for step in steps {
            let isTaken = gate.take(step.token.utf8)
            #expect(isTaken == step.isTaken, "\(step.token)")
            #expect(gate.isInside == step.isInside, "\(step.token)")
        }
        #expect(!gate.allowsEnd)
        let end = gate.take("{".utf8) && gate.take("}".utf8)
        #expect(end && gate.allowsEnd && !gate.isFinished)
    }

    @Test func aWholeAnswerEndsWithItsShape() throws {
        var gate = try gate(#"root ::= "ab""#)
        #expect(!gate.allowsEnd)
        let allowed = ["ab", "a", "abc"].map { gate.allows($0.utf8) }
        #expect(allowed == [true, true, false])
        let whole = gate.take("a".utf8) && gate.take("b".utf8)
        #expect(whole && gate.allowsEnd && gate.isFinished)
        let goesOn = gate.take("c".utf8)
        #expect(!goesOn)
    }

    private func block(
        _ opening: String, _ gbnf: String, closing: String = "", isLast: Bool = false
    ) throws -> ConstraintGate.Arm {
        let grammar = try Grammar(gbnf: gbnf)
        return ConstraintGate.Arm(
            closing.isEmpty ? grammar : grammar.followed(by: closing), openings: [opening], isLast: isLast)
    }

    private func check(_ gate: inout ConstraintGate, _ steps: [(String, Bool)]) {
        for (text, expected) in steps {
            let isTaken = gate.take(text.utf8)
            #expect(isTaken == expected, "\(text.debugDescription)")
        }
    }

    @Test func eachBlockHasItsOwnShapeAndClosing() throws {
        var gate = ConstraintGate([
            try block("[N:", "root ::= [0-9]+", closing: "]"), try block("[W:", "root ::= [a-z]+", closing: "]é"),
        ])
        check(
            &gate,
            [
                ("so [N:", true), ("a", false), ("12", true), (" ", false), ("] and [W:", true), ("1", false),
                ("ab", true), ("]", true), ("x", false),
            ])
        #expect(!gate.allowsEnd)
        // One token may end a block and begin the next.
        check(&gate, [("é free [N:7] [W:x]é [N", true), (":", true), ("z", false), ("1]", true)])
        #expect(gate.allowsEnd && !gate.isFinished)
    }

    @Test func aFailedTokenLeavesTheBlockAsItWas() throws {
        var gate = ConstraintGate([
            try block("<", "root ::= [0-9]+", closing: ">"), try block("{", "root ::= [a-z]+", closing: "}"),
        ])
        check(&gate, [("<1", true), ("2> {x} <z", false), ("2> {x} <y", false), ("3", true), ("> {x} <4>", true)])
        #expect(gate.allowsEnd)
    }

    @Test func theAnswerEndsWithItsLastBlock() throws {
        var gate = ConstraintGate([try block("<c>", "root ::= [a-z]+", closing: "</c>", isLast: true)])
        check(&gate, [("free <c>ab", true)])
        #expect(!gate.isFinished)
        check(&gate, [("</c>", true), ("more", false)])
        #expect(gate.isFinished && gate.allowsEnd)
    }

    @Test func blocksDoNotBeginInsideCodeFences() throws {
        var gate = ConstraintGate([
            try block("[N:", "root ::= [0-9]+", closing: "]"), try block("```json", "root ::= \"\\n\" [0-9]+"),
        ])
        check(&gate, [("Example:\n```swift\nlet a = [N:x]\n", true)])
        #expect(!gate.isInside)
        check(&gate, [("```\nnow [N:", true), ("x", false), ("1]", true), ("\n```json", true), ("x", false)])
        // A fence that opens a block is closed after it.
        check(&gate, [("\n12", true), ("\n```\n[N:", true), ("x", false), ("3]", true)])
        #expect(gate.allowsEnd)
    }

    @Test(arguments: [
        ("```\n", true), ("  ~~~~ swift\nx\n~~~\n", true), ("~~~\n~~~\n", false), ("``` a `b`\n", false),
        ("    ```\n", false), ("``\n", false), ("```\n``` x\n", true), ("```\n~~~\n", true), ("```\n````  \n", false),
        ("a ```\n", false), ("```", false),
    ])
    func fencesAreLines(text: String, isInside: Bool) {
        var fence = CodeFence()
        for byte in text.utf8 { fence.take(byte) }
        #expect(fence.isOpen == isInside)
    }
}
