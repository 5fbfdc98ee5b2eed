import Foundation
import HearthBase

/// Lists.
extension SchemaGrammar {
    /// The items of a list: the first ones, each with its own schema, then the rest.
    private struct Items {
        var first: [JSONValue] = []
        /// Where the schema of an item is in the document.
        var firstPlace: [String] = ["prefixItems"]
        var rest: JSONValue?
        var fewest = 0
        var most: Int?
    }

    mutating func array(_ schema: JSONMembers) throws -> String {
        var items = try items(schema)
        if let contained = schema["contains"] { try contain(contained, schema, &items) }
        if let most = items.most {
            guard items.fewest <= most else { throw contradiction("minItems", "is larger than its `maxItems`") }
            if items.first.count > most { items.first.removeLast(items.first.count - most) }
        }
        let isUnique = schema.isTrue("uniqueItems")
        if isUnique, items.first.isEmpty, let rest = items.rest, let values = try values(of: rest) {
            return try subset(of: values, items)
        }
        return try written(items, isUnique: isUnique)
    }

    private func items(_ schema: JSONMembers) throws -> Items {
        var items = Items()
        items.fewest = try count("minItems", of: schema) ?? 0
        items.most = try count("maxItems", of: schema)
        items.rest = schema["items"]
        if let first = schema["prefixItems"]?.items {
            items.first = first
        } else if let first = schema["items"]?.items {
            (items.first, items.firstPlace, items.rest) = (first, ["items"], schema["additionalItems"])
        }
        if items.rest?.isFalse == true {
            items.rest = nil
            items.most = min(items.most ?? items.first.count, items.first.count)
            if items.fewest > items.first.count {
                throw contradiction("minItems", "asks for more items than the schema allows")
            }
        }
        return items
    }

    /// Puts the items that the list must contain at its beginning.
    private func contain(_ contained: JSONValue, _ schema: JSONMembers, _ items: inout Items) throws {
        let count = try count("minContains", of: schema) ?? 1
        guard count > 0, items.first.isEmpty else { return }
        guard count <= 256 else { throw flaw("minContains", "is larger than 256") }
        if let most = items.most, most < count {
            throw contradiction("contains", "asks for more items than `maxItems`")
        }
        let item = try items.rest.map {
            JSONValue.object(try merged(try flattened($0), try flattened(contained), "contains"))
        }
        items.first = Array(repeating: item ?? contained, count: count)
        items.firstPlace = ["contains"]
        if try self.count("maxContains", of: schema) != nil, items.fewest <= count { items.most = count }
    }

    private mutating func written(_ items: Items, isUnique: Bool) throws -> String {
        var symbols: [String] = []
        for (index, item) in items.first.enumerated() {
            do {
                let place = items.firstPlace == ["contains"] ? items.firstPlace : items.firstPlace + ["\(index)"]
                symbols.append(try at(place) { try $0.symbol(item) })
            } catch let flaw as SchemaFlaw where flaw.isContradiction && index >= items.fewest {
                // The list ends before an item that no value fits.
                return Self.list(symbols, rest: nil, 0, 0)
            }
        }
        let fewest = max(0, items.fewest - symbols.count)
        let most = items.most.map { max(0, $0 - symbols.count) }
        if most == 0 { return Self.list(symbols, rest: nil, 0, 0) }
        // Items behind the first ones are written only where the schema speaks of them.
        if items.rest == nil, !symbols.isEmpty, fewest == 0 { return Self.list(symbols, rest: nil, 0, 0) }
        do {
            let rest = try at(["items"]) { try $0.item(items.rest ?? .boolean(true), isUnique: isUnique) }
            return Self.list(symbols, rest: rest, fewest, most)
        } catch let flaw as SchemaFlaw where flaw.isContradiction && fewest == 0 {
            return Self.list(symbols, rest: nil, 0, 0)
        }
    }

