import Testing

@testable import HearthAssistant

@Suite struct PromptBudgetTests {
    /// Each text has as many tokens as a third of its bytes.
    private let meter = TokenMeter(nil)

    private func section(_ name: String, _ tokens: Int, _ priority: Int) -> PromptSection {
        PromptSection(name: name, text: String(repeating: "abc", count: tokens), priority: priority)
    }

    @Test(arguments: [
        (1000, ["a", "b", "c"]), (60, ["a", "b", "c"]), (59, ["a", "c"]), (40, ["a", "c"]), (39, ["a", "b"]),
        (30, ["a", "b"]), (10, ["a"]), (0, ["a"]),
    ])
    func theMostImportantSectionsStayInTheirOrder(_ limit: Int, _ expected: [String]) async {
        let sections = [section("a", 10, PromptSection.required), section("b", 20, 1), section("c", 30, 5)]
        let kept = await PromptBudget(tokens: limit).fit(sections, meter)
        #expect(kept.map(\.name) == expected)
    }

    @Test(arguments: [(100, 10), (33, 10), (32, 9), (16, 4), (3, 1), (2, 0)])
    func aSectionThatFitsInPartKeepsItsFirstLines(_ limit: Int, _ lines: Int) async {
        let text = (0..<10).map { "line \($0) ok" }.joined(separator: "\n")
        let kept = await PromptBudget(tokens: limit).fit([PromptSection(name: "a", text: text)], meter)
        let expected = text.split(separator: "\n").prefix(lines).joined(separator: "\n")
        #expect((kept.first?.text ?? "") == expected)
    }
}
