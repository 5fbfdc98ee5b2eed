import Foundation
import HearthBase

/// Plans the import of a file of vCards: one file for each card.
struct ContactImport {
    let folder: VdirFolder<ContactRecord>

    /// - Throws: `unusable-record` if the file has no vCard, or replaces one of several records of a stored file.
    func plan(_ data: Data) throws -> RecordImportPlan {
        let document = try ImportedDocument(data, "VCARD", kind: "vCard")
        let cards = document.components.filter { $0.name == "VCARD" }
        var plan = RecordImportPlan()
        plan.addOther(document.components.map(\.name).filter { $0 != "VCARD" })
        for (card, id) in zip(cards, VCard.ids(of: cards)) {
            guard let id else { continue }
            let line = document.line(of: card)
            let name = VCard.decoded(card).contact.name
            func problem(_ code: RecordProblem.Code, _ reason: String, after lines: Int = 0) {
                plan.problems.append(RecordProblem(code, line: line + lines, id: id, title: name, reason))
            }
            let bytes = card.bytes
            if let fault = Self.fault(card, data: Data(bytes)) {
                plan.unreadable += 1
                problem(fault.code, fault.reason)
                plan.kept.append(try folder.keeping(Data(bytes), named: bytes, store: .contacts))
                continue
            }
            if id != VCard.id(of: card) { problem(.sameID, "another card of the file has its UID") }
            var repaired = RepairedCard(card, name: name)
            for place in repaired.unreadable {
                problem(.unreadableLine, "a line is no property; it is kept as \(KeptLine.name)", after: place)
            }
            VCard.identify(&repaired.card, as: id)
            plan.changes.append(try folder.importing(id, Data(repaired.card.bytes), store: .contacts))
        }
        return plan
    }

    /// Why a card cannot be read; `nil` for one that can be read.
    static func fault(_ card: ContentComponent, data: Data) -> (code: RecordProblem.Code, reason: String)? {
        guard data.count <= ContentParser.record.bytes else {
            return (.largeRecord, "it has more than \(ContentParser.record.bytes) bytes")
        }
        guard !VCard.decoded(card).contact.name.isEmpty else {
            return (.emptyContact, "it has no name, number or mail address")
        }
        return nil
    }
}

/// A card whose lines other programs can read: khard and others end at the first one that they cannot, for all contacts.
///
/// Quoted-printable and other character sets become plain UTF-8, base64 gets its folds and padding, and a line that is no
/// property is kept as the text of one. All other lines keep their bytes.
struct RepairedCard {
    var card: ContentComponent
    /// The lines that are no properties, counted from the one that begins the card.
    private(set) var unreadable: [Int] = []

    /// - Parameter name: what FN says, where the card has none.
    init(_ card: ContentComponent, name: String) {
        self.card = card
        var items: [ContentComponent.Item] = []
        var lines = 1
        for item in card.items {
            defer { lines += item.bytes.count { $0 == UInt8(ascii: "\n") } }
            guard let line = item.asLine else {
                items.append(item)
                continue
            }
            let text = line.unfolded
            if text.trimmingWhitespace.isEmpty {
                items.append(item)
            } else if !line.isProperty {
                if let begun = items.last?.asLine, let whole = Self.joined(begun, text, card.ending) {
                    items[items.count - 1] = .line(whole)
                } else {
                    unreadable.append(lines)
                    items.append(.line(KeptLine.line(line, ending: card.ending)))
                }
            } else {
                items.append(.line(line.plain(ending: card.ending) ?? line))
            }
        }
        self.card.items = items.map { item in
            guard let line = item.asLine, Self.isBase64(line) else { return item }
            return .line(Self.padded(line, card.ending))
        }
        if self.card.first("FN").map({ $0.value.trimmingWhitespace.isEmpty }) ?? true {
            self.card.set("FN", ContentLine("FN", value: ContentText.escaped(name), ending: card.ending))
        }
    }

    // MARK: - Base64

    private static func isBase64(_ line: ContentLine) -> Bool {
        line.parameters.contains { parameter in
            (parameter.name == "ENCODING" || parameter.name.isEmpty)
                && parameter.values.contains { ["B", "BASE64"].contains($0.uppercased()) }
        }
    }

    /// A line of base64 that goes on in a line without a fold; `nil` for others.
    private static func joined(_ line: ContentLine, _ text: String, _ ending: [UInt8]) -> ContentLine? {
        let isDigits = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "+/=".utf8.contains(byte)
        }
        guard isDigits, isBase64(line) else { return nil }
        let (parameters, value) = line.split()
        return ContentLine(line.writtenName, parameters, value: value + text, group: line.group, ending: ending)
    }

    /// A line of base64 whose digits are whole; as the text of a property if they cannot be.
    private static func padded(_ line: ContentLine, _ ending: [UInt8]) -> ContentLine {
        let (parameters, value) = line.split()
        let count = value.utf8.count { $0 > 32 && $0 != UInt8(ascii: "=") }
        let wanted = [0, 0, 2, 1][count % 4]
        guard count % 4 != 1 else { return KeptLine.line(line, ending: ending) }
        guard value.utf8.count(where: { $0 == UInt8(ascii: "=") }) < wanted else { return line }
        let digits = value.filter { $0 != "=" } + String(repeating: "=", count: wanted)
        return ContentLine(line.writtenName, parameters, value: digits, group: line.group, ending: ending)
    }
}
