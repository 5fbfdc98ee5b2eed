import Foundation

/// Finds the values of an action in the texts from outside, without regard to case, accents, punctuation and white space.
///
/// The result informs the user. It decides nothing: an action asks whenever any text from outside is in the context.
struct ValueSources: Sendable {
    private let texts: [(source: String, folded: Data)]

    init(_ outside: [OutsideText]) {
        texts = outside.map { ($0.source, Data(" \(SearchText.folded($0.text)) ".utf8)) }
    }

    /// The words of a part of a long value that is looked for.
    private static let partLength = 6

    /// Where a value occurs; for a long value also where a part of it occurs. `nil` for none, and for values of one or two
    /// letters.
    func source(of values: [String]) -> String? {
        guard !texts.isEmpty else { return nil }
        let folded = values.map { SearchText.folded($0) }
        for value in folded where value.unicodeScalars.count > 2 {
            // Short words count only as a whole.
            let searched = value.utf8.count < 4 ? " \(value) " : value
            if let found = texts.first(where: { $0.folded.range(of: Data(searched.utf8)) != nil }) {
                return found.source
            }
        }
        for value in folded {
            let words = value.split(separator: " ")
            guard words.count > Self.partLength else { continue }
            for start in 0..<min(words.count - Self.partLength, 200) {
                let part = Data(" \(words[start..<(start + Self.partLength)].joined(separator: " ")) ".utf8)
                if let found = texts.first(where: { $0.folded.range(of: part) != nil }) {
                    return "in part \(found.source)"
                }
            }
        }
        return nil
    }
}