    /// An item that may have to differ from those before it.
    private mutating func item(_ node: JSONValue, isUnique: Bool) throws -> String {
        let symbol = try symbol(node)
        // A schema that contradicts itself was refused with its symbol.
        guard isUnique, let schema = try? flattened(node), schema["enum"] == nil, schema["const"] == nil else {
            return symbol
        }
        switch schema["type"]?.string {
        case "string":
            let language = try language(of: schema)
            return rule("\"\\\"\" \(text(language)) @string \"\\\"\"")
        case "integer", "number": return rule("\(symbol) @item")
        default: return symbol
        }
    }

    private static func list(_ first: [String], rest: String?, _ fewest: Int, _ most: Int?) -> String {
        var parts = first.enumerated().map { ($0.offset == 0 ? "" : "\",\" h-space ") + $0.element }
        if let rest {
            // The first item has no comma before it.
            let open = first.isEmpty ? 1 : 0
            let range = "{\(max(0, fewest - open)),\(most.map { "\(max(0, $0 - open))" } ?? "")}"
            let more = "(\",\" h-space \(rest))\(range)"
            parts.append(open == 0 ? more : fewest == 0 ? "(\(rest) \(more))?" : "\(rest) \(more)")
        }
        return (["\"[\" h-space"] + parts + ["h-space \"]\""]).joined(separator: " ")
    }

    // MARK: Different items of few values

    /// All values of a schema, if they are few.
    private mutating func values(of node: JSONValue) throws -> [JSONValue]? {
        // The items of a schema that contradicts itself are refused where they are written.
        guard let schema = try? flattened(node) else { return nil }
        if schema["enum"] != nil || schema["const"] != nil {
            var different: [JSONValue] = []
            for value in try constants(schema) where !different.contains(value) { different.append(value) }
            return different
        }
        switch schema["type"]?.string {
        case "boolean": return [.boolean(true), .boolean(false)]
        case "null": return [.null]
        case "string": return try language(of: schema).words(atMost: 64)?.map(JSONValue.string)
        case "integer":
            guard let low = schema.number("minimum"), let high = schema.number("maximum"), low <= high,
                high - low < 64, schema["multipleOf"] == nil, schema["exclusiveMinimum"] == nil,
                schema["exclusiveMaximum"] == nil
            else { return nil }
            var values: [JSONValue] = []
            var value = low
            while value <= high {
                values.append(.number("\(value)"))
                value += 1
            }
            return values
        default: return nil
        }
    }

    /// The lists of some of the values, in their order.
    private mutating func subset(of values: [JSONValue], _ items: Items) throws -> String {
        let fewest = items.fewest, most = min(items.most ?? values.count, values.count)
        guard fewest <= values.count else {
            throw contradiction("uniqueItems", "and `minItems` ask for more values than there are")
        }
        if most == 0 { return Self.list([], rest: nil, 0, 0) }
        let counted = items.most != nil || fewest > 1
        guard values.count * (counted ? most + 1 : 1) <= 20_000 else { return try written(items, isUnique: false) }
        let texts = values.map { Self.literal($0.line) }
        // The rules for what may follow, by the number of items before it; without a bound, by whether there are any.
        var rules: [[String]] = Array(repeating: [], count: values.count + 1)
        let highest = counted ? most : 1
        for index in stride(from: values.count, through: 0, by: -1) {
            rules[index] = (0...highest).map { count in
                var choices: [String] = []
                if index < values.count, count < most || !counted {
                    let next = rules[index + 1][min(count + 1, highest)]
                    let comma = count == 0 ? "" : "\",\" h-space "
                    choices.append("\(comma)\(texts[index]) \(next)")
                    choices.append(rules[index + 1][count])
                }
                if count >= fewest, index == values.count || choices.isEmpty { choices.append("\"\"") }
                if choices.isEmpty { choices.append("h-none") }
                return rule(choices.joined(separator: " | "))
            }
        }
        if !self.rules.contains("h-none ::= h-none") { define("h-none ::= h-none") }
        return "\"[\" h-space \(rules[0][0]) h-space \"]\""
    }
}

extension SchemaGrammar.Language {
    /// All texts, if they are at most `limit`.
    func words(atMost limit: Int) -> [String]? {
        guard let words = automaton.words(atMost: limit) else { return nil }
        return words.filter { $0.unicodeScalars.count >= fewest && $0.unicodeScalars.count <= most ?? Int.max }
    }
}
