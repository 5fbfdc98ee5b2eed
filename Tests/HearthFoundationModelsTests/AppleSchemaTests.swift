import HearthInference
import Testing

@testable import HearthFoundationModels

/// Schemas in the form of Foundation Models, held by Hearth's grammars.
@Suite(.timeLimit(.minutes(5))) struct AppleSchemaTests {
    private static let city = #"""
        {"title":"City","type":"object","additionalProperties":false,"required":["name","inhabitants"],
         "x-order":["name","inhabitants"],
         "properties":{"inhabitants":{"type":"integer","minimum":0,"maximum":99},"name":{"type":"string"}}}
        """#
    private static let trip = ##"""
        {"title":"Trip","type":"object","additionalProperties":false,"required":["stops","mode"],"x-order":["stops","mode","note"],
         "$defs":{"Stop":{"title":"Stop","type":"object","additionalProperties":false,"required":["place"],"x-order":["place","days"],
           "properties":{"days":{"type":"integer"},"place":{"type":"string"}}}},
         "properties":{"mode":{"type":"string","enum":["train","car"]},"note":{"type":"string"},
           "stops":{"type":"array","items":{"$ref":"#/$defs/Stop"},"minItems":1,"maxItems":2}}}
        """##
    private static let tree = ##"""
        {"title":"Tree","type":"object","additionalProperties":false,"required":["value"],"x-order":["value","children"],
         "properties":{"children":{"type":"array","items":{"$ref":"#"}},"value":{"type":"integer"}}}
        """##
    private static let pet = ##"""
        {"title":"Pet","anyOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}],
         "$defs":{"Cat":{"title":"Cat","type":"object","additionalProperties":false,"required":["lives"],"x-order":["lives"],
             "properties":{"lives":{"type":"integer"}}},
           "Dog":{"title":"Dog","type":"object","additionalProperties":false,"required":["kind"],"x-order":["kind"],
             "properties":{"kind":{"const":"dog"}}}}}
        """##
    private static let code = #"{"type":"string","pattern":"[A-Z]{3}\\-[0-9]{2}"}"#

    private static func admits(_ schema: String, _ answer: String) throws -> Bool {
        let standard = try AppleSchema.standard(schema)
        var matcher = GrammarMatcher(try SchemaGrammar.grammar(of: standard))
        let isWritten = matcher.take(answer.utf8) && matcher.isComplete
        #expect(SchemaCheck(standard)?.flaw(in: answer) == nil || !isWritten, "the check agrees with the grammar")
        return isWritten
    }

    @Test(
        arguments: [
            (city, #"{"name":"Bonn","inhabitants":33}"#, true), (city, #"{"inhabitants":33,"name":"Bonn"}"#, false),
            (city, #"{"name":"Bonn","inhabitants":100}"#, false), (city, #"{"name":"Bonn"}"#, false),
            (trip, #"{"stops":[{"place":"Rome","days":2}],"mode":"train"}"#, true),
            (trip, #"{"stops":[{"place":"Rome"},{"place":"Pisa"}],"mode":"car","note":"hot"}"#, true),
            (trip, #"{"stops":[],"mode":"car"}"#, false), (trip, #"{"stops":[{"place":"Rome"}],"mode":"boat"}"#, false),
            (tree, #"{"value":1}"#, true),
            (tree, #"{"value":1,"children":[{"value":2,"children":[{"value":3}]},{"value":4}]}"#, true),
            (tree, #"{"value":1,"children":[{"children":[]}]}"#, false), (pet, #"{"lives":9}"#, true),
            (pet, #"{"kind":"dog"}"#, true), (pet, #"{"kind":"cat"}"#, false), (code, #""ABC-12""#, true),
            (code, #""xABC-12x""#, false), (code, #""ABC-1""#, false),
            (#"{"type":["string","null"]}"#, "null", true),
        ])
    func aGrammarHoldsApplesForms(schema: String, answer: String, isAdmitted: Bool) throws {
        #expect(try Self.admits(schema, answer) == isAdmitted)
    }

    @Test func propertiesAreInTheOrderOfApplesKeyAndPatternsHaveAnchors() throws {
        let schema = #"""
            {"type":"object","x-order":["b","missing","a"],"properties":{"a":{"type":"string","pattern":"x|y"},"b":{},"c":{}},
             "anyOf":[{"x-order":["z"],"properties":{"y":{},"z":{}}}],"$defs":{"D":{"pattern":"z"}}}
            """#
        #expect(
            try AppleSchema.standard(schema) == #"""
                {"type":"object","properties":{"b":{},"a":{"type":"string","pattern":"^(?:x|y)$"},"c":{}},\#
                "anyOf":[{"properties":{"z":{},"y":{}}}],"$defs":{"D":{"pattern":"^(?:z)$"}}}
                """#)
    }

    @Test(arguments: [
        "", "[1]", "{", String(repeating: #"{"items":"#, count: 70) + "1" + String(repeating: "}", count: 70),
    ])
    func aTextThatIsNoSchemaIsRefused(schema: String) {
        let failure = #expect(throws: RequestFailure.self) { try AppleSchema.standard(schema) }
        guard case .unsupportedGuide = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func aPropertyNamedLikeAKeywordStays() throws {
        let schema = #"{"type":"object","properties":{"x-order":{"type":"string"},"pattern":{"type":"null"}}}"#
        #expect(try AppleSchema.standard(schema) == schema)
    }
}
