#if Llama
import HearthBase
import HearthInference

/// The tools from which llama.cpp makes the grammar of their calls: with marks in the places of their schemas. Hearth's
/// own rules replace the marks, because llama.cpp leaves many keywords out and refuses others.
struct ToolShapes {
    private let tools: [ToolDefinition]
    /// The property that each mark stands for.
    private let marks: [(mark: String, tool: Int, property: String)]

    /// The beginning of all marks.
    private static let sign = "7340516"

    /// The tools with marks.
    let marked: [ToolDefinition]
    var names: [String] { tools.map(\.name) }

    init(_ tools: [ToolDefinition]) {
        self.tools = tools
        var marks: [(mark: String, tool: Int, property: String)] = []
        var reader = SchemaGrammar(isLenient: true)
        marked = tools.enumerated().map { index, tool in
            let document = (try? JSONValue(parsing: tool.parameters))?.members ?? JSONMembers()
            let texts = reader.textProperties(of: document)
            var properties = JSONMembers()
            for name in document["properties"]?.members?.keys ?? [] {
                if texts.contains(name) {
                    properties[name] = ["type": "string"]
                } else {
                    // A number that is no value of a schema by chance.
                    let mark = "\(Self.sign)\(100_000 + marks.count)"
                    marks.append((mark, index, name))
                    properties[name] = ["const": .number(mark)]
                }
            }
            var shape: JSONMembers = ["type": "object", "properties": .object(properties)]
            let required = (document["required"]?.items ?? []).filter { name in
                name.string.map { properties[$0] != nil } ?? false
            }
            if !required.isEmpty { shape["required"] = .array(required) }
            return ToolDefinition(
                name: tool.name, description: tool.description, parameters: JSONValue.object(shape).line)
        }
        self.marks = marks
    }

    /// llama.cpp's grammar of calls with the rules of the tools' schemas.
    /// - Throws: `grammar-unusable`.
    func grammar(_ gbnf: String) throws(LLMError) -> Grammar {
        do {
            return try grammar(gbnf, isPlain: false)
        } catch {
            Log.write(.info, "tools", "the arguments of calls are held to no schema: \(error.message)")
            return try grammar(gbnf, isPlain: true)
        }
    }

    /// - Parameter isPlain: whether arguments may be any object, and properties any value.
    private func grammar(_ gbnf: String, isPlain: Bool) throws(LLMError) -> Grammar {
        var writer = SchemaGrammar(isLenient: true)
        let lines = gbnf.split(separator: "\n").map { line in
            (text: line, name: line.firstRange(of: " ::= ").map { String(line[..<$0.lowerBound]) } ?? "")
        }
        // llama.cpp names the rule of a tool's arguments after the tool. Two names may give one rule.
        var rules: [String: [Int]] = [:]
        for (index, tool) in tools.enumerated() {
            rules["tool-\(Self.ruleName(tool.name))-schema", default: []].append(index)
        }
        // A rule for the whole arguments leaves those of the properties without a use.
        let whole = Set(lines.lazy.flatMap { rules[$0.name] ?? [] })
        var symbols: [Substring: String] = [:]
        for mark in marks {
            let isUsed = !isPlain && !whole.contains(mark.tool)
            symbols[mark.mark[...]] =
                isUsed ? try writer.add(property: mark.property, of: tools[mark.tool].parameters) : "h-value"
        }
        var written: [String] = []
        for line in lines {
            guard let found = rules[line.name] else {
                written.append(Self.replaced(line.text, symbols))
                continue
            }
            var symbol = "h-object"
            if found.count == 1, !isPlain { symbol = try writer.add(arguments: tools[found[0]].parameters) }
            written.append("\(line.name) ::= \(symbol)")
        }
        for flaw in writer.loosened.prefix(8) {
            Log.write(.info, "tools", "not held by the grammar of calls: \(flaw)")
        }
        return try writer.grammar(written.joined(separator: "\n") + "\n")
    }

    /// A line with the rules in place of its marks, which are literals.
    private static func replaced(_ line: Substring, _ symbols: [Substring: String]) -> String {
        let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
        guard line.contains(Self.sign), parts.count > 2 else { return String(line) }
        var result = ""
        var index = 0
        while index < parts.count {
            if index + 2 <= parts.count, index > 0, let symbol = symbols[parts[index]], result.last == "\"" {
                result.removeLast()
                result += symbol + (index + 1 < parts.count ? String(parts[index + 1]) : "")
                index += 2
            } else {
                result += parts[index]
                index += 1
            }
            if index < parts.count { result += "\"" }
        }
        return result
    }

    /// llama.cpp's form of a name in rules: one hyphen in place of other characters.
    private static func ruleName(_ name: String) -> String {
        var result = ""
        var isOpen = false
        for scalar in name.unicodeScalars {
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-")
            if isPlain { result.unicodeScalars.append(scalar) } else if !isOpen { result += "-" }
            isOpen = !isPlain
        }
        return result
    }
}

/// The formats of calls of the tools that were offered last: an agent offers the same ones with every request.
final class CallFormatTable: Sendable {
    struct Key: Hashable {
        let tools: [ToolDefinition]
        let enableThinking: Bool
        /// The template's beginning of the answer, which calls are read with.
        let opening: String
    }

    private let known = Locked<[(key: Key, format: CallFormat)]>([])
    private static let limit = 4

    func format(_ key: Key, _ make: ([ToolDefinition]) throws -> CallFormat.Raw) throws -> CallFormat {
        if let found = known.withLock({ $0.first { $0.key == key }?.format }) { return found }
        let shapes = ToolShapes(key.tools)
        let made = try CallFormat(make(shapes.marked), shapes: shapes)
        known.withLock {
            $0.insert((key, made), at: 0)
            if $0.count > Self.limit { $0.removeLast() }
        }
        return made
    }
}
#endif
