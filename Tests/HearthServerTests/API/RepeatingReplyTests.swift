import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Answers that repeat themselves, in the words of each dialect.
@Suite struct RepeatingReplyTests {
    /// Strict clients fail on other words than those of a limit.
    @Test(arguments: [
        ("/v1/chat/completions", #""messages":[{"role":"user","content":"Hi"}]"#, "choices/0/finish_reason", "length"),
        ("/v1/completions", #""prompt":"Hi""#, "choices/0/finish_reason", "length"),
        ("/v1/responses", #""input":"Hi""#, "incomplete_details/reason", "max_output_tokens"),
        (
            "/v1/messages", #""max_tokens":9,"messages":[{"role":"user","content":"Hi"}]"#, "stop_reason",
            "max_tokens"
        ),
        ("/api/chat", #""stream":false,"messages":[{"role":"user","content":"Hi"}]"#, "done_reason", "length"),
        ("/completion", #""prompt":"Hi""#, "stop_type", "limit"),
    ])
    func theReasonIsThatOfALimit(path: String, body: String, place: String, word: String) async throws {
        let api = APIFixture([[.text("so so"), .finish(.repeating)]])
        let answer = try await api.post(path, #"{"model":"tiny",\#(body)}"#)
        #expect(answer.status == 200)
        #expect(try answer.json.text(place) == word)
        #expect(!answer.text.contains("repeating"))
    }

    private static let hello = #""messages":[{"role":"user","content":"Hi"}]"#

    private func rule(
        _ member: String, path: String = "/v1/chat/completions"
    ) async throws -> (status: Int, rule: RepetitionRule??) {
        let api = APIFixture([[.finish(.endOfGeneration)]])
        let answer = try await api.post(path, #"{"model":"tiny",\#(Self.hello),"stream":false,\#(member)}"#)
        return (answer.status, await api.engine.options.last.map(\.repetition))
    }

    @Test func vLLMsFieldReachesTheEngine() async throws {
        var expected = RepetitionRule()
        #expect(try await rule(#""n":1"#).rule == .some(expected))
        (expected.shortest, expected.longest, expected.count, expected.tokens) = (2, 20, 3, 0)
        let object = #""repetition_detection":{"max_pattern_size":20,"min_pattern_size":2,"min_count":3}"#
        #expect(try await rule(object).rule == .some(expected))
        #expect(try await rule(#""options":{\#(object)}"#, path: "/api/chat").rule == .some(expected))
        expected.shortest = 1
        for object in [
            #"{"max_pattern_size":20,"min_count":3}"#,
            #"{"max_pattern_size":20.0,"min_pattern_size":0,"min_count":3,"x":1}"#,
        ] {
            #expect(try await rule(#""repetition_detection":\#(object)"#).rule == .some(expected))
        }
        for object in ["{}", #"{"max_pattern_size":0}"#, #"{"max_pattern_size":0,"min_count":1}"#] {
            #expect(try await rule(#""repetition_detection":\#(object)"#).rule == .some(nil))
        }
        #expect(try await rule(#""repetition_detection":null"#).rule == .some(RepetitionRule()))
    }

    @Test(arguments: [
        "7", "true", "[]", #""on""#, #"{"max_pattern_size":-1}"#, #"{"max_pattern_size":4097,"min_count":2}"#,
        #"{"max_pattern_size":9,"min_count":1}"#, #"{"max_pattern_size":9}"#,
        #"{"max_pattern_size":"9","min_count":2}"#,
        #"{"max_pattern_size":9,"min_pattern_size":10,"min_count":2}"#, #"{"max_pattern_size":1e99,"min_count":2}"#,
        #"{"max_pattern_size":9,"min_count":99999999999}"#,
    ])
    func aWrongRuleIsRefused(value: String) async throws {
        let (status, rule) = try await rule(#""repetition_detection":\#(value)"#)
        #expect(status == 400 && rule == nil)
    }
}
