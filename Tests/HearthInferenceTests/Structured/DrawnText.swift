import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthInference

/// Texts drawn character by character from a grammar.
struct DrawnText {
    private static let letters = (UInt8(0x20)...0x7E).filter { $0 != UInt8(ascii: "\\") } + Array("éåü".utf8)

    /// A text of the grammar; `nil` for one that does not end.
    static func from(_ grammar: Grammar, _ random: inout SeededGenerator, atMost limit: Int = 1500) -> String? {
        var matcher = GrammarMatcher(grammar)
        var text: [UInt8] = []
        while text.count < limit {
            if matcher.isComplete, matcher.isClosed || Int.random(in: 0..<3, using: &random) == 0 {
                return String(decoding: text, as: UTF8.self)
            }
            var order = letters.shuffled(using: &random)
            // The ends of values are tried first, and escapes only if no other character fits.
            if Int.random(in: 0..<3, using: &random) == 0 { order = Array("\"}],:".utf8) + order }
            guard let next = (order + [UInt8(ascii: "\\")]).first(where: { matcher.take(CollectionOfOne($0)) }) else {
                Issue.record("nothing follows \(String(decoding: text, as: UTF8.self))")
                return nil
            }
            text.append(next)
        }
        return nil
    }
}
