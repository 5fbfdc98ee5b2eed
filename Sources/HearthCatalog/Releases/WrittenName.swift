import Foundation

/// A model's name as a person wrote it, such as in the name of a file, and the family that is made of it.
///
/// | written | family |
/// | --- | --- |
/// | `My Model` | `my-model` |
/// | `Bär`, `Bar` | `bar`, which is a clash |
/// | `Straße 3` | `strasse-3` |
/// | `Москва` | `moskva` |
/// | `北京` | `bei-jing` |
///
/// Every family that is not named exactly is made here: of published files, of files that are pulled, and of addresses that
/// are added.
package struct WrittenName: Sendable, Hashable {
    /// The name as written, with composed letters.
    package let text: String
    /// The name in letters that a family may have.
    package let family: Family

    /// ICU's rules: letters of all scripts in Latin ones, these in ASCII ones, all of them small.
    private static let rules = StringTransform("Any-Latin; Latin-ASCII; Lower")
    /// The most bytes of a name that is read: a file's name has no more.
    private static let maximumBytes = 255

    /// Reads a name.
    /// - Returns: `nil` for a name without any letter or digit that a family may have.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumBytes else { return nil }
        self.text = String(text).precomposedStringWithCanonicalMapping
        // ASCII names keep their letters: the rules change nothing else in them.
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        guard let latin = isASCII ? text.lowercased() : self.text.applyingTransform(Self.rules, reverse: false) else {
            return nil
        }
        let name = latin.withCharacters(allowed: "._-", others: "-")
        let isSeparator: (Character) -> Bool = { "._-".contains($0) }
        let start = name.drop(while: isSeparator).prefix(64)
        let end = start.lastIndex { !isSeparator($0) }.map { start.index(after: $0) } ?? start.startIndex
        guard let family = Family(start[..<end]) else { return nil }
        self.family = family
    }

    /// The first of the written names of the family that is another name; `nil` if all are this one. Capitals make no
    /// other name.
    package func clash(among names: [String]) -> String? {
        names.first { $0.precomposedStringWithCanonicalMapping.lowercased() != text.lowercased() }
    }

    /// The family that earlier versions made of the name, with a hyphen for each letter outside ASCII; `nil` if it is the
    /// same, or was none.
    package var earlierFamily: Family? {
        let earlier = Family(text.lowercased().withCharacters(allowed: "._-", others: "-"))
        return earlier == family ? nil : earlier
    }
}
