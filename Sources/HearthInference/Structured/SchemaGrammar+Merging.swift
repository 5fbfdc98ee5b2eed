import Foundation
import HearthBase

extension SchemaGrammar {
    /// The schema at a reference.
    func resolved(_ reference: JSONValue) throws -> JSONMembers {
        guard let text = reference.string else { throw flaw("$ref", "is no text") }
        let document = text.prefix { $0 != "#" }
        guard document.isEmpty || document == (root["$id"]?.string ?? "").prefix(while: { $0 != "#" }) else {
            throw flaw("$ref", "\(text.quoted) names another document")
        }
        guard let place = work.resolved(text, in: .object(root)) else {
            throw flaw("$ref", "\(text.quoted) names nothing")
        }
        if place == .boolean(true) { return JSONMembers() }
        if place == .boolean(false) { throw contradiction("$ref", "\(text.quoted) allows no value") }
        guard let members = place.members else { throw flaw("$ref", "\(text.quoted) names no schema") }
        return members
    }

    /// Expands the reference and `allOf` of a schema, so that it can be merged with others.
    func flattened(_ node: JSONValue, _ level: Int = 0) throws -> JSONMembers {
        guard var schema = node.members?.filter({ !Self.annotations.contains($0.key) }) else {
            guard node == .boolean(true) else { throw contradiction("false", "allows no value") }
            return JSONMembers()
        }
        defer { work.leave() }
        guard work.enter(), level < 16 else { throw flaw("$ref", "refers to itself where schemas are combined") }
        guard work.spend(1 + schema.count) else { throw flaw("", "combines too many alternatives") }
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
        defer { work.leave() }
        guard work.enter() else { throw flaw(keyword, "combines schemas that are nested too deeply") }
        guard work.spend(1 + left.count + right.count) else { throw flaw("", "combines too many alternatives") }
        var result = left
        let (left, right) = try (limited(left, by: right), limited(right, by: left))
        if let properties = left["properties"] { result["properties"] = properties }
        for (key, new) in right {
            guard let old = result[key] else {
                result[key] = new
                continue
            }
            if old != new, !Self.annotations.contains(key) { result[key] = try merged(old, new, key: key, keyword) }
        }
        return result
    }

    /// A schema whose properties also meet what another one says of properties that it does not list.
    private func limited(_ schema: JSONMembers, by other: JSONMembers) throws -> JSONMembers {
        guard let others = other["additionalProperties"], others != .boolean(true),
            !schema.members("properties").isEmpty
        else { return schema }
        var properties = schema.members("properties")
        let listed = other.members("properties")
        let patterns = other.members("patternProperties").keys.compactMap(PatternTable.shared.pattern)
        guard work.spend(properties.count * (1 + patterns.count)) else {
            throw flaw("", "combines too many alternatives")
        }
        for (name, own) in properties
        where listed[name] == nil && !patterns.contains(where: { $0.matches(name) == true }) {
            properties[name] =
                others.isFalse || own.isFalse
                ? .boolean(false)
                : .object(try merged(try flattened(own), try flattened(others), "additionalProperties"))
        }
        var result = schema
        result["properties"] = .object(properties)
        return result
    }

    private func merged(_ old: JSONValue, _ new: JSONValue, key: String, _ keyword: String) throws -> JSONValue {
        let conflict = flaw(keyword, "combines two of the keyword `\(key)`")
        switch key {
        case "properties", "patternProperties", "dependentRequired", "dependentSchemas":
            guard var result = old.members, let added = new.members else { throw conflict }
            guard work.spend(result.count + added.count) else { throw flaw("", "combines too many alternatives") }
            for (name, schema) in added {
                guard let own = result[name], own != schema else {
                    result[name] = schema
                    continue
                }
                if own.isFalse || schema.isFalse {
                    result[name] = .boolean(false)
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
            guard let only = both.first else {
                throw contradiction("type", "leaves no type where `\(keyword)` combines schemas")
            }
            return both.count == 1 ? only : .array(both)
        case "enum":
            let both = (old.items ?? []).filter { (new.items ?? []).contains($0) }
            guard !both.isEmpty else {
                throw contradiction("enum", "leaves no value where `\(keyword)` combines schemas")
            }
            return .array(both)
        case "const": throw contradiction("const", "leaves no value where `\(keyword)` combines schemas")
        case "pattern", "format": return .array(Self.list(old) + Self.list(new))
        case "not":
            // One list, because lists inside one another would nest as deep as there are schemas.
            let excluded = [old, new].flatMap { other in
                other.members?.keys == ["anyOf"] ? other["anyOf"]?.items ?? [other] : [other]
            }
            guard work.spend(excluded.count) else { throw flaw("", "combines too many alternatives") }
            return .object(["anyOf": .array(excluded)])
        case "items", "propertyNames", "contains":
            if old.isFalse || new.isFalse { return .boolean(false) }
            guard old.items == nil, new.items == nil else { throw conflict }
            return .object(try merged(try flattened(old), try flattened(new), keyword))
        case "multipleOf":
            guard let left = old.number, let right = new.number, left > 0, right > 0 else { throw conflict }
            if (left / right).isWhole { return old }
            if (right / left).isWhole { return new }
            throw conflict
        case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains":
            guard let left = old.number, let right = new.number else { throw conflict }
            return left >= right ? old : new
        case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
            guard let left = old.number, let right = new.number else { throw conflict }
            return left <= right ? old : new
        case "additionalProperties", "unevaluatedProperties":
            if old.isFalse || new.isFalse { return .boolean(false) }
            if old == .boolean(true) { return new }
            if new == .boolean(true) { return old }
            return .object(try merged(try flattened(old), try flattened(new), keyword))
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

extension Decimal {
    /// Whether the number has no decimals.
    var isWhole: Bool {
        var (value, rounded) = (self, Decimal())
        NSDecimalRound(&rounded, &value, 0, .plain)
        return rounded == self
    }
}
