import Foundation

/// A component of iCalendar or vCard text, such as a VEVENT, with its lines and components in their order.
package struct ContentComponent: Sendable, Hashable {
    /// A part of a component.
    package enum Item: Sendable, Hashable {
        case line(ContentLine)
        case component(ContentComponent)
    }

    /// In upper case, such as `VEVENT`.
    package let name: String
    package var begin: ContentLine
    package var items: [Item]
    package var end: ContentLine

    package init(name: String, begin: ContentLine, items: [Item], end: ContentLine) {
        self.name = name
        self.begin = begin
        self.items = items
        self.end = end
    }

    /// Makes a component.
    package init(_ name: String, _ items: [Item], ending: [UInt8] = [13, 10]) {
        self.init(
            name: name, begin: ContentLine("BEGIN", value: name, ending: ending), items: items,
            end: ContentLine("END", value: name, ending: ending))
    }

    /// The lines of the component itself.
    package var lines: [ContentLine] {
        items.compactMap { if case .line(let line) = $0 { line } else { nil } }
    }

    /// The components inside.
    package var components: [ContentComponent] {
        items.compactMap { if case .component(let component) = $0 { component } else { nil } }
    }

    /// The first line with a name.
    package func first(_ name: String) -> ContentLine? {
        for case .line(let line) in items where line.name == name { return line }
        return nil
    }

    /// The lines with a name.
    package func all(_ name: String) -> [ContentLine] { lines.filter { $0.name == name } }

    /// The line ending of the component's file.
    package var ending: [UInt8] { begin.bytes.suffix(2) == [13, 10] ? [13, 10] : [10] }

    /// The component with other line endings.
    package func ending(with ending: [UInt8]) -> ContentComponent {
        guard ending != self.ending else { return self }
        return ContentComponent(
            name: name, begin: begin.ending(with: ending),
            items: items.map { item in
                switch item {
                case .line(let line): .line(line.ending(with: ending))
                case .component(let component): .component(component.ending(with: ending))
                }
            }, end: end.ending(with: ending))
    }

    /// The component as in its file.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    func append(to bytes: inout [UInt8]) {
        bytes += begin.bytes
        for item in items {
            switch item {
            case .line(let line): bytes += line.bytes
            case .component(let component): component.append(to: &bytes)
            }
        }
        bytes += end.bytes
    }

    /// Replaces the first line with a name, or adds one before the inner components; `nil` removes all such lines.
    package mutating func set(_ name: String, _ line: ContentLine?) {
        let place = items.firstIndex { if case .line(let old) = $0 { old.name == name } else { false } }
        guard let line else {
            items.removeAll { if case .line(let old) = $0 { old.name == name } else { false } }
            return
        }
        if let place {
            // The same text keeps its folds.
            if case .line(let old) = items[place], old.unfolded == line.unfolded { return }
            items[place] = .line(line)
        } else {
            let place = items.firstIndex { if case .component = $0 { true } else { false } }
            items.insert(.line(line), at: place ?? items.endIndex)
        }
    }

    /// Replaces a text such as `SUMMARY`, keeping its parameters; an empty text removes the line.
    package mutating func setText(_ name: String, _ text: String) {
        let parameters = first(name)?.parameters ?? []
        let line = ContentLine(name, parameters, value: ContentText.escaped(text), ending: ending)
        set(name, text.isEmpty ? nil : line)
    }

    /// The text of the first line with a name; `nil` without one.
    package func text(_ name: String) -> String? { first(name).map { ContentText.unescaped($0.value) } }
}

/// The components of a file, and the bytes between them.
package struct ContentDocument: Sendable, Hashable {
    package var items: [ContentComponent.Item]

    package init(items: [ContentComponent.Item]) { self.items = items }

    package var components: [ContentComponent] {
        items.compactMap { if case .component(let component) = $0 { component } else { nil } }
    }

    package var data: Data {
        var bytes: [UInt8] = []
        for item in items {
            switch item {
            case .line(let line): bytes += line.bytes
            case .component(let component): component.append(to: &bytes)
            }
        }
        return Data(bytes)
    }
}
