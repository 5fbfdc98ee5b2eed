import Foundation

/// A component of iCalendar or vCard text, such as a VEVENT, with its lines and components in their order.
package struct ContentComponent: Sendable, Hashable {
    /// A part of a component.
    package enum Item: Sendable, Hashable {
        case line(ContentLine)
        case component(ContentComponent)

        /// The line; `nil` for a component.
        var asLine: ContentLine? { if case .line(let line) = self { line } else { nil } }

        /// The component; `nil` for a line.
        var asComponent: ContentComponent? { if case .component(let component) = self { component } else { nil } }

        /// The item as in its file.
        var bytes: [UInt8] {
            switch self {
            case .line(let line): Array(line.bytes)
            case .component(let component): component.bytes
            }
        }
    }

    /// In upper case, such as `VEVENT`.
    package let name: String
    package var begin: ContentLine
    package var items: [Item]
    package var end: ContentLine

    /// The lines of the component itself.
    package var lines: [ContentLine] { items.compactMap(\.asLine) }

    /// The components inside.
    package var components: [ContentComponent] { items.components }

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
    package var bytes: [UInt8] { begin.bytes + items.flatMap(\.bytes) + end.bytes }

    /// Replaces the first line with a name, or adds one before the inner components; `nil` removes all such lines.
    package mutating func set(_ name: String, _ line: ContentLine?) {
        // A kept line of this name is replaced with it.
        items.removeAll { $0.asLine.flatMap(KeptLine.original)?.name == name }
        guard let line else { return items.removeAll { $0.asLine?.name == name } }
        if let place = items.firstIndex(where: { $0.asLine?.name == name }) {
            // The same text keeps its folds.
            if items[place].asLine?.unfolded != line.unfolded { items[place] = .line(line) }
        } else {
            items.insert(.line(line), at: items.endOfLines)
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

extension ContentComponent {
    /// Makes a component.
    package init(_ name: String, _ items: [Item], ending: [UInt8] = [13, 10]) {
        self.init(
            name: name, begin: ContentLine("BEGIN", value: name, ending: ending), items: items,
            end: ContentLine("END", value: name, ending: ending))
    }
}

/// The components of a file, and the lines between them.
extension [ContentComponent.Item] {
    package var components: [ContentComponent] { compactMap(\.asComponent) }

    package var data: Data { Data(flatMap(\.bytes)) }

    /// The place of the first component, which new lines stand before.
    var endOfLines: Int { firstIndex { $0.asComponent != nil } ?? endIndex }

    /// Changes each component with a name.
    mutating func changeComponents(_ name: String, _ body: (inout ContentComponent) throws -> Void) rethrows {
        for index in indices {
            guard var component = self[index].asComponent, component.name == name else { continue }
            try body(&component)
            self[index] = .component(component)
        }
    }
}
