import Foundation
import HearthBase

extension SchemaNarrowing {
    /// A reference into the document, as it is.
    func checkedReference(_ reference: OrderedJSON, _ schema: OrderedJSON.Members) throws -> OrderedJSON.Members {
        guard let text = reference.string else { throw Self.refused("$ref", "is no text") }
        var schema = schema
        if text == "#" {
            schema["$ref"] = .string("#/\(Self.rootName)")
        } else {
            _ = try resolved(reference)
        }
        return schema
    }

    /// The schema that a reference names.
    func resolved(_ reference: OrderedJSON) throws -> OrderedJSON.Members {
        let text = reference.string ?? ""
        guard text == "#" || text.hasPrefix("#/") else {
            throw Self.refused("$ref", "\(text.quoted) names another document")
        }
        var place = OrderedJSON.object(root)
        for part in text.split(separator: "/").dropFirst() {
            let name = part.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
            let next =
                place.members?[name]
                ?? Int(name).flatMap { index in
                    place.items.flatMap { $0.indices.contains(index) ? $0[index] : nil }
                }
            guard let next else { throw Self.refused("$ref", "\(text.quoted) names nothing") }
            place = next
        }
        guard let members = place.members else { throw Self.refused("$ref", "\(text.quoted) names no schema") }
        return members
    }

    /// A schema whose reference and `allOf` are written out, to be merged with others.
    func flattened(_ node: OrderedJSON, _ level: Int = 0) throws -> OrderedJSON.Members {
        guard var schema = node.members else {
            guard node == .value(.boolean(true)) else { throw Self.refused("allOf", "allows nothing") }
            return OrderedJSON.Members()
        }
        guard level < 16 else { throw Self.refused("$ref", "refers to itself where schemas are combined") }
        if let reference = schema["$ref"] {
            schema["$ref"] = nil
            schema = try merged(try flattened(.object(try resolved(reference)), level + 1), schema, "$ref")
        }
        if let parts = schema["allOf"]?.items {
            schema["allOf"] = nil
            for part in parts { schema = try merged(schema, try flattened(part, level + 1), "allOf") }
        }
        return schema
    }

    /// A schema that says what both say.
    /// - Parameter keyword: what combines them.
    func merged(_ left: OrderedJSON.Members, _ right: OrderedJSON.Members, _ keyword: String) throws
        -> OrderedJSON.Members
    {
        var result = left
        for key in right.keys {
            guard let new = right[key], let old = result[key], old != new, !Self.annotations.contains(key) else {
                if result[key] == nil || !Self.annotations.contains(key) { result[key] = right[key] }
                continue
            }
            result[key] = try merged(old, new, key: key, keyword)
        }
        return result
    }

    private func merged(_ old: OrderedJSON, _ new: OrderedJSON, key: String, _ keyword: String) throws -> OrderedJSON {
        let conflict = Self.refused(keyword, "combines two of the keyword `\(key)`")
        switch key {
        case "properties", "patternProperties", "dependentRequired", "dependentSchemas":
            guard var result = old.members, let added = new.members else { throw conflict }
            for name in added.keys {
                guard let schema = added[name] else { continue }
                guard let own = result[name], own != schema else {
                    result[name] = schema
                    continue
                }
                result[name] = .object(try merged(try flattened(own), try flattened(schema), keyword))
            }
            return .object(result)
        case "required":
            guard let names = old.items, let added = new.items else { throw conflict }
            return .array(names + added.filter { !names.contains($0) })
        case "type":
            let left = old.items ?? [old], right = new.items ?? [new]
            var both = left.filter { right.contains($0) }
            // Integers are numbers.
            if left.contains(.string("number")), right.contains(.string("integer")) { both.append(.string("integer")) }
            if right.contains(.string("number")), left.contains(.string("integer")) { both.append(.string("integer")) }
            guard let only = both.first else { throw conflict }
            return both.count == 1 ? only : .array(both)
        case "enum":
            let both = (old.items ?? []).filter { (new.items ?? []).contains($0) }
            guard !both.isEmpty else { throw conflict }
            return .array(both)
        case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains":
            return try chosen(old, new, conflict) { $0 >= $1 }
        case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
            return try chosen(old, new, conflict) { $0 <= $1 }
        case "additionalProperties":
            if old == .value(.boolean(false)) || new == .value(.boolean(false)) { return .value(.boolean(false)) }
            if old == .value(.boolean(true)) { return new }
            if new == .value(.boolean(true)) { return old }
            throw conflict
        case "anyOf", "oneOf":
            // One of each: the alternatives of the first, each with those of the second.
            guard let alternatives = old.items, let others = new.items, alternatives.count * others.count <= 64 else {
                throw conflict
            }
            return .array(
                try alternatives.flatMap { left in
                    try others.map { .object(try merged(try flattened(left), try flattened($0), keyword)) }
                })
        case "uniqueItems": return .value(.boolean(true))
        default: throw conflict
        }
    }

    private func chosen(
        _ old: OrderedJSON, _ new: OrderedJSON, _ conflict: LLMError, _ isTighter: (Decimal, Decimal) -> Bool
    ) throws -> OrderedJSON {
        var both = OrderedJSON.Members()
        (both["old"], both["new"]) = (old, new)
        guard let left = both.number("old"), let right = both.number("new") else { throw conflict }
        return isTighter(left, right) ? old : new
    }
}
