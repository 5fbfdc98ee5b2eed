import Foundation
import HearthBase

/// Reads contacts from vCards of versions 3 and 4, and leniently from those of 2.1 (RFC 6350, RFC 2426).
package enum VCard {
    /// The most entries of one kind that a contact keeps.
    private static let entryLimit = 100

    /// Reads the contacts of a file, which can hold several cards.
    /// - Returns: the contacts in their order, equal cards once; one without a UID gets a digest of its bytes.
    /// - Throws: `ContentParser.Failure`.
    package static func contacts(_ data: Data) throws -> [ContactRecord] {
        let cards = try ContentParser().parse(data).components.filter { $0.name == "VCARD" }
        guard !cards.isEmpty else { throw ContentParser.Failure(reason: "it has no VCARD") }
        return zip(cards, ids(of: cards)).compactMap { card, id in
            guard let id else { return nil }
            var contact = decoded(card).contact
            contact.id = id
            return ContactRecord(contact)
        }
    }

    /// The UIDs of the cards of a file: one of its own for a card whose UID an earlier one has; `nil` for a card with the
    /// bytes of an earlier one.
    static func ids(of cards: [ContentComponent]) -> [String?] {
        var (seen, used): (Set<SHA256Digest>, Set<String>) = ([], [])
        return cards.map { card in
            let digest = SHA256Digest(hashing: card.bytes)
            guard seen.insert(digest).inserted else { return nil }
            var id = id(of: card)
            while !used.insert(id).inserted { id = RecordGroups.ownID(id, digest) }
            return id
        }
    }

    /// The UID of a card.
    static func id(of card: ContentComponent) -> String {
        let id = card.text("UID")?.trimmingCharacters(in: .whitespaces) ?? ""
        return id.isEmpty ? String(SHA256Digest(hashing: card.bytes).hex.prefix(32)) : id
    }

    /// Gives a card its UID: other programs need one, and the digest of its bytes does not outlive a change.
    static func identify(_ card: inout ContentComponent, as id: String) {
        guard card.text("UID")?.trimmingCharacters(in: .whitespaces) != id else { return }
        card.set("UID", nil)
        // It follows the version, which comes first.
        let place = card.items.firstIndex { $0.asLine?.name != "VERSION" }
        let line = ContentLine("UID", value: ContentText.escaped(id), ending: card.ending)
        card.items.insert(.line(line), at: place ?? card.items.endIndex)
    }

    /// A contact, and the places of its values among the items of its card.
    struct Decoded {
        var contact: Contact
        /// The line that holds the text of FN.
        var name: Int?
        var nicknames: [Int] = []
        /// The lines of ORG with a text; the first counts.
        var organizations: [Int] = []
        var notes: [Int] = []
        /// The lines of BDAY with a date; the first counts.
        var birthdays: [Int] = []
        /// As many as numbers.
        var numbers: [Int] = []
        /// As many as mail addresses.
        var mails: [Int] = []
        /// The labels of groups, and their lines, by the group in lower case.
        var labels: [String: (text: String, places: [Int])] = [:]
    }

    /// The contact of a card. Lines without a text, and those past the limit of entries, have no place.
    static func decoded(_ card: ContentComponent) -> Decoded {
        var decoded = Decoded(contact: Contact(id: id(of: card), collection: "", name: ""))
        var (full, parts) = ("", "")
        for (place, item) in card.items.enumerated() {
            guard case .line(let line) = item, line.name == "X-ABLABEL" else { continue }
            // The label of a group, as Apple writes it: `item1.X-ABLabel:_$!<HomePage>!$_`.
            guard let group = line.group?.lowercased() else { continue }
            let text = ContentText.unescaped(VCardDecoding.value(line).value)
                .replacing("_$!<", with: "").replacing(">!$_", with: "")
            decoded.labels[group] = (text, (decoded.labels[group]?.places ?? []) + [place])
        }
        for (place, item) in card.items.enumerated() {
            guard case .line(let line) = item else { continue }
            let (parameters, value) = VCardDecoding.value(line)
            let text = ContentText.unescaped(value).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty else { continue }
            switch line.name {
            case "FN" where full.isEmpty:
                full = text
                decoded.name = place
            case "N": parts = name(ofParts: value)
            case SourceLine.name: decoded.contact.source = decoded.contact.source ?? SourceLine.source(line)
            case "NICKNAME" where decoded.contact.nicknames.count < entryLimit:
                decoded.contact.nicknames += ContentText.parts(value, separator: ",").filter { !$0.isEmpty }
                decoded.nicknames.append(place)
            case "ORG":
                if decoded.contact.organization.isEmpty {
                    decoded.contact.organization = joined(value, separator: ", ")
                }
                decoded.organizations.append(place)
            case "NOTE":
                decoded.contact.note += (decoded.contact.note.isEmpty ? "" : "\n") + text
                decoded.notes.append(place)
            case "BDAY":
                guard let day = Birthday(line) else { continue }
                if decoded.contact.birthday == nil { decoded.contact.birthday = day.text }
                decoded.birthdays.append(place)
            case "TEL" where decoded.contact.numbers.count < entryLimit:
                let number = text.lowercased().hasPrefix("tel:") ? String(text.dropFirst(4).prefix { $0 != ";" }) : text
                decoded.contact.numbers.append(.init(label: label(parameters, line, decoded.labels), value: number))
                decoded.numbers.append(place)
            case "EMAIL" where decoded.contact.mails.count < entryLimit:
                let mail = text.lowercased().hasPrefix("mailto:") ? String(text.dropFirst(7)) : text
                decoded.contact.mails.append(.init(label: label(parameters, line, decoded.labels), value: mail))
                decoded.mails.append(place)
            default: break
            }
        }
        let contact = decoded.contact
        decoded.contact.name =
            [
                full, parts, contact.organization, contact.nicknames.first ?? "", contact.mails.first?.value ?? "",
                contact.numbers.first?.value ?? "",
            ].first { !$0.isEmpty } ?? ""
        return decoded
    }

    /// The name of N, `Family;Given;Additional;Prefixes;Suffixes`, as people write it.
    private static func name(ofParts value: String) -> String {
        let parts = ContentText.rawParts(value, separator: ";").map { part in
            ContentText.parts(part, separator: ",").joined(separator: " ").trimmingCharacters(in: .whitespaces)
        }
        return [3, 1, 2, 0, 4].compactMap { parts.indices.contains($0) && !parts[$0].isEmpty ? parts[$0] : nil }
            .joined(separator: " ")
    }

    private static func joined(_ value: String, separator: String) -> String {
        ContentText.parts(value, separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.joined(separator: separator)
    }

    /// The label of a number or address: the group's own, or the first type that says something.
    private static func label(
        _ parameters: [ContentLine.Parameter], _ line: ContentLine, _ labels: [String: (text: String, places: [Int])]
    ) -> String {
        if let group = line.group?.lowercased(), let label = labels[group]?.text, !label.isEmpty {
            return label.lowercased()
        }
        let types = parameters.filter(\.isType).flatMap(\.types).map { $0.lowercased() }
        return types.first { !silentTypes.contains($0) } ?? (types.contains("voice") ? "voice" : "")
    }

    /// The types that are no label. `voice` is one where no other type is.
    static let silentTypes: Set<String> = [
        "pref", "internet", "voice", "x400", "quoted-printable", "base64", "text", "uri",
    ]
}

extension ContentLine.Parameter {
    /// Whether the parameter holds types; in version 2.1 they have no name.
    var isType: Bool { name == "TYPE" || name.isEmpty }

    /// The types. Those of version 4 may be in quotes: `TYPE="voice,home"`.
    var types: [String] { values.flatMap { $0.split(separator: ",").map(String.init) } }
}
