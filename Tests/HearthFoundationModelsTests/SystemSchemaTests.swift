import HearthBase
import HearthInference
import Testing

@testable import HearthFoundationModels

/// JSON schemas in the form that Foundation Models decodes.
@Suite struct SystemSchemaTests {
    @Test(
        arguments: [
            (#"{"type":"string","minLength":2,"pattern":"^a$"}"#, #"{"type":"string","pattern":"^a$"}"#),
            (#"{"enum":["a","b"]}"#, #"{"type":"string","enum":["a","b"]}"#), (#"{"const":3}"#, #"{"const":3}"#),
            (
                #"{"type":["integer","null"],"maximum":3}"#,
                #"{"anyOf":[{"type":"integer","maximum":3},{"type":"null"}]}"#
            ),
            (
                #"{"items":{"type":"boolean"},"maxItems":2,"uniqueItems":true}"#,
                #"{"type":"array","maxItems":2,"items":{"type":"boolean"}}"#
            ),
            (
                #"{"properties":{"b":{"type":"null"},"a":{"type":"object","properties":{"c":{"type":"null"}}}},"required":["b"]}"#,
                #"""
                {"type":"object","title":"Answer","properties":{"b":{"type":"null"},\#
                "a":{"type":"object","title":"Answer_a","properties":{"c":{"type":"null"}},"required":[],\#
                "additionalProperties":false,"x-order":["c"]}},"required":["b"],"additionalProperties":false,"x-order":["b","a"]}
                """#
            ),
            (
                ##"{"$defs":{"N":{"type":"null"}},"oneOf":[{"$ref":"#/$defs/N"},{"type":"boolean"}],"description":"d"}"##,
                ##"{"$defs":{"N":{"type":"null"}},"description":"d","anyOf":[{"$ref":"#/$defs/N"},{"type":"boolean"}]}"##
            ),
        ])
    func aSchemaHasApplesForm(schema: String, expected: String) throws {
        #expect(try JSONValue(parsing: SystemSchema.shaped(schema)) == JSONValue(parsing: expected))
    }

    @Test(
        arguments: [
            "", "[]", #"{"type":"object"}"#, #"{"type":"array"}"#, "{}", #"{"allOf":[{"type":"null"}]}"#,
            #"{"type":"string","not":{"const":"a"}}"#, #"{"type":"object","properties":{"a":true}}"#,
            #"{"type":"text"}"#,
        ])
    func aSchemaWithoutApplesFormIsRefused(schema: String) {
        let error = #expect(throws: LLMError.self) { try SystemSchema.shaped(schema) }
        #expect(error?.code == .unusableGrammar)
    }

    @Test func titlesAreDifferent() throws {
        let object = #"{"title":"T","properties":{"a":{"type":"null"}}}"#
        let shaped = try JSONValue(parsing: SystemSchema.shaped(#"{"anyOf":[\#(object),\#(object)]}"#))
        #expect(shaped["anyOf"]?.items?.map { $0["title"] } == ["T", "T_2"])
    }

    @Test func aRequiredCallIsAnObjectOfOneOfTheTools() throws {
        let tools = ["a", "b"].map {
            ToolDefinition(
                name: $0, description: "", parameters: #"{"type":"object","properties":{"x":{"type":"null"}}}"#)
        }
        var options = GenerationOptions(constraint: OutputConstraint(.calls(tools)))
        let request = try SystemRequest([ChatMessage(.user, "?")], options: options)
        let schema = try JSONValue(parsing: #require(request.schema))
        #expect(schema["anyOf"]?.items?.map { $0["properties"]?["name"]?["enum"] } == [["a"], ["b"]])
        options.constraint = OutputConstraint(.calls([tools[0]]))
        let one = try SystemRequest([ChatMessage(.user, "?")], options: options)
        #expect(try JSONValue(parsing: #require(one.schema))["x-order"] == ["name", "arguments"])
    }

    @Test func theTextsAroundAShapeAreWritten() throws {
        let block = OutputConstraint.Block("EVENT:", .jsonSchema(#"{"type":"null"}"#), closing: ";")
        let request = try SystemRequest(
            [ChatMessage(.user, "?")], options: GenerationOptions(constraint: .forced(block)))
        #expect(request.frame == SystemRequest.Frame(before: "EVENT:", after: ";"))
    }
}
