import Foundation
import HearthBase
import Testing

@testable import HearthInference

/// Short schemas that ask for exponential work, and schemas that contain themselves.
@Suite(.timeLimit(.minutes(3))) struct SchemaWorkTests {
    private static let good = ToolDefinition(
        name: "good", description: "",
        parameters: #"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#)

    /// Seven schemas, each of which names the next one twenty times under a keyword.
    private static func nest(_ keyword: String, last: String = #"{"type":"object"}"#) -> String {
        let parts = (0..<7).map { index in
            let reference = ##"{"$ref":"#/$defs/a\##(index + 1)"}"##
            return #""a\#(index)":{"\#(keyword)":[\#(Array(repeating: reference, count: 20).joined(separator: ","))]}"#
        }
        return
            ##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a0"}},"$defs":{\##(parts.joined(separator: ",")),"a7":\##(last)}}"##
    }

    private static let hostile = [
        nest("allOf"), nest("anyOf"), nest("oneOf"),
        // Two schemas that contain themselves and are combined.
        ##"{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}},"$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/a"}}},"b":{"properties":{"x":{"$ref":"#/$defs/b"}}}}}"##,
        ##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"integer"}]}}}"##,
        ##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}}}"##,
        ##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"not":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}}}}"##,
        // Constants that are checked with such a schema.
        ##"{"type":"object","properties":{"a":{"enum":[1,2,3],"not":{"$ref":"#/$defs/a"}}},"$defs":{"a":{"anyOf":[{"not":{"$ref":"#/$defs/a"}},{"not":{"$ref":"#/$defs/a"}},false]}}}"##,
    ]

    @Test(arguments: hostile)
    func aHostileToolIsOfferedAndOthersAreHeld(parameters: String) throws {
        let odd = ToolDefinition(name: "odd", description: "", parameters: parameters)
        try ToolDefinition.check([odd, Self.good])
        let grammar = try SchemaGrammar.grammar(ofCalls: [odd, Self.good])
        for (text, fits) in [
            (#"{"name":"odd","arguments":{"#, true), (#"{"name":"good","arguments":{"n":1}}"#, true),
            (#"{"name":"good","arguments":{"n":"x"#, false),
        ] {
            var matcher = GrammarMatcher(grammar)
            let isTaken = matcher.take(text.utf8)
            #expect(isTaken == fits, "\(text)")
        }
    }

    /// The work of all properties and tools together is bounded.
    @Test(arguments: hostile)
    func textPropertiesAreFoundWithBoundedWork(parameters: String) throws {
        let document = try #require(try JSONValue(parsing: parameters).members)
        var reader = SchemaGrammar(isLenient: true)
        for _ in 0..<3 { #expect(reader.textProperties(of: document).isSubset(of: ["a"])) }
        #expect(reader.work.spent <= 3 * SchemaWork.maximumOfDocument)
        let plain = try #require(
            try JSONValue(parsing: #"{"properties":{"s":{"type":"string"},"n":{"type":"integer"}}}"#).members)
        #expect(reader.textProperties(of: plain) == ["s"])
    }

    @Test func workOfAllDocumentsIsBounded() throws {
        let document = try #require(try JSONValue(parsing: Self.nest("allOf")).members)
        var reader = SchemaGrammar(isLenient: true)
        for _ in 0..<12 { _ = reader.textProperties(of: document) }
        #expect(reader.work.spent == SchemaWork.maximum)
    }

    /// The check of a finished answer ends. A schema that asks for too much work excludes nothing.
    @Test(arguments: hostile + [nest("allOf", last: "{}"), nest("anyOf", last: "false"), nest("oneOf", last: "{}")])
    func answersAreCheckedWithBoundedWork(schema: String) throws {
        let check = try #require(SchemaCheck(schema))
        _ = check.flaw(in: #"{"a":1}"#)
        _ = check.flaw(in: #"{"a":{}}"#)
        #expect(check.flaw(in: "[]")?.keyword == "type")
    }

    @Test func aCheckWithoutEndFindsNoFlaw() throws {
        let check = try #require(SchemaCheck(Self.nest("anyOf", last: "false")))
        #expect(check.flaw(in: #"{"a":1}"#) == nil)
    }

    /// A schema that is no tool's is refused if it cannot be held.
    @Test func aHostileSchemaOfAnAnswerIsRefused() {
        let error = #expect(throws: LLMError.self) { try SchemaGrammar.grammar(of: Self.nest("allOf")) }
        #expect(error?.code == .unusableGrammar)
    }

    /// Thousands of excluded values are one list.
    @Test func manyExcludedValuesAreRefusedOrHeld() throws {
        let parts = (0..<3000).map { #"{"not":{"const":"v\#($0)"}}"# }
        let schema =
            #"{"type":"object","properties":{"a":{"type":"string","allOf":[\#(parts.joined(separator: ","))]}}}"#
        let tool = ToolDefinition(name: "odd", description: "", parameters: schema)
        var matcher = GrammarMatcher(try SchemaGrammar.grammar(ofCalls: [tool]))
        let isTaken = matcher.take(#"{"name":"odd","arguments":{"a":"x"}}"#.utf8)
        #expect(isTaken && matcher.isComplete)
    }
}
