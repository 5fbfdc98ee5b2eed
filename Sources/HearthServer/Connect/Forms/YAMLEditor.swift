import HearthBase

/// Changes a YAML text: values of one line are replaced, pairs and items are added and removed by whole lines.
struct YAMLEditor {
    private typealias Node = YAMLOutline.Node
    private let patch: TextPatch
    private let outline: YAMLOutline

    init(_ bytes: [UInt8]) throws(ConfigurationTextError) {
        patch = TextPatch(bytes)
        outline = try YAMLOutline(bytes)
    }

    func applying(_ edit: ConfigurationEdit) throws(ConfigurationTextError) -> [UInt8] {
        var node = outline.root
        /// The column of the block around `node`; -1 around the root.
        var column = -1
        for (index, step) in edit.path.enumerated() {
            guard let place = node.place(of: step) else {
                guard let value = edit.value else { return patch.bytes }
                return try inserting(value.wrapped(in: edit.path[(index + 1)...]), step, in: node, column: column)
            }
            if index == edit.path.count - 1 {
                guard let value = edit.value else { return try removing(place, from: node, isRoot: index == 0) }
                return try replacing(node.entries[place], with: value, column: node.indentation)
            }
            column = node.indentation
            node = node.entries[place].node
        }
        return patch.bytes
    }

    private func lines(_ lines: [String], column: Int) -> String {
        lines.map { String(repeating: " ", count: column) + $0 }.joined(separator: "\n")
    }

    private func replacing(
        _ entry: YAMLOutline.Entry, with value: JSONValue, column: Int
    ) throws(ConfigurationTextError) -> [UInt8] {
        guard entry.key != nil else {
            let text = lines(YAMLText.item(value), column: column)
            return patch.replacing((entry.start..<entry.node.range.upperBound, String(text.dropFirst(column))))
        }
        guard value.members == nil, value.items == nil, entry.node.kind == .scalar else {
            throw .unsafe("the value is not of one line", at: entry.start, in: patch.bytes)
        }
        let space = entry.node.range.isEmpty ? " " : ""
        return patch.replacing((entry.node.range, space + YAMLText.written(value)))
    }

    private func inserting(
        _ value: JSONValue, _ step: ConfigurationStep, in node: Node, column: Int
    ) throws(ConfigurationTextError) -> [UInt8] {
        let added: [String]
        let kind: Node.Kind
        switch step {
        case .key(let key): (added, kind) = (YAMLText.pair(key, value), .mapping)
        case .item: (added, kind) = (YAMLText.item(value), .list)
        }
        let isRoot = column < 0
        if node.kind == kind {
            let text = lines(added, column: node.indentation)
            return isRoot ? appending(text) : inserting(text, afterLineOf: node.range.upperBound - 1)
        }
        // A value that is missing, or empty in brackets.
        let isNothing =
            node.value == .null || (kind == .list ? node.value.items : node.value.members?.values)?.isEmpty == true
        guard node.kind == .scalar, isNothing else {
            throw .unsafe(
                "the value is not a \(kind == .list ? "list" : "mapping") on lines of its own",
                at: node.range.lowerBound, in: patch.bytes)
        }
        if isRoot, node.value == .null, node.range.isEmpty { return appending(lines(added, column: 0)) }
        let text = lines(added, column: max(0, column + 2))
        if node.range.isEmpty { return inserting(text, afterLineOf: node.range.lowerBound - 1) }
        var start = node.range.lowerBound
        while start > 0, patch.bytes[start - 1] == 32 { start -= 1 }
        let next = inserting(text, afterLineOf: node.range.upperBound - 1)
        return TextPatch(next).replacing((start..<node.range.upperBound, ""))
    }

    private func appending(_ text: String) -> [UInt8] {
        let end = patch.bytes.count
        return patch.replacing((end..<end, patch.missingLineEnd + text + "\n"))
    }

    private func inserting(_ text: String, afterLineOf place: Int) -> [UInt8] {
        let end = patch.nextLine(place)
        return patch.replacing((end..<end, (end == patch.bytes.count ? patch.missingLineEnd : "") + text + "\n"))
    }

    private func removing(_ place: Int, from node: Node, isRoot: Bool) throws(ConfigurationTextError) -> [UInt8] {
        let entry = node.entries[place]
        guard patch.beginsLine(entry.start) else {
            throw .unsafe("the line has other values", at: entry.start, in: patch.bytes)
        }
        let end = patch.nextLine(max(entry.start, entry.node.range.upperBound - 1))
        let range = patch.lineStart(entry.start)..<end
        guard node.entries.count == 1, !isRoot else { return patch.replacing((range, "")) }
        // A key without lines would have no value.
        let key = patch.lineStart(range.lowerBound - 1)
        guard let colon = patch.bytes[key..<range.lowerBound].lastIndex(of: UInt8(ascii: ":")),
            patch.bytes[(colon + 1)..<range.lowerBound].allSatisfy({ $0 == 32 || $0 == 13 || $0 == 10 })
        else { throw .unsafe("its key is not in the line above", at: entry.start, in: patch.bytes) }
        return patch.replacing(((colon + 1)..<(colon + 1), node.kind == .list ? " []" : " {}"), (range, ""))
    }
}
