import Foundation

/// A contact with its texts as searches compare them.
package struct ContactRecord: Sendable, Identifiable {
    package var contact: Contact
    package var id: String { contact.id }
    private let name: String
    private let nicknames: [String]
    private let organization: String
    private let mails: [String]
    private let digits: [String]

    package init(_ contact: Contact) {
        self.contact = contact
        name = SearchText.folded(contact.name)
        nicknames = contact.nicknames.map(SearchText.folded)
        organization = SearchText.folded(contact.organization)
        mails = contact.mails.map { SearchText.folded($0.value) }
        digits = contact.numbers.map { ContactQuery.digits(of: $0.value) }
    }

    /// How well the contact fits, a smaller number for a better one; `nil` if it does not.
    package func rank(_ query: ContactQuery) -> Int? {
        if query.isEmpty { return 0 }
        if query.folded == name { return 0 }
        if nicknames.contains(query.folded) { return 1 }
        if !query.words.isEmpty {
            let words = name.split(separator: " ")
            // Each word of the query begins a word of the name.
            if query.words.allSatisfy({ part in words.contains { $0 == part } }) { return 2 }
            if query.words.allSatisfy({ part in words.contains { $0.hasPrefix(part) } }) { return 3 }
            let texts = [name] + nicknames + mails + [organization]
            if mails.contains(query.folded) { return 2 }
            if query.words.allSatisfy({ part in
                texts.contains { text in text.split(separator: " ").contains { $0.hasPrefix(part) } }
            }) {
                return 4
            }
            if query.words.allSatisfy({ part in texts.contains { $0.contains(part) } }) { return 5 }
        }
        return digits.contains(where: query.matches) ? 2 : nil
    }
}

/// A search for contacts.
package struct ContactQuery: Sendable {
    /// The words without accents and case, joined by blanks.
    let folded: String
    let words: [String]
    /// The significant digits of a number; empty for other queries.
    private let number: String

    package init(_ text: String) {
        let text = String(text.prefix(200))
        words = SearchText.tokens(of: text, limit: 20).map(\.text)
        folded = words.joined(separator: " ")
        let isNumber = text.unicodeScalars.allSatisfy {
            $0.properties.numericType == .decimal || "+-/(). \u{A0}".unicodeScalars.contains($0)
        }
        let digits = Self.digits(of: text)
        number = isNumber && digits.count >= 3 ? digits : ""
    }

    var isEmpty: Bool { words.isEmpty }

    /// The digits of a number without what comes before the area: `+49 (0)30 1234` is `49301234`, `0049 30` is `4930`.
    static func digits(of number: String) -> String {
        let plain = number.replacing("(0)", with: "").prefix(100)
        let digits = plain.compactMap(\.wholeNumberValue).filter { (0...9).contains($0) }.map(String.init).joined()
        return digits.hasPrefix("00") ? String(digits.dropFirst(2)) : digits
    }

    /// Whether a number is the one of the query: equal, or equal at its end, so that `030 1234` finds `+49 30 1234`.
    func matches(_ other: String) -> Bool {
        guard !number.isEmpty, !other.isEmpty else { return false }
        if other == number || other.contains(number) && number.count >= 4 { return true }
        let (left, right) = (Self.withoutTrunk(number), Self.withoutTrunk(other))
        guard min(left.count, right.count) >= 6 else { return false }
        return left.hasSuffix(right) || right.hasSuffix(left)
    }

    /// A number inside a country without the 0 before its area.
    private static func withoutTrunk(_ digits: String) -> Substring { digits.drop { $0 == "0" } }
}
