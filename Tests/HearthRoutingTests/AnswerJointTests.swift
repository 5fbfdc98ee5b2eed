import Testing

@testable import HearthRouting

/// The joint between an answer and its rest from a cloud model.
@Suite struct AnswerJointTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let written: String
        let rest: String
        let whole: String
        var testDescription: String { "\(written.suffix(12))|\(rest.prefix(12))" }
    }

    @Test(arguments: [
        Case(written: "The cat sat on", rest: "on the mat.", whole: "The cat sat on the mat."),
        Case(written: "The cat sat on ", rest: "on the mat.", whole: "The cat sat on the mat."),
        Case(written: "I am hap", rest: "happy to help.", whole: "I am happy to help."),
        Case(written: "The cat sat on", rest: "the mat.", whole: "The cat sat on the mat."),
        Case(written: "The cat sat on", rest: " the mat.", whole: "The cat sat on the mat."),
        Case(written: "One. Two.", rest: "Three.", whole: "One. Two. Three."),
        Case(written: "One:\n\n", rest: "- two", whole: "One:\n\n- two"),
        Case(written: "One, two", rest: ", three", whole: "One, two, three"),
        Case(
            written: "First line. The second line has words", rest: "The second line has words and more of them.",
            whole: "First line. The second line has words and more of them."),
        Case(written: "Done", rest: "", whole: "Done"),
        Case(written: "", rest: "Anew", whole: "Anew"),
    ])
    func noWordIsLostOrDoubled(_ test: Case) {
        for size in [1, 3, 1000] {
            var joint = AnswerJoint(after: test.written)
            var whole = test.written
            var rest = Substring(test.rest)
            while !rest.isEmpty {
                whole += joint.append(String(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            whole += joint.finish()
            #expect(whole == test.whole)
        }
    }
}
