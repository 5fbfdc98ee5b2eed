/// Keeps the invisible joiners of emoji out of the line that libedit shows, and puts them back into the line it returns.
///
/// libedit counts the columns of each scalar alone and forgets those without a column, so a line with joiners smears.
struct EmojiJoiners: Sendable {
    /// Emoji with their joiners, by their text without.
    private var known: [String: String] = [:]

    /// Whether a scalar joins emoji or chooses their form: the joiner, variation selectors, the keycap and tags.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200D, 0xFE0E, 0xFE0F, 0x20E3, 0xE0020...0xE007F: true
        default: false
        }
    }

    /// The text to show and edit in place of a text that was typed.
    mutating func shown(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: Self.isJoiner) else { return text }
        var result = ""
        for character in text {
            let scalars = character.unicodeScalars
            // A keycap without its joiners would be any digit.
            guard scalars.contains(where: Self.isJoiner), let first = scalars.first, !first.isASCII,
                first.properties.isEmoji
            else {
                result.append(character)
                continue
            }
            var bare = String.UnicodeScalarView()
            bare.append(contentsOf: scalars.filter { !Self.isJoiner($0) })
            known[String(bare)] = String(character)
            result.unicodeScalars.append(contentsOf: bare)
        }
        return result
    }

    /// The line with the joiners of the emoji that are whole in it.
    func restored(_ line: String) -> String {
        var line = line
        for (bare, joined) in known.sorted(by: { ($0.key.count, $0.key) > ($1.key.count, $1.key) }) {
            line = line.replacing(bare, with: joined)
        }
        return line
    }
}
