import HearthBase

/// Changes a JSON text that may have comments.
struct JSONEditor {
    private let patch: TextPatch
    private let outline: JSONOutline
    /// The white space of one level.
    private let unit: String

    init(_ bytes: [UInt8]) throws(ConfigurationTextError) {
        patch = TextPatch(bytes)
        outline = try JSONOutline(bytes)
        let first = outline.root?.entries.first?.start
        let indentation = first.map { [patch] in patch.beginsLine($0) ? patch.indentation($0) : "" } ?? ""
        unit = indentation.isEmpty ? "  " : indentation
    }

    func applying(_ edit: ConfigurationEdit) throws(ConfigurationTextError) -> [UInt8] {
        guard let root = outline.root else {
            guard let value = edit.value else { return patch.bytes }
            let text = Self.text(value.wrapped(in: edit.path), indentation: "", unit: unit)
            let end = patch.bytes.count
            return patch.replacing((end..<end, patch.missingLineEnd + text + "\n"))
        }
        var node = root
        for (index, step) in edit.path.enumerated() {
            guard let place = node.place(of: step) else {
                guard let value = edit.value else { return patch.bytes }
                return try inserting(value.wrapped(in: edit.path[(index + 1)...]), step, in: node)
            }
            let isLast = index == edit.path.count - 1
            if isLast, edit.value == nil { return removing(place, from: node) }
            node = node.entries[place].node
        }
        guard let value = edit.value else { return patch.bytes }
        let isInline = !patch.hasLines(node.range) && node.isContainer && !node.entries.isEmpty
        let text =
            isInline ? value.line : Self.text(value, indentation: patch.indentation(node.range.lowerBound), unit: unit)
        return patch.replacing((node.range, text))
    }

    private func inserting(
        _ value: JSONValue, _ step: ConfigurationStep, in node: JSONOutline.Node
    ) throws(ConfigurationTextError) -> [UInt8] {
        var name = ""
        switch step {
        case .key(let key):
            guard node.value.members != nil else {
                throw .unsafe("an object is expected", at: node.range.lowerBound, in: patch.bytes)
            }
            name = JSONValue.string(key).line + ":"
        case .item:
            guard node.value.items != nil else {
                throw .unsafe("a list is expected", at: node.range.lowerBound, in: patch.bytes)
            }
        }
        let close = node.range.upperBound - 1
        let isInline = !patch.hasLines(node.range) && !node.entries.isEmpty
        let last = node.entries.last
        let needsComma = last != nil && last?.comma == nil
        if isInline {
            let hasSpaces = patch.bytes[close - 1] == 32
            let text =
                (needsComma ? "," : "") + (hasSpaces || needsComma && patch.text(node.range).contains(", ") ? " " : "")
            let end = last.map { ($0.comma ?? $0.node.range.upperBound - 1) + 1 } ?? node.tail
            let pair = name.isEmpty ? value.line : name + (hasSpaces ? " " : "") + value.line
            return patch.replacing((end..<end, text + pair))
        }
        let outer = patch.indentation(node.range.lowerBound)
        let first = node.entries.first?.start
        let inner = first.map { patch.beginsLine($0) ? patch.indentation($0) : outer + unit } ?? outer + unit
        let pair = (name.isEmpty ? "" : name + " ") + Self.text(value, indentation: inner, unit: unit)
        // A trailing comma is the file's style, and stays one.
        let insertion = "\n" + inner + pair + (last != nil && !needsComma ? "," : "")
        let endsLine = patch.hasLines(node.tail..<close)
        let after = endsLine ? "" : "\n" + outer
        guard needsComma, let end = last?.node.range.upperBound, end != node.tail else {
            return patch.replacing((node.tail..<node.tail, (needsComma ? "," : "") + insertion + after))
        }
        return patch.replacing((end..<end, ","), (node.tail..<node.tail, insertion + after))
    }

    private func removing(_ place: Int, from node: JSONOutline.Node) -> [UInt8] {
        let entry = node.entries[place]
        let end = (entry.comma ?? entry.node.range.upperBound - 1) + 1
        let previous = place > 0 ? node.entries[place - 1] : nil
        // The comma before the last entry goes with it, unless commas end all entries.
        let comma = entry.comma == nil ? previous?.comma : nil
        var range = entry.start..<end
        let next = patch.nextLine(end - 1)
        let rest = patch.bytes[end..<next]
        if patch.beginsLine(entry.start), rest.allSatisfy({ $0 == 32 || (9...13).contains($0) }) {
            range = patch.lineStart(entry.start)..<next
        } else if let comma, patch.bytes[(comma + 1)..<entry.start].allSatisfy({ $0 == 32 }) {
            return patch.replacing((comma..<end, ""))
        } else if entry.comma != nil {
            let spaces = patch.bytes[end...].prefix { $0 == 32 }.count
            range = entry.start..<(end + spaces)
        }
        guard let comma else { return patch.replacing((range, "")) }
        return patch.replacing((comma..<(comma + 1), ""), (range, ""))
    }

    /// A value on indented lines, whose first one begins at the place of the value.
    static func text(_ value: JSONValue, indentation: String, unit: String) -> String {
        let inner = indentation + unit
        func block(_ lines: [String], _ open: String, _ close: String) -> String {
            lines.isEmpty
                ? open + close
                : "\(open)\n" + lines.map { inner + $0 }.joined(separator: ",\n") + "\n\(indentation)\(close)"
        }
        switch value {
        case .object(let members):
            return block(
                members.map { JSONValue.string($0.key).line + ": " + text($0.value, indentation: inner, unit: unit) },
                "{", "}")
        case .array(let items):
            return block(items.map { text($0, indentation: inner, unit: unit) }, "[", "]")
        default: return value.line
        }
    }
}
