import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthInference

@Suite(.timeLimit(.minutes(5))) struct SchemaGrammarTests {
    /// Schemas whose answers were wrong once, and others of their kinds.
    @Test(arguments: [
        #"{"type":"string","format":"email","maxLength":30}"#, #"{"type":"string","format":"email","maxLength":8}"#,
        #"{"type":"string","pattern":"^[a-z]+$","minLength":4,"maxLength":6}"#,
        #"{"type":"string","pattern":"^(ab)*$","minLength":3,"maxLength":4}"#,
        #"{"type":"string","pattern":"[0-9]","maxLength":2}"#, #"{"type":"string","format":"date","pattern":"^2024"}"#,
        #"{"type":"string","format":"email","pattern":"^[A-Z]+@EXAMPLE\\.COM$"}"#,
        #"{"type":"string","allOf":[{"pattern":"^a"},{"pattern":"z$"}],"maxLength":5}"#,
        #"{"type":"string","pattern":"^\\s\"\\\\$"}"#, #"{"type":"string","not":{"enum":["a","b"]},"maxLength":1}"#,
        #"{"type":"string","not":{"pattern":"[0-9]"},"minLength":2,"maxLength":4}"#,
        #"{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":9},"propertyNames":{"enum":["low","high"]},"minProperties":1}"#,
        #"{"type":"object","patternProperties":{"^x_":{"type":"boolean"}},"additionalProperties":false,"minProperties":2,"maxProperties":3}"#,
        #"{"type":"object","patternProperties":{"^a":{"type":"boolean"},"^b":{"type":"integer","minimum":1,"maximum":5}},"minProperties":3,"maxProperties":5}"#,
        #"{"type":"object","additionalProperties":{"type":"boolean"},"minProperties":2,"maxProperties":4}"#,
        #"{"type":"object","properties":{"a":{"type":"boolean"}},"minProperties":3,"maxProperties":4}"#,
        #"{"type":"object","properties":{"":{"type":"boolean"}},"required":[""]}"#,
        #"{"type":"object","additionalProperties":{"type":"boolean"},"maxProperties":2}"#,
        #"{"type":"object","propertyNames":{"pattern":"^[a-c]$"},"minProperties":2}"#,
        #"{"type":"object","propertyNames":{"maxLength":3,"minLength":2},"additionalProperties":{"const":1},"minProperties":1,"maxProperties":3}"#,
        #"{"type":"object","properties":{"abc":{"type":"boolean"}},"patternProperties":{"^a":{"const":true}},"required":["abc"]}"#,
        #"{"type":"object","properties":{"q":{"type":"boolean"},"r":{"type":"null"}},"required":["r"],"additionalProperties":{"type":"integer","minimum":0,"maximum":3}}"#,
        #"{"allOf":[{"properties":{"a":{"type":"boolean"}},"additionalProperties":false},{"properties":{"b":{"type":"boolean"}}}],"type":"object"}"#,
        #"{"type":"array","items":{"type":"string","maxLength":2},"uniqueItems":true,"minItems":3,"maxItems":4}"#,
        #"{"type":"array","items":{"enum":["a","ab","abc"]},"uniqueItems":true,"minItems":2}"#,
        #"{"type":"array","items":{"type":"boolean"},"uniqueItems":true}"#,
        #"{"type":"array","items":{"type":"integer","minimum":1,"maximum":4},"uniqueItems":true,"minItems":4}"#,
        #"{"type":"array","prefixItems":[{"type":"boolean"},false],"minItems":1}"#,
        #"{"type":"array","prefixItems":[{"type":"boolean"},{"type":"null"}],"maxItems":1}"#,
        #"{"type":"array","contains":{"const":7},"items":{"type":"integer","minimum":5,"maximum":9},"maxContains":1,"maxItems":3}"#,
        #"{"type":"array","items":{"type":"boolean"},"minItems":60,"maxItems":70}"#,
        #"{"enum":["a",1,null,[2]],"type":["integer","null"]}"#, #"{"const":"x","maxLength":1}"#,
        #"{"type":"boolean","not":{"const":true}}"#, #"{"if":true,"then":{"type":"null"}}"#,
        #"{"type":"integer","anyOf":[{"minimum":5,"maximum":7},{"const":1},{"type":"string"}]}"#,
        ##"{"$defs":{"a/b":{"type":"boolean"}},"$ref":"#/$defs/a~1b"}"##,
        ##"{"$defs":{"List[Int]":{"type":"boolean"}},"$ref":"#/$defs/List%5BInt%5D"}"##,
        ##"{"$defs":{"a b":{"type":"null"}},"$ref":"#/$defs/a%20b"}"##,
        ##"{"$defs":{"é~x":{"type":"null"}},"$ref":"#/$defs/%C3%A9~0x"}"##,
        ##"{"$defs":{"":{"type":"null"}},"$ref":"#/$defs/"}"##,
        ##"{"$defs":{"n":{"$anchor":"here","type":"null"}},"$ref":"#here"}"##,
        ##"{"$id":"https://example.org/s","$defs":{"n":{"type":"null"}},"$ref":"https://example.org/s#/$defs/n"}"##,
        ##"{"type":"object","properties":{"v":{"type":"null"},"next":{"$ref":"#","minProperties":1}},"required":["v"]}"##,
        ##"{"type":"array","items":{"$ref":"#"},"maxItems":2}"##,
        #"{"type":"object","properties":{"a":{"minLength":3,"maxLength":1},"b":{"type":"null"}},"additionalProperties":false}"#,
        ##"{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/properties/a"},"minItems":1}},"additionalProperties":false}"##,
    ])
    func textsAreValid(schema: String) throws {
        let grammar = try SchemaGrammar.grammar(of: schema)
        let check = try #require(SchemaCheck(schema))
        var ended = 0
        for seed in 0..<10 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            guard let text = DrawnText.from(grammar, &random) else { continue }
            ended += 1
            #expect(check.flaw(in: text) == nil, "\(text)")
        }
        #expect(ended > 0)
    }

    @Test(arguments: [
        (
            #"{"type":"array","items":{"type":"boolean"},"minItems":3,"maxItems":1}"#,
            "its `minItems` is larger than its `maxItems`"
        ),
        (
            #"{"type":"object","properties":{"a":{"type":"string","minLength":3,"maxLength":1}},"required":["a"]}"#,
            "its `minLength` at /properties/a is larger"
        ),
        (#"{"type":"string","pattern":"^[a-z]{5}$","maxLength":3}"#, "fit no text together"),
        (#"{"type":"string","pattern":"^a","allOf":[{"pattern":"^b"}]}"#, "fit no text together"),
        (#"{"type":"string","pattern":"^(a$"}"#, "its `pattern` \"^(a$\" has a group that is not closed"),
        (#"{"type":"object","minProperties":2,"maxProperties":1}"#, "its `minProperties` is larger"),
        (
            #"{"type":"object","properties":{"a":{}},"additionalProperties":false,"minProperties":2}"#,
            "its `minProperties` asks for more"
        ),
        (#"{"type":"object","required":["a","b"],"maxProperties":1}"#, "its `maxProperties` is less"),
        (#"{"type":"object","required":["abc"],"propertyNames":{"maxLength":2}}"#, "its `required` asks for \"abc\""),
        (
            #"{"type":"object","properties":{"a/b":{"type":"what"}},"required":["a/b"]}"#,
            "its `type` at /properties/a~1b is \"what\""
        ),
        (#"{"enum":[1,2],"type":"string"}"#, "its `enum` has no value"),
        (#"{"const":1,"minimum":2}"#, "its `const` has no value"),
        (#"{"enum":[]}"#, "its `enum` is empty"), (#"{"anyOf":[]}"#, "its `anyOf` has no alternative"),
        (#"{"type":"array","items":{"const":1},"uniqueItems":true,"minItems":2}"#, "its `uniqueItems` and `minItems`"),
        (#"{"type":"array","items":false,"minItems":1}"#, "its `minItems` asks for more"),
        (#"{"type":"number","minimum":3,"maximum":2}"#, "its `minimum` leaves no number"),
        (#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#, "its `type` leaves no type"),
        (#"{"type":"string","minLength":"3"}"#, "its `minLength` is \"3\" and no count"),
        (#"{"type":"string","maxLength":-1}"#, "its `maxLength` is the number -1"),
        (#"{"$ref":"other.json"}"#, "its `$ref` \"other.json\" names another document"),
        (##"{"$ref":"#/$defs/x"}"##, "names nothing"), (##"{"$ref":"#"}"##, "nothing fits it"),
        (#"{"properties":[]}"#, "its `properties` is a list"),
        (##"{"type":"array","items":{"$ref":"#"},"minItems":1}"##, "nothing fits it"),
        (#"{"not":{}, "type":"string"}"#, "its `not` excludes every value"),
        ("[]", "it is no JSON object"), ("{", "a key in quotation marks is expected"),
        (#"{"$dynamicRef":"x"}"#, "its `$dynamicRef` is not followed"),
    ])
    func refusalsNameTheKeywordAndThePlace(schema: String, words: String) {
        let error = #expect(throws: LLMError.self) { try SchemaGrammar.grammar(of: schema) }
        #expect(error?.code == .unusableGrammar && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    private func fits(_ schema: String, _ text: String) throws -> Bool {
        var matcher = GrammarMatcher(try SchemaGrammar.grammar(of: schema))
        return matcher.take(text.utf8) && matcher.isComplete
    }

    /// Large bounds are counted, and exact.
    @Test func largeBoundsAreCounted() throws {
        let text = String(repeating: "x", count: 12_999)
        let schema = #"{"type":"string","minLength":12999,"maxLength":13000}"#
        #expect(try fits(schema, "\"\(text)\"") && fits(schema, "\"\(text)é\""))
        #expect(try !fits(schema, "\"\(text.dropLast())\"") && !fits(schema, "\"\(text)xy\""))
        #expect(try fits(#"{"type":"string","pattern":"^[\\s\\S]{0,100000}$","maxLength":100000}"#, #""a\nb""#))
        let items = #"{"type":"array","items":{"const":1},"minItems":2000,"maxItems":100000}"#
        func list(_ count: Int) -> String { "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]" }
        #expect(try fits(items, list(2000)) && fits(items, list(2100)) && !fits(items, list(1999)))
    }

    @Test(arguments: [
        (#"{"type":"string","pattern":"^\\n$"}"#, #""\n""#, true),
        (#"{"type":"string","pattern":"^é$"}"#, #""\u00e9""#, true),
        (#"{"type":"string","pattern":"^é$"}"#, #""\u00e8""#, false),
        (#"{"type":"string","pattern":"^😀$"}"#, #""\ud83d\uDE00""#, true),
        (#"{"type":"string","pattern":"^😀$"}"#, #""\ud83d\uDE01""#, false),
        (#"{"type":"string","pattern":"^\"$"}"#, #""\"""#, true),
        (#"{"type":"string","maxLength":1}"#, #""\ud83d\uDE00""#, true),
        (#"{"type":"string","maxLength":1}"#, #""\n\n""#, false),
        (#"{"type":"object","additionalProperties":true}"#, #"{"a":1,"a":2}"#, false),
        (#"{"type":"object","additionalProperties":true}"#, #"{"a":1,"b":{"a":2,"\"]":"}{"},"c":[{"a":1}]}"#, true),
        (#"{"type":"object","additionalProperties":true}"#, #"{"\u0061":1,"a":2}"#, false),
        (#"{"type":"array","items":{"type":"number"},"uniqueItems":true}"#, "[1,1.0]", false),
        (#"{"type":"array","items":{"type":"number"},"uniqueItems":true}"#, "[1, 10, 2]", true),
        (
            #"{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},"required":["b"]}"#,
            #"{"b":null,"c":null}"#, true
        ),
        (
            #"{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},"required":["b"]}"#,
            #"{"a":null, "b":null}"#, true
        ),
        (
            #"{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},"required":["b"]}"#,
            #"{"a":null}"#, false
        ),
        (#"{"type":"object","properties":{"a":{"type":"null"}}}"#, "{}", true),
    ])
    func decidesTexts(schema: String, text: String, isFitting: Bool) throws {
        #expect(try fits(schema, text) == isFitting)
    }

    /// A value that was there before and cannot become longer is no way out of a list or an object.
    @Test(arguments: [
        (#"{"type":"array","items":{"type":"string","maxLength":3},"uniqueItems":true}"#, #"["abc","ab"#, "c", #"d"]"#),
        (#"{"type":"array","items":{"type":"string","maxLength":1},"uniqueItems":true}"#, #"["é",""#, "é", #"è"]"#),
        (
            #"{"type":"array","items":{"type":"integer","minimum":10000,"maximum":99999},"uniqueItems":true}"#,
            "[12345,1234", "5", "6]"
        ),
        (#"{"type":"object","propertyNames":{"maxLength":2}}"#, #"{"ab":1,"a"#, "b", #"c":2}"#),
    ])
    func aRepeatedValueThatCannotGrowIsNotBegun(schema: String, begun: String, same: String, rest: String) throws {
        var matcher = GrammarMatcher(try SchemaGrammar.grammar(of: schema))
        let taken = [begun, same, rest].map { matcher.take($0.utf8) }
        #expect(taken == [true, false, true])
        #expect(matcher.isComplete)
    }
}
