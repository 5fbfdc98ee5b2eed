#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// The strings that a schema allows.
@Suite struct SchemaStringTests {
    @Test(arguments: [
        (#""a\u00e9\n""#, true), (#""\uD7ff\ue000\uABCD""#, true), (#""\ud83d\uDE00""#, true),
        (#""\uDBFF\udfff""#, true),
        (#""\uD8DA\uD900""#, false), (#""\uD8DA""#, false), (#""\uDE00""#, false), (#""\ud83d\n""#, false),
        (#""\u12""#, false),
    ])
    func holdNoHalfOfASurrogatePair(text: String, isAllowed: Bool) throws {
        var matcher = GrammarMatcher(try AnswerConstraint.grammar(.jsonSchema(#"{"type":"string"}"#)))
        #expect((matcher.take(text.utf8) && matcher.isComplete) == isAllowed)
    }
}

extension RealModel {
    /// The default model, constrained to shapes that it would hardly write without a constraint.
    @Suite struct Structured {
        enum Kind: String, Codable, CaseIterable { case capital, port, village }
        struct City: Codable {
            var name: String
            var kind: Kind
            var inhabitants: Int
            var twins: [String]?
        }

        private func options(
            _ constraint: OutputConstraint, seed: UInt32 = 1, temperature: Float = 1, tokens: Int = 400
        ) -> GenerationOptions {
            GenerationOptions(
                sampling: SamplingOptions(temperature: temperature, seed: seed), maximumNewTokens: tokens,
                constraint: constraint)
        }

        @Test(arguments: 1...(TestExtent.isFull ? 20 : 1) as ClosedRange<UInt32>)
        func everyDrawFitsTheSchema(seed: UInt32) async throws {
            // Lists and strings of any length may continue until the limit, so these are short.
            let schema = """
                {"type": "object", "additionalProperties": false, "required": ["name", "kind", "list"], "properties": {
                  "name": {"type": "string", "maxLength": 12}, "kind": {"enum": ["capital", "port", "village"]},
                  "list": {"type": "array", "maxItems": 3, "items": {"type": "integer"}}, "open": {"type": "boolean"}}}
                """
            let engine = try await SharedEngine.engine
            let answer = try await Answer(
                engine.generate(
                    [ChatMessage(.user, "Tell me about a city, in any words.")],
                    options: options(.jsonSchema(schema), seed: seed)))
            #expect(answer.summary?.reason == .endOfGeneration)
            let value = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any], "\(answer.text)")
            #expect(Set(value.keys).isSubset(of: ["name", "kind", "list", "open"]))
            #expect((value["name"] as? String).map { $0.unicodeScalars.count <= 12 } == true)
            #expect(["capital", "port", "village"].contains(value["kind"] as? String))
            #expect((value["list"] as? [Int]).map { $0.count <= 3 } == true)
        }

        @Test func typedAnswersComeAsValues() async throws {
            let session = LanguageModelSession(model: try await SharedEngine.engine)
            let city = try await session.respond(
                to: "Describe Paris as JSON with name, kind and inhabitants.", generating: City.self,
                options: .greedy(maximumNewTokens: 200))
            #expect(city.content.name.contains("Paris"))
            #expect(Kind.allCases.contains(city.content.kind))
        }

        @Test func penaltiesAndOtherSamplersKeepToIt() async throws {
            let engine = try await SharedEngine.engine
            let count = TestExtent.isFull ? 10 : 4
            for sampling in [
                SamplingOptions(temperature: 1, seed: 3, topK: 5, repeatPenalty: 1.3, presencePenalty: 1), .greedy,
            ] {
                var options = options(.gbnf(#"root ::= ("yes" | "no") (", " ("yes" | "no")){\#(count - 1)}"#))
                options.sampling = sampling
                let answer = try await Answer(engine.generate(capitalOfFrance, options: options))
                let words = answer.text.components(separatedBy: ", ")
                #expect(words.count == count && words.allSatisfy { ["yes", "no"].contains($0) }, "\(answer.text)")
            }
        }

        @Test func aBlockInProseIsHeldToItsShape() async throws {
            let engine = try await SharedEngine.engine
            let messages = [
                ChatMessage(
                    .system,
                    "You begin every answer with the word Note: followed by a sentence, and go on with more sentences."
                ),
                ChatMessage(.user, "Tell me about Paris."),
            ]
            let grammar = #"root ::= " <" [0-9]{3} ">""#
            for seed in 1...(TestExtent.isFull ? 5 : 1) as ClosedRange<UInt32> {
                let answer = try await Answer(
                    engine.generate(
                        messages,
                        options: options(.gbnf(grammar, after: ["Paris"]), seed: seed, temperature: 0.5, tokens: 80)
                    ))
                let parts = answer.text.components(separatedBy: "Paris").dropFirst()
                #expect(!parts.isEmpty, "no block begins, so nothing is shown: \(answer.text)")
                // The limit may cut the last block short.
                for part in parts.dropLast(answer.summary?.reason == .maximumNewTokens ? 1 : 0) {
                    #expect(part.prefixMatch(of: #/ <[0-9]{3}>/#) != nil, "\(answer.text)")
                }
                #expect(answer.text.contains(/Paris <[0-9]{3}>[^<]+[a-z]/), "prose is free again: \(answer.text)")
            }
        }

        /// The same with a schema: prose, then an object of the schema.
        @Test(.enabled(if: TestExtent.isFull), arguments: 1...(TestExtent.isFull ? 5 : 1) as ClosedRange<UInt32>)
        func aSchemaHoldsWhatFollowsItsTrigger(seed: UInt32) async throws {
            let engine = try await SharedEngine.engine
            let schema = """
                {"type": "object", "additionalProperties": false, "required": ["kind", "list"], "properties": {
                  "kind": {"enum": ["capital", "port", "village"]},
                  "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"enum": [1, 2, 3]}}}}
                """
            let messages = [
                ChatMessage(.system, "You answer with a long text in whole sentences."),
                ChatMessage(.user, "Tell me about Paris."),
            ]
            let answer = try await Answer(
                engine.generate(
                    messages,
                    options: options(
                        .jsonSchema(schema, after: ["Paris"]), seed: seed, temperature: 0.5, tokens: 120)))
            let parts = answer.text.components(separatedBy: "Paris")
            #expect(parts.count > 1, "no block begins, so nothing is shown: \(answer.text)")
            // The limit may cut the last block short.
            for part in parts.dropFirst().dropLast(answer.summary?.reason == .maximumNewTokens ? 1 : 0) {
                let object = try #require(part.firstMatch(of: #/^\s*\{[^}]*\}/#), "\(answer.text)")
                let value = try #require(
                    try JSONSerialization.jsonObject(with: Data(object.output.utf8)) as? [String: Any])
                #expect(["capital", "port", "village"].contains(value["kind"] as? String))
                #expect((value["list"] as? [Int]).map { (1...2).contains($0.count) } == true)
                #expect(Set(value.keys) == ["kind", "list"])
            }
        }

        @Test(
            arguments: [
                .gbnf("root ::= ("), .gbnf("root ::= root"), .gbnf("nothing"), .jsonSchema("{"),
                .jsonSchema(#"{"type": "what"}"#), .jsonSchema(#"{"$ref": "https://example.org/x.json"}"#),
                .jsonSchema(##"{"$ref": "#"}"##), .jsonSchema(#"{"type": "string", "minLength": 2, "maxLength": 1}"#),
                .jsonSchema(##"{"type": "array", "items": {"$ref": "#"}, "minItems": 1}"##),
                .jsonSchema(#"{"type": "string", "pattern": "^(((a{50}){50}){50}){50}[$"}"#),
            ] as [OutputConstraint])
        func anUnusableConstraintIsReportedBeforeThePrompt(constraint: OutputConstraint) async throws {
            let engine = try await SharedEngine.engine
            var events: [GenerationEvent] = []
            await #expect {
                for try await event in engine.generate(capitalOfFrance, options: options(constraint)) {
                    events.append(event)
                }
            } throws: {
                ($0 as? LLMError)?.code == .unusableGrammar
            }
            #expect(events.isEmpty)
        }
    }

    /// A model whose template opens its thinking.
    @Suite struct StructuredThinking {
        @Test func thinkingIsFreeAndTheAnswerIsNot() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path(.thinking), configuration: LlamaConfiguration(contextLength: 1024, threadCount: 1))
            let grammar = #"root ::= "{\"answer\":\"" [a-zA-Z ]{1,10} "\"}""#
            for seed in 1...(TestExtent.isFull ? 4 : 1) as ClosedRange<UInt32> {
                let options = GenerationOptions(
                    sampling: SamplingOptions(temperature: 1, seed: seed), maximumNewTokens: 200,
                    thinking: ThinkingOptions(maximumTokens: 12), constraint: .gbnf(grammar))
                let answer = try await Answer(engine.generate(capitalOfFrance, options: options))
                #expect(!answer.thinking.isEmpty && !answer.thinking.hasPrefix("{\"answer"), "\(answer.thinking)")
                #expect(answer.text.wholeMatch(of: /\{"answer":"[a-zA-Z ]{1,10}"\}/) != nil, "\(answer.text)")
            }
            await engine.unload()
        }
    }
}
#endif
