#if Llama
import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthInference
@testable import HearthLlama

@Suite struct SchemaCorpusTests {
    /// A text drawn character by character from a grammar; `nil` for one that does not end.
    private func drawn(_ grammar: Grammar, _ random: inout SeededGenerator) -> String? {
        var matcher = GrammarMatcher(grammar)
        var text: [UInt8] = []
        let letters = (UInt8(0x20)...0x7E).filter { $0 != UInt8(ascii: "\\") } + Array("éåü".utf8)
        while text.count < 1500 {
            if matcher.isComplete, matcher.isClosed || Int.random(in: 0..<3, using: &random) == 0 {
                return String(decoding: text, as: UTF8.self)
            }
            var order = letters.shuffled(using: &random)
            // The ends of values are tried first, and escapes only if no other character fits.
            if Int.random(in: 0..<3, using: &random) == 0 { order = Array("\"}],:".utf8) + order }
            guard let next = (order + [UInt8(ascii: "\\")]).first(where: { matcher.take(CollectionOfOne($0)) })
            else { return nil }
            text.append(next)
        }
        return nil
    }

    /// Every text of a schema's grammar is valid, or the check names the keyword; few schemas are refused.
    @Test func textsOfTheGrammarAreValid() throws {
        var random = SeededGenerator(seed: 7)
        var refused: [String] = []
        var valid = 0
        let texts = TestExtent.isFull ? 8 : 1
        let entries = try SchemaCorpus.entries()
        #expect(entries.count == 125)
        for entry in entries {
            let grammar: Grammar
            do {
                grammar = try AnswerConstraint.grammar(.jsonSchema(entry.schema))
            } catch let error as LLMError {
                #expect(error.code == .unusableGrammar && error.message.contains("its `"), "\(entry): \(error)")
                refused.append(entry.name)
                continue
            }
            let check = try #require(SchemaCheck(entry.schema))
            for _ in 0..<texts {
                guard let answer = drawn(grammar, &random) else { continue }
                let flaw = check.flaw(in: answer)
                #expect(flaw == nil, "\(entry): \(flaw as Any) in \(answer)")
                if flaw == nil { valid += 1 }
            }
        }
        #expect(refused == ["ref-remote"])
        #expect(valid > texts * 80)
    }

