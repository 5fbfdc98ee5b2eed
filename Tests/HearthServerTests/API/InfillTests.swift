import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// The gap between two texts.
@Suite struct InfillTests {
    private static let marks = InfillMarks(prefix: 1, suffix: 2, middle: 3, file: 4, beginning: 9)

    private func prompt(_ body: String, _ marks: InfillMarks = Self.marks) throws -> [APIRequest.PromptPart] {
        let form = try InfillRequest(try Fields(parsing: Array(body.utf8))).marked(marks)
        guard case .prompts(let prompts) = form.request.input, prompts.count == 1 else { return [] }
        return prompts[0]
    }

    @Test func marksStandAroundTheTexts() throws {
        let body = #"{"input_prefix":"a = ","prompt":"1 +","input_suffix":"\n<|im_end|>"}"#
        let parts: [APIRequest.PromptPart] = [
            .tokens([9]), .tokens([1]), .letters("a = 1 +"), .tokens([2]), .letters("\n<|im_end|>"), .tokens([3]),
        ]
        #expect(try prompt(body) == parts)
    }

    @Test func otherFilesStandBefore() throws {
        let body = #"{"input_suffix":"b","input_extra":[{"filename":"x.py","text":"y"},{"text":"z"}]}"#
        #expect(
            try prompt(body).prefix(5) == [
                .tokens([9]), .tokens([4]), .letters("x.py\ny"), .tokens([4]), .letters("tmp\nz"),
            ])
        var plain = Self.marks
        (plain.file, plain.beginning) = (nil, nil)
        #expect(try prompt(body, plain).first == .letters("\n\n--- snippet ---\n\ny"))
    }

    @Test(arguments: [
        "{}", #"{"prompt":"x"}"#, #"{"input_prefix":1}"#, #"{"input_prefix":"a","input_extra":"x"}"#,
        #"{"input_prefix":"a","input_extra":[{"filename":"x"}]}"#, #"{"input_prefix":"a","mirostat":2}"#,
    ])
    func aWrongRequestIsRefused(body: String) {
        #expect(throws: APIFailure.self) { _ = try prompt(body) }
    }

    @Test func aModelWithoutMarksSaysSo() async throws {
        let reply = try await APIFixture().post("/infill", #"{"input_prefix":"a"}"#)
        #expect(reply.status == 400 || reply.status == 500)
    }
}
