import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite struct JSONSchemaTests {
    enum Colour: String, Codable, CaseIterable { case red, green = "gr\"een" }
    enum Level: Int, Codable, CaseIterable { case low = 1, high = 3 }
    struct Place: Codable {
        var x: Double
        var tags: [String]?
    }
    struct City: Codable {
        var name: String
        var inhabitants: Int?
        var colour: Colour
        var level: Level?
        var place: Place
        var others: [Place]
        var isOpen: [String: Bool]
        var small: UInt8
    }
    struct Node: Codable { var next: [Node] }
    enum Bare: String, Codable { case a, b }
    struct Listed: Codable {
        var value: Int
        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            value = try list.decode(Int.self)
        }
    }
    struct Own: JSONSchemaProviding {
        var list: [Int]
        static var jsonSchema: String { JSONSchema.object([.init("list", .array(of: .integer))]).json }
    }
    struct OwnNode: JSONSchemaProviding {
        var next: [OwnNode]
        static var jsonSchema: String { ##"{"$ref":"#"}"## }
    }
    struct OwnListed: JSONSchemaProviding {
        init(from decoder: any Decoder) throws { _ = try decoder.unkeyedContainer() }
        static var jsonSchema: String { JSONSchema.array(of: .integer).json }
    }
    struct Holder: Codable {
        var node: OwnNode
        var listed: OwnListed?
        var more: [OwnListed]
        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            node = try values.decode(OwnNode.self, forKey: .node)
            listed = try values.decodeIfPresent(OwnListed.self, forKey: .listed)
            more = try values.decode([OwnListed].self, forKey: .more)
        }
        func encode(to encoder: any Encoder) throws {}
        private enum CodingKeys: CodingKey { case node, listed, more }
    }
    struct NeedsListed: Decodable { var listed: OwnListed }
    struct Nothing: Codable {}

    @Test func isFoundByDecodingPlaceholders() throws {
        let place = JSONSchema.object([.init("x", .number), .init("tags", .array(of: .string), isRequired: false)])
        #expect(
            try JSONSchema(of: City.self)
                == .object([
                    .init("name", .string), .init("inhabitants", .integer, isRequired: false),
                    .init("colour", .oneOf([#""red""#, #""gr\"een""#])),
                    .init("level", .oneOf(["1", "3"]), isRequired: false), .init("place", place),
                    .init("others", .array(of: place)), .init("isOpen", .dictionary(of: .boolean)),
                    .init("small", .text(#"{"type":"integer","minimum":0,"maximum":255}"#)),
                ]))
        #expect(try JSONSchema(of: Own.self) == .text(Own.jsonSchema))
        #expect(try JSONSchema(of: Nothing.self) == .object([]))
        #expect(try JSONSchema(of: [Int].self) == .array(of: .integer))
    }

    /// Types that contain themselves or have their own decoder for a list cannot be decoded from placeholders; they
    /// provide schemas.
    @Test func aTypeThatProvidesItsSchemaIsNotDecoded() throws {
        #expect(try JSONSchema(of: OwnNode.self) == .text(OwnNode.jsonSchema))
        #expect(try JSONSchema(of: OwnListed.self) == .text(OwnListed.jsonSchema))
        #expect(
            try JSONSchema(of: Holder.self)
                == .object([
                    .init("node", .text(OwnNode.jsonSchema)),
                    .init("listed", .text(OwnListed.jsonSchema), isRequired: false),
                    .init("more", .array(of: .text(OwnListed.jsonSchema))),
                ]))
    }

    @Test func theErrorNamesTheTypeThatNeedsAValueOfSuchAType() {
        #expect {
            try JSONSchema(of: NeedsListed.self)
        } throws: {
            ($0 as? LLMError)?.message.contains("NeedsListed: its property listed") == true
        }
    }

    @Test func isJSON() throws {
        let json = try JSONSchema(of: City.self).json
        try OutputConstraint.check(schema: json)
        let value = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        #expect(value?["required"] as? [String] == ["name", "colour", "place", "others", "isOpen", "small"])
    }

    @Test func saysWhichTypesItCannotDescribe() {
        for type in [Node.self, Bare.self, Listed.self, Data.self] as [any Decodable.Type] {
            #expect("\(type)") {
                try JSONSchema(of: type)
            } throws: {
                ($0 as? LLMError)?.code == .unusableGrammar
            }
        }
    }

    @Test(arguments: [
        "", "{", "[]", "3", String(repeating: "{\"a\":", count: 100),
        "{\"a\":\"" + String(repeating: "x", count: 1 << 20) + "\"}",
        "{\"pattern\":\"" + String(repeating: "(", count: 100) + "\"}",
        String(repeating: "[", count: 100_000),
    ])
    func refusesUnusableSchemas(schema: String) {
        #expect { try OutputConstraint.check(schema: schema) } throws: { ($0 as? LLMError)?.code == .unusableGrammar }
    }

    @Test(arguments: [
        "", "^[A-Z]{3}$", "^(?:a|b(c)?)+$", #"^\([0-9]+\)$"#, #"^[\]\x41\u00e9]*$"#, "^$", "^.{1,}$", "^a{2,30}$",
        "^é\"$", "[A-Z]{3}", "^a", "a$", "^", #"^\d{4}$"#, #"^[\w]$"#, #"^a\/b$"#, "^(?=b)b$", "^(?<n>a)$", "^a|^b$",
        "^a]$", "^a}$",
    ])
    func patternsAreFollowed(pattern: String) throws { try check(["type": "string", "pattern": pattern]) }

    @Test(arguments: ["^(a$", "^[a$", #"^a\"#, "^a)$", "^a{3,1}$", "^[z-a]$"])
    func whatIsNoExpressionIsRefused(pattern: String) throws {
        let flawed: [String: Any] = ["type": "string", "pattern": pattern]
        for schema: [String: Any] in [
            flawed, ["type": "array", "items": flawed, "minItems": 1], ["properties": ["pattern": flawed]],
            ["anyOf": [flawed]], ["properties": ["enum": flawed]], ["$ref": "#/$defs/a", "$defs": ["a": flawed]],
            ["additionalProperties": flawed],
        ] {
            #expect {
                try check(schema)
            } throws: {
                ($0 as? LLMError)?.code == .unusableGrammar && "\($0)".contains("`pattern`")
            }
        }
        // Values and names of properties that only look like a pattern.
        try check(["const": flawed, "default": flawed, "examples": [flawed]])
        try check(["properties": ["pattern": ["type": "string"]], "title": "pattern"])
    }

    private func check(_ schema: [String: Any]) throws {
        let data = try JSONSerialization.data(withJSONObject: schema)
        try OutputConstraint.check(schema: String(decoding: data, as: UTF8.self))
    }

    @Test func typedAnswersAreDecoded() async throws {
        let engine = ScriptedEngine([
            [.thinking("hm"), .text(#"{"x":"#), .text("1.5}"), .finish(.endOfGeneration)],
            [.text(#"{"x":"#), .finish(.maximumNewTokens)],
        ])
        let session = LanguageModelSession(model: engine)
        let response = try await session.respond(to: "where?", generating: Place.self)
        #expect(response.content.x == 1.5 && response.thinking == "hm")
        await #expect {
            try await session.respond(to: "where?", generating: Place.self)
        } throws: {
            ($0 as? LLMError)?.code == .answerNotDecodable && "\($0)".contains("length")
        }
        await #expect(throws: LLMError.self) { try await session.respond(to: "?", generating: Node.self) }
        #expect(session.transcript.count == 4, "nothing was said to ask for what cannot be")
        let wanted = try JSONSchema(of: Place.self).json
        #expect(await engine.options.map(\.constraint) == [.jsonSchema(wanted), .jsonSchema(wanted)])
    }
}
