import HearthBase

/// Keywords with alternatives: `anyOf`, `oneOf`, `if`, dependencies, lists of types.
extension SchemaGrammar {
    /// The alternatives of a schema, each merged with the schema's other keywords; `nil` if it has none.
    mutating func branches(_ schema: inout JSONMembers) throws -> [JSONValue]? {
        for keyword in ["anyOf", "oneOf"] {
            guard let value = schema[keyword] else { continue }
            guard let parts = value.items else { throw flaw(keyword, "is no list") }
            var others = schema
            others[keyword] = nil
            guard !parts.isEmpty else { throw contradiction(keyword, "has no alternative") }
            // References are kept, so that a schema that contains itself is written once.
            if others.isEmpty { return parts }
            return try combined(parts, others, keyword)
        }
        if let condition = schema["if"] { return try conditional(schema, condition) }
        for keyword in ["dependentSchemas", "dependencies", "dependentRequired"] {
            guard var dependencies = schema[keyword]?.members, let name = dependencies.keys.first,
                let needs = dependencies[name]
            else {
                schema[keyword] = nil
                continue
            }
            dependencies[name] = nil
            schema[keyword] = dependencies.isEmpty ? nil : .object(dependencies)
            var present = schema
            present["required"] = .array((Set(schema.strings("required")).union([name])).sorted().map { .string($0) })
            if let names = needs.items {
                var also = JSONMembers()
                also["required"] = .array(names)
                present = try merged(present, also, keyword)
            } else {
                present = try merged(present, try flattened(needs), keyword)
            }
            if schema.strings("required").contains(name) { return [.object(present)] }
            return [.object(present), .object(Self.without(property: name, schema))]
        }
        return try types(&schema)
    }

    /// Merges each alternative with the other keywords; one that contradicts them is dropped if another one remains.
    private func combined(_ parts: [JSONValue], _ others: JSONMembers, _ keyword: String) throws -> [JSONValue] {
        var result: [JSONValue] = []
        var failure: SchemaFlaw?
        for part in parts {
            do {
                result.append(.object(try merged(others, try flattened(part), keyword)))
            } catch let flaw as SchemaFlaw {
                failure = failure ?? flaw
            }
        }
        if result.isEmpty, let failure { throw failure }
        return result
    }

    private func conditional(_ schema: JSONMembers, _ condition: JSONValue) throws -> [JSONValue] {
        var others = schema
        for keyword in ["if", "then", "else"] { others[keyword] = nil }
        if let flag = condition.flag {
            guard let part = schema[flag ? "then" : "else"] else { return [.object(others)] }
            return [.object(try merged(others, try flattened(part), flag ? "then" : "else"))]
        }
        let condition = try flattened(condition)
        var result: [JSONValue] = []
        var failure: SchemaFlaw?
        do {
            var held = try merged(others, condition, "if")
            if let then = schema["then"] { held = try merged(held, try flattened(then), "then") }
            // The properties of a condition become required, because an absent property meets any condition.
            var required = held.strings("required")
            for name in condition.members("properties").keys where !required.contains(name) { required.append(name) }
            if !required.isEmpty { held["required"] = .array(required.map { .string($0) }) }
            result.append(.object(held))
        } catch let flaw as SchemaFlaw {
            failure = flaw
        }
        if var failed = Self.without(condition, others) {
            if let other = schema["else"] { failed = try merged(failed, try flattened(other), "else") }
            result.append(.object(failed))
        }
        if result.isEmpty, let failure { throw failure }
        return result
    }

    private func types(_ schema: inout JSONMembers) throws -> [JSONValue]? {
        guard let types = schema["type"]?.items else { return nil }
        if schema["enum"] != nil || schema["const"] != nil { return nil }
        guard !types.isEmpty else { throw contradiction("type", "has no type") }
        schema["type"] = nil
        return types.map { type in
            var branch = schema
            branch["type"] = type
            return .object(branch)
        }
    }

    /// The schema of values that violate a condition on one property's constants; `nil` for other conditions.
    private static func without(_ condition: JSONMembers, _ schema: JSONMembers) -> JSONMembers? {
        let properties = condition.members("properties")
        guard properties.keys.count == 1, let name = properties.keys.first, let property = properties[name]?.members
        else { return nil }
        let constants = property["const"].map { [$0] } ?? property["enum"]?.items ?? []
        var all = schema.members("properties")
        guard !constants.isEmpty, var own = all[name]?.members
        else { return nil }
        let values =
            own["enum"]?.items
            ?? (own["type"] == .string("boolean") ? [.boolean(true), .boolean(false)] : [])
        let others = values.filter { !constants.contains($0) }
        guard !others.isEmpty else { return nil }
        own["enum"] = .array(others)
        all[name] = .object(own)
        var result = schema
        result["properties"] = .object(all)
        result["required"] = .array((Set(schema.strings("required")).union([name])).sorted().map { .string($0) })
        return result
    }

    private static func without(property name: String, _ schema: JSONMembers) -> JSONMembers {
        var result = schema
        var properties = schema.members("properties")
        properties[name] = .boolean(false)
        result["properties"] = .object(properties)
        return result
    }
}
