import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthInference

/// Large, deep, damaged and odd schemas.
@Suite(.timeLimit(.minutes(5))) struct HostileSchemaTests {
    private func fits(_ schema: String, _ text: String) throws -> Bool {
        var matcher = GrammarMatcher(try SchemaGrammar.grammar(of: schema))
        return matcher.take(text.utf8) && matcher.isComplete
    }

    @Test func hugeSchemasAreMadeOrRefusedInBoundedTime() throws {
        let properties = (0..<2_000).map {
            #""p\#($0)":{"type":"string","maxLength":\#($0 % 50 + 1),"description":"\#(String(repeating: "d", count: 300))"}"#
        }
        let large = #"{"type":"object","properties":{\#(properties.joined(separator: ","))}}"#
        #expect(large.utf8.count > 700_000)
        #expect(try fits(large, #"{"p7":"abc","p1999":"x"}"#))
        let tooLarge = #"{"type":"object","description":"\#(String(repeating: "x", count: 1 << 20))"}"#
        #expect(throws: LLMError.self) { try SchemaGrammar.grammar(of: tooLarge) }
        let deep = String(repeating: #"{"items":"#, count: 200) + "{}" + String(repeating: "}", count: 200)
        #expect(throws: LLMError.self) { try SchemaGrammar.grammar(of: deep) }
        // Alternatives that multiply, but for equal ones.
        let choice = #"{"anyOf":[{"properties":{"a":{"const":1}}},{"properties":{"b":{"const":1}}}]}"#
        let many = #"{"allOf":[\#(Array(repeating: choice, count: 40).joined(separator: ","))]}"#
        #expect(try fits(many, #"{"a":1}"#) && !fits(many, #"{"a":2,"b":2}"#))
    }

    @Test func twoThousandToolsAreOffered() throws {
        let tools = (0..<2000).map { number in
            ToolDefinition(
                name: "tool\(number)", description: "",
                parameters:
                    #"{"type":"object","properties":{"a":{"type":"string","pattern":"^x\#(number)$"},"n":{"type":"integer"}},"required":["a"]}"#
            )
        }
        var matcher = GrammarMatcher(try SchemaGrammar.grammar(ofCalls: tools))
        #expect(matcher.take(#"{"name": "tool1234", "arguments": {"a": "x1234", "n": 5}}"#.utf8) && matcher.isComplete)
        matcher.reset()
        let isTaken = matcher.take(#"{"name": "tool12", "arguments": {"a": "x13""#.utf8)
        #expect(!isTaken)
    }

    /// A tool whose schema cannot be held is offered, and the others are held.
    @Test(arguments: [
        #"{"type":"object","properties":{"a":{"type":"string","pattern":"(("}}}"#, #"{"type":"string"}"#, "{}",
        #"{"type":"object","properties":{"a":{"$ref":"other.json"}}}"#,
        #"{"type":"object","required":["a"],"additionalProperties":false}"#,
        #"{"type":"object","properties":{"a":{"$dynamicRef":"x"}}}"#, ##"{"$ref":"#"}"##, #"{"type":"what"}"#,
        #"{"properties":3}"#,
        ##"{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/properties/a"},"minItems":1}},"required":["a"]}"##,
        #"{"type":"object","properties":{"a":{"type":"integer","multipleOf":7}}}"#,
        #"{"type":"object","properties":{"a":{"type":"string","minLength":3,"maxLength":1}},"required":["a"]}"#,
    ])
    func anOddToolIsOffered(parameters: String) throws {
        let odd = ToolDefinition(name: "odd", description: "", parameters: parameters)
        let good = ToolDefinition(
            name: "good", description: "",
            parameters: #"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#)
        try ToolDefinition.check([odd, good])
        for tools in [[odd], [odd, good]] {
            var matcher = GrammarMatcher(try SchemaGrammar.grammar(ofCalls: tools))
            let isOffered = matcher.take(#"{"name":"odd","arguments":{"#.utf8)
            #expect(isOffered)
        }
        var matcher = GrammarMatcher(try SchemaGrammar.grammar(ofCalls: [odd, good]))
        let isOffered = matcher.take(#"{"name":"good","arguments":{"n":"#.utf8)
        #expect(isOffered)
    }

    /// References of a tool's schema lead into that schema.
    @Test func referencesOfToolsLeadIntoTheirOwnSchema() throws {
        let tools = ["boolean", "null"].enumerated().map { number, type in
            ToolDefinition(
                name: "t\(number)", description: "",
                parameters:
                    ##"{"type":"object","$defs":{"x":{"type":"\##(type)"}},"properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"]}"##
            )
        }
        let grammar = try SchemaGrammar.grammar(ofCalls: tools)
        for (text, isFitting) in [
            (#"{"name":"t0","arguments":{"a":true}}"#, true), (#"{"name":"t1","arguments":{"a":true}}"#, false),
            (#"{"name":"t1","arguments":{"a":null}}"#, true),
        ] {
            var matcher = GrammarMatcher(grammar)
            #expect((matcher.take(text.utf8) && matcher.isComplete) == isFitting, "\(text)")
        }
    }

    /// Random damage to a schema never stops the program.
    @Test func damagedSchemasAreRefusedOrMade() throws {
        let whole =
            #"{"type":"object","properties":{"a":{"type":"string","pattern":"^(?=a)[a-z]{2,9}$","minLength":1},"b":{"type":"array","items":{"enum":[1,"x"]},"uniqueItems":true,"minItems":1}},"required":["a"],"patternProperties":{"^x":{"anyOf":[{"type":"null"},{"type":"integer","minimum":3}]}},"minProperties":1}"#
        var random = SeededGenerator(seed: 5)
        let bytes = Array(whole.utf8)
        for _ in 0..<(TestExtent.isFull ? 5000 : 500) {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = bytes.randomElement(using: &random) ?? 0
            }
            do {
                _ = try SchemaGrammar.grammar(of: String(decoding: damaged, as: UTF8.self))
            } catch {
                #expect(error.code == .unusableGrammar)
            }
        }
    }
}
