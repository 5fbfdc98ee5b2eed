import Foundation
import HearthBase

/// Reads contacts from vCards of versions 3 and 4, and leniently from those of 2.1 (RFC 6350, RFC 2426).
package enum VCard {
    /// The most entries of one kind that a contact keeps.
    private static let entryLimit = 100

    /// Reads the contacts of a file, which can hold several cards.
    /// - Returns: the UIDs in their order; a card without one gets a digest of its bytes.
    /// - Throws: `ContentParser.Failure`.
    package static func contacts(_ data: Data) throws -> (ids: [String], record: [ContactRecord]) {
        let document = try ContentParser(hasSoftBreaks: true).parse(data)
        let cards = document.components.filter { $0.name == "VCARD" }
        guard !cards.isEmpty else { throw ContentParser.Failure(reason: "it has no VCARD") }
        let contacts = cards.map { ContactRecord(contact($0)) }
        return (contacts.map(\.contact.id), contacts)
    }

    /// The UID of a card.
    static func id(of card: ContentComponent) -> String {
        let id = card.text("UID")?.trimmingCharacters(in: .whitespaces) ?? ""
        return id.isEmpty ? String(SHA256Digest(hashing: Data(card.bytes)).hex.prefix(32)) : id
    }

    private static func contact(_ card: ContentComponent) -> Contact {
        var contact = Contact(id: id(of: card), collection: "", name: "")
        var (full, parts, labels): (String, String, [String: String]) = ("", "", [:])
        for line in card.lines where line.name == "X-ABLABEL" {
            // The label of a group, as Apple writes it: `item1.X-ABLabel:_$!<HomePage>!$_`.
            guard let group = line.group?.lowercased() else { continue }
            labels[group] = ContentText.unescaped(line.value).replacing("_$!<", with: "").replacing(">!$_", with: "")
        }
        for line in card.lines {
            let (parameters, value) = VCardDecoding.value(line)
            let text = ContentText.unescaped(value).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty else { continue }
            switch line.name {
            case "FN": if full.isEmpty { full = text }
            case "N": parts = name(ofParts: value)
            case "NICKNAME" where contact.nicknames.count < entryLimit:
                contact.nicknames += ContentText.parts(value, separator: ",").filter { !$0.isEmpty }
            case "ORG": if contact.organization.isEmpty { contact.organization = joined(value, separator: ", ") }
            case "NOTE": contact.note += (contact.note.isEmpty ? "" : "\n") + text
            case "TEL" where contact.numbers.count < entryLimit:
                let number = text.lowercased().hasPrefix("tel:") ? String(text.dropFirst(4).prefix { $0 != ";" }) : text
                contact.numbers.append(.init(label: label(parameters, line, labels), value: number))
            case "EMAIL" where contact.mails.count < entryLimit:
                let mail = text.lowercased().hasPrefix("mailto:") ? String(text.dropFirst(7)) : text
                contact.mails.append(.init(label: label(parameters, line, labels), value: mail))
            default: break
            }
        }
        contact.name =
            [
                full, parts, contact.organization, contact.nicknames.first ?? "", contact.mails.first?.value ?? "",
                contact.numbers.first?.value ?? "",
            ].first { !$0.isEmpty } ?? ""
        return contact
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
        _ parameters: [ContentLine.Parameter], _ line: ContentLine, _ labels: [String: String]
    ) -> String {
        if let group = line.group?.lowercased(), let label = labels[group], !label.isEmpty { return label.lowercased() }
        let meaningless = ["pref", "internet", "voice", "x400", "quoted-printable", "base64", "text", "uri"]
        // The types of version 4 may be in quotes: `TYPE="voice,home"`.
        let types = parameters.filter { $0.name == "TYPE" || $0.name.isEmpty }
            .flatMap { $0.values.flatMap { $0.lowercased().split(separator: ",").map(String.init) } }
        return types.first { !meaningless.contains($0) } ?? (types.contains("voice") ? "voice" : "")
    }
}
