import Foundation
import HearthBase

extension SchemaNarrowing {
    /// Checks a reference into the document and keeps it.
    func checkedReference(_ reference: JSONValue, _ schema: JSONMembers) throws -> JSONMembers {
        guard let text = reference.string else { throw Self.refused("$ref", "is no text") }
        var schema = schema
        if text == "#" {
            schema["$ref"] = .string("#/\(Self.rootName)")
        } else {
            _ = try resolved(reference)
        }
        return schema
    }

    /// The schema at a reference.
    func resolved(_ reference: JSONValue) throws -> JSONMembers {
        let text = reference.string ?? ""
        guard text == "#" || text.hasPrefix("#/") else {
            throw Self.refused("$ref", "\(text.quoted) names another document")
        }
        guard let place = JSONValue.object(root).resolved(text) else {
            throw Self.refused("$ref", "\(text.quoted) names nothing")
        }
        guard let members = place.members else { throw Self.refused("$ref", "\(text.quoted) names no schema") }
        return members
    }

    /// Expands the reference and `allOf` of a schema, so that it can be merged with others.
    func flattened(_ node: JSONValue, _ level: Int = 0) throws -> JSONMembers {
        guard var schema = node.members else {
            guard node == .boolean(true) else { throw Self.refused("allOf", "allows nothing") }
            return JSONMembers()
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

    /// Merges two schemas to one with the keywords of both.
    /// - Parameter keyword: the keyword that combines them.
    func merged(_ left: JSONMembers, _ right: JSONMembers, _ keyword: String) throws
        -> JSONMembers
    {
        var result = left
        for (key, new) in right {
            guard let old = result[key] else {
                result[key] = new
                continue
            }
            if old != new, !Self.annotations.contains(key) { result[key] = try merged(old, new, key: key, keyword) }
        }
        return result
    }

    private func merged(_ old: JSONValue, _ new: JSONValue, key: String, _ keyword: String) throws -> JSONValue {
        let conflict = Self.refused(keyword, "combines two of the keyword `\(key)`")
        switch key {
        case "properties", "patternProperties", "dependentRequired", "dependentSchemas":
            guard var result = old.members, let added = new.members else { throw conflict }
            for (name, schema) in added {
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
            guard let left = old.number, let right = new.number else { throw conflict }
            return left >= right ? old : new
        case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
            guard let left = old.number, let right = new.number else { throw conflict }
            return left <= right ? old : new
        case "additionalProperties":
            if old.isFalse || new.isFalse { return .boolean(false) }
            if old == .boolean(true) { return new }
            if new == .boolean(true) { return old }
            throw conflict
        case "anyOf", "oneOf":
            // Each alternative of the first schema is combined with each alternative of the second.
            guard let alternatives = old.items, let others = new.items, alternatives.count * others.count <= 64 else {
                throw conflict
            }
            return .array(
                try alternatives.flatMap { left in
                    try others.map { .object(try merged(try flattened(left), try flattened($0), keyword)) }
                })
        case "uniqueItems": return .boolean(true)
        default: throw conflict
        }
    }
}
