import Foundation

/// The property of a record whose texts are from outside: `X-HEARTH-SOURCE:web page example.org`. Other programs keep
/// properties that they do not know.
enum SourceLine {
    static let name = "X-HEARTH-SOURCE"

    /// The source that a line names.
    static func source(_ line: ContentLine) -> String {
        let words = ContentText.unescaped(line.value).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let visible = words.unicodeScalars.filter { scalar in
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        let text = String(String.UnicodeScalarView(visible).prefix(80))
        return text.isEmpty ? "another program" : text
    }

    /// The properties without texts that people read.
    private static let technical: Set<String> = [
        name, "UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "DTSTART", "DTEND", "DUE", "DURATION", "RRULE",
        "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID", "STATUS", "COMPLETED", "PERCENT-COMPLETE", "PRIORITY", "REV",
        "VERSION", "TRANSP", "CLASS",
    ]

    /// Marks the records of a changed file whose texts were not in the file before. A mark from before stays.
    static func marking(_ after: Data, before: Data?, from source: String) throws -> Data {
        var items = try ContentParser().parse(after)
        let old = try before.map { try ContentParser().parse($0) } ?? []
        mark(&items, Set(texts(old)), ContentText.escaped(source), old: value(in: old))
        return items.data
    }

    private static func texts(_ items: [ContentComponent.Item]) -> [String] {
        items.components.flatMap { component in
            component.lines.filter { !technical.contains($0.name) }.map(\.unfolded) + texts(component.items)
        }
    }

    /// The value of the first mark.
    private static func value(in items: [ContentComponent.Item]) -> String? {
        for component in items.components {
            if let value = component.first(name)?.value ?? value(in: component.items) { return value }
        }
        return nil
    }

    private static func mark(
        _ items: inout [ContentComponent.Item], _ known: Set<String>, _ new: String, old: String?
    ) {
        for index in items.indices {
            guard var component = items[index].asComponent else { continue }
            switch component.name {
            case "VEVENT", "VTODO", "VCARD":
                let isNew = !texts([.component(component)]).allSatisfy(known.contains)
                guard let value = isNew ? new : component.first(name)?.value ?? old else { continue }
                component.set(name, ContentLine(name, value: value, ending: component.ending))
            default: mark(&component.items, known, new, old: old)
            }
            items[index] = .component(component)
        }
    }
}
