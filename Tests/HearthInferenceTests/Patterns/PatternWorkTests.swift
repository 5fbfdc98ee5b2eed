import Foundation
import HearthTestSupport
import Testing

@testable import HearthInference

/// Short expressions that ask for much work.
@Suite(.timeLimit(.minutes(3))) struct PatternWorkTests {
    private static func choice(_ count: UInt32) -> String {
        let letters = (0..<count).compactMap { Unicode.Scalar(0x4E00 + $0) }.map { String($0) }
        return "^(\(letters.joined(separator: "|")))*$"
    }

    @Test func manyAlternativesAreLoosened() throws {
        let pattern = try Pattern(Self.choice(1300))
        #expect(pattern.texts.isLoosened && pattern.texts.automaton == .anything && pattern.matching == nil)
        #expect(pattern.matches("一丁一") == true && pattern.matches("一x") == false)
    }

    @Test func someAlternativesAreHeld() throws {
        let texts = try Pattern(Self.choice(60)).texts
        #expect(!texts.isLoosened && texts.automaton.matches("一丁一".unicodeScalars))
        #expect(!texts.automaton.matches("一x".unicodeScalars))
    }

    @Test func propertiesAreComputedOnce() throws {
        let pattern = try Pattern(String(repeating: #"\p{L}\P{Lu}"#, count: 800))
        #expect(pattern.matches("ab") == false)
    }

    /// Each character that a repetition passes is a step.
    @Test(arguments: ["[a]{400001,}", #"(a*)b\1c"#, "([a]{0,400000}x)\\1"])
    func longRunsAreCounted(source: String) throws {
        var match = PatternMatch(String(repeating: "a", count: 400_000), maximumSteps: 400_000)
        #expect(match.find(try PatternReader.read(source).root) == nil)
    }

    /// A table of many states and symbols is refused.
    @Test(.enabled(if: TestExtent.isFull)) func intersectionsAreBounded() throws {
        let words = TextAutomaton(
            (0..<900).map { number in
                String(
                    String.UnicodeScalarView((0..<4).compactMap { Unicode.Scalar(0x4E00 + UInt32(number * 4 + $0)) }))
            })
        #expect(throws: TextAutomaton.TooLarge.self) { try words.complement.intersection(words.complement) }
    }
}