    @Test(arguments: [
        (#"{"type":"array","uniqueItems":true}"#, "[1,2,1.0]", "uniqueItems", ""),
        (#"{"properties":{"a":{"minimum":3}}}"#, #"{"a":2}"#, "minimum", "/a"),
        (#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#, "3", "oneOf", ""),
        (#"{"not":{"type":"null"}}"#, "null", "not", ""),
        (#"{"items":{"multipleOf":0.1}}"#, "[0.3,0.25]", "multipleOf", "/1"),
        (
            #"{"additionalProperties":false,"patternProperties":{"^x":true}}"#, #"{"x":1,"y":2}"#,
            "additionalProperties", ""
        ),
        (#"{"dependentRequired":{"a":["b"]}}"#, #"{"a":1}"#, "dependentRequired", ""),
        (#"{"if":{"required":["a"]},"then":{"required":["b"]}}"#, #"{"a":1}"#, "required", ""),
        (##"{"$defs":{"s":{"maxLength":1}},"items":{"$ref":"#/$defs/s"}}"##, #"["ab"]"#, "maxLength", "/0"),
        (#"{"format":"date"}"#, #""2026-13-01""#, "format", ""), (#"{"type":"object"}"#, "no", "type", ""),
        (#"{"contains":{"const":1}}"#, "[2]", "contains", ""), (#"{"type":"integer"}"#, "1.5", "type", ""),
    ])
    func theCheckNamesTheKeywordAndThePlace(schema: String, answer: String, keyword: String, place: String) throws {
        let check = try #require(SchemaCheck(schema))
        #expect(check.flaw(in: answer) == SchemaCheck.Flaw(keyword: keyword, place: place))
    }

    @Test(arguments: [
        (#"{"type":"string","pattern":"(?<=a"}"#, "pattern"), (#"{"$ref":"other.json"}"#, "$ref"),
        (#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#, "type"),
        (#"{"type":"number","minimum":3,"maximum":2}"#, "minimum"), (#"{"enum":[]}"#, "enum"),
        (#"{"unevaluatedItems":false}"#, "unevaluatedItems"),
        (#"{"type":"object","required":["a"],"properties":{},"additionalProperties":false}"#, "required"),
    ])
    func aRefusalNamesTheKeyword(schema: String, keyword: String) {
        let error = #expect(throws: LLMError.self) { try AnswerConstraint.grammar(.jsonSchema(schema)) }
        #expect(error?.code == .unusableGrammar && error?.message.contains("its `\(keyword)`") == true)
    }

    /// Our parser once refused this grammar, which llama.cpp accepts.
    @Test func aRepetitionMayBeRepeated() throws {
        var matcher = GrammarMatcher(try Grammar(gbnf: #"root ::= [a-z]{2}? "x"*+"#))
        #expect(matcher.take("abxx".utf8) && matcher.isComplete)
    }
}

extension RealModel {
    @Suite struct SchemaAnswers {
        private static let some = ["person"]
        private static let more = [
            "pattern-escapes", "ref-recursive", "matrix", "number-bounds", "ipv4", "any-of-beside", "one-of-kinds",
            "if-then-else", "unique-enum",
        ]

        /// A model's own answers to a few of the schemas.
        @Test(arguments: TestExtent.isFull ? some + more : some)
        func areValid(name: String) async throws {
            let entry = try #require(try SchemaCorpus.entries().first { $0.name == name })
            let engine = try await SharedEngine.engine
            let options = GenerationOptions(
                sampling: SamplingOptions(temperature: 0.7, seed: 3), maximumNewTokens: 200,
                constraint: .jsonSchema(entry.schema))
            let answer = try await Answer(
                engine.generate([ChatMessage(.user, "Give an example as JSON.")], options: options))
            guard answer.summary?.reason == .endOfGeneration else { return }
            let check = try #require(SchemaCheck(entry.schema))
            #expect(check.flaw(in: answer.text) == nil, "\(answer.text)")
        }

        /// The answers to all schemas, those of reported mistakes with ten seeds: each is valid or cut by its length.
        @Test(
            .enabled(
                if: ProcessInfo.processInfo.environment["HEARTH_SCHEMAS"] == "full", "HEARTH_SCHEMAS is not full"),
            .timeLimit(.minutes(60)))
        func toAllSchemasAreValid() async throws {
            let engine = try await SharedEngine.engine
            var outcomes: [String: [String]] = [:]
            for entry in try SchemaCorpus.entries() {
                let seeds: ClosedRange<UInt32> = entry.name.hasPrefix("case-") ? 1...10 : 3...4
                for seed in seeds {
                    let options = GenerationOptions(
                        sampling: SamplingOptions(temperature: 0.8, seed: seed), maximumNewTokens: 256,
                        constraint: .jsonSchema(entry.schema))
                    var outcome: String
                    do {
                        let answer = try await Answer(
                            engine.generate([ChatMessage(.user, "Give an example as JSON.")], options: options))
                        let isWhole = answer.summary?.reason == .endOfGeneration
                        let flaw = isWhole ? SchemaCheck(entry.schema)?.flaw(in: answer.text) : nil
                        outcome = flaw != nil ? "broken" : isWhole ? "valid" : "cut"
                    } catch let error as LLMError {
                        #expect(error.message.contains("`"), "\(entry): \(error)")
                        outcome = error.code == .unusableGrammar ? "refused" : "failed"
                    }
                    outcomes[outcome, default: []].append("\(entry.name) \(seed)")
                }
            }
            for (outcome, names) in outcomes.sorted(by: { $0.key < $1.key }) {
                print(
                    "schemas \(outcome) \(names.count)\(outcome == "valid" ? "" : ": \(names.joined(separator: ", "))")"
                )
            }
            #expect(outcomes["broken"] == nil && outcomes["failed"] == nil)
            #expect(outcomes["refused"]?.allSatisfy { $0.hasPrefix("ref-remote") } ?? true)
        }

        /// A list that the grammar allows and the schema forbids is reported when it is finished.
        @Test func anAnswerThatViolatesItsSchemaIsReported() async throws {
            let item =
                #"{"type":"object","properties":{"a":{"const":1}},"required":["a"],"additionalProperties":false}"#
            let schema = #"{"type":"array","items":\#(item),"uniqueItems":true,"minItems":2,"maxItems":2}"#
            let engine = try await SharedEngine.engine
            let options = GenerationOptions(
                sampling: .greedy, maximumNewTokens: 40, constraint: .jsonSchema(schema))
            let error = await #expect(throws: LLMError.self) {
                _ = try await Answer(engine.generate([ChatMessage(.user, "Two ones.")], options: options))
            }
            #expect(error?.code == .schemaNotMet && error?.message.contains("`uniqueItems`") == true)
        }
    }
}
#endif
