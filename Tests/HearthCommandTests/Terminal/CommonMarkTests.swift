import Foundation
import Testing

@testable import HearthCommand

/// The examples of the CommonMark specification show the text of their HTML; `make verify` names the file.
@Suite(.enabled(if: CommonMarkFile.path != nil)) struct CommonMarkTests {
    struct Example: Decodable, Sendable {
        let markdown: String
        let html: String
        let example: Int
        let section: String
    }

    /// Examples that show something else, with the reason.
    static let others: [Int: String] = {
        let html = "raw HTML is shown as text"
        let older = "the parser follows an older version of the specification"
        return [
            21: html, 28: older, 31: html, 203: html, 310: html, 311: html, 346: html, 356: older, 477: html, 478: html,
            479: html, 493: html, 496: html, 526: html, 538: html, 645: html, 646: html,
        ]
    }()

    static func examples() throws -> [Example] {
        guard let path = CommonMarkFile.path else { return [] }
        let all = try JSONDecoder().decode([Example].self, from: Data(contentsOf: URL(filePath: path)))
        return all.filter { !$0.section.contains("HTML") }
    }

    @Test func showTheTextOfTheirHTML() throws {
        let examples = try Self.examples()
        #expect(examples.count == 588)
        var wrong: [Int] = []
        for example in examples where MarkdownText.content(example.markdown) != MarkdownText.shown(example.html) {
            wrong.append(example.example)
        }
        #expect(wrong == Self.others.keys.sorted())
    }

    @Test(.timeLimit(.minutes(5))) func streamedEqualsWhole() throws {
        var generator = SplitMix(state: 7)
        var different: [Int] = []
        for example in try Self.examples() {
            let whole = MarkdownText.screen([example.markdown])
            let scalars = example.markdown.unicodeScalars.map { String($0) }
            var random: [String] = [""]
            for scalar in scalars {
                if generator.next() % 4 == 0 { random.append("") }
                random[random.count - 1] += scalar
            }
            for pieces in [scalars, random] {
                let streamed = MarkdownText.screen(pieces)
                if streamed.shownText != whole.shownText || !streamed.strangers.isEmpty {
                    different.append(example.example)
                    break
                }
            }
        }
        #expect(different == [])
    }
}

/// The examples of the CommonMark specification as JSON.
enum CommonMarkFile {
    static let path = ProcessInfo.processInfo.environment["HEARTH_COMMONMARK"]
}

/// A sequence of random numbers that is the same each time.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
