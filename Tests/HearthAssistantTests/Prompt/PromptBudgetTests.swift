import Testing

@testable import HearthAssistant

@Suite struct PromptBudgetTests {
    /// Each text has as many tokens as a third of its bytes; the marks of a section have three.
    private let meter = TokenMeter(nil)

    private func section(_ name: String, _ tokens: Int, _ priority: Int) -> PromptSection {
        PromptSection(name: name, text: String(repeating: "abc", count: tokens), priority: priority)
    }

    @Test(arguments: [
        (1000, ["a", "b", "c"]), (69, ["a", "b", "c"]), (68, ["a", "c"]), (46, ["a", "c"]), (45, ["a", "b"]),
        (36, ["a", "b"]), (35, ["a"]), (13, ["a"]), (0, ["a"]),
    ])
    func theMostImportantSectionsStayInTheirOrder(_ limit: Int, _ expected: [String]) async {
        let sections = [section("a", 10, PromptSection.required), section("b", 20, 1), section("c", 30, 5)]
        let kept = await PromptBudget(tokens: limit).fit(sections, meter)
        #expect(kept.map(\.name) == expected)
    }

    @Test(arguments: [(100, 10), (36, 10), (35, 9), (19, 4), (6, 1), (5, 0)])
    func aSectionThatFitsInPartKeepsItsFirstLines(_ limit: Int, _ lines: Int) async {
        let text = (0..<10).map { "line \($0) ok" }.joined(separator: "\n")
        let kept = await PromptBudget(tokens: limit).fit([PromptSection(name: "a", text: text)], meter)
        let expected = text.split(separator: "\n").prefix(lines).joined(separator: "\n")
        #expect((kept.first?.text ?? "") == expected)
    }
}
