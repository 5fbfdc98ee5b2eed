import Foundation
import HearthBase

extension SchemaNarrowing {
    /// The patterns of formats that llama.cpp replaces by any string.
    private static let formats = [
        "email": "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,2}@[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,2}\\.[a-z]{2,8}$",
        "idn-email": "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,2}@[a-z0-9]{1,20}\\.[a-z]{2,8}$",
        "hostname": "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,4}$",
        "ipv4": "^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$",
        "ipv6": "^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
        "uri": "^https?://[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){1,3}(/[A-Za-z0-9._~-]{1,30}){0,6}/?$",
        "uri-reference": "^(/[A-Za-z0-9._~-]{1,30}){1,6}$",
        "duration": "^P([0-9]{1,4}D|T[0-9]{1,4}[HMS]|[0-9]{1,3}DT[0-9]{1,2}H)$",
        "json-pointer": "^(/[A-Za-z0-9_-]{1,30}){0,6}$",
    ]

    /// Narrows a schema without alternatives.
    mutating func narrowedSingle(_ schema: JSONMembers) throws -> JSONMembers {
        if schema["const"] != nil { return schema }
        if let values = schema["enum"]?.items {
            guard !values.isEmpty else { throw Self.refused("enum", "is empty") }
            return schema
        }
        var schema = schema
        let type = schema["type"]?.string ?? Self.impliedType(schema)
        if let type { schema["type"] = .string(type) }
        switch type {
        case "integer", "number": return try narrowedNumber(schema, isInteger: type == "integer")
        case "string": return try narrowedString(schema)
        case "object": return try narrowedObject(schema)
        case "array": return try narrowedArray(schema)
        default: return schema
        }
    }

    private static func impliedType(_ schema: JSONMembers) -> String? {
        let kinds: [(String, [String])] = [
            ("object", ["properties", "required", "additionalProperties", "patternProperties", "minProperties"]),
            ("array", ["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"]),
            ("string", ["pattern", "minLength", "maxLength", "format"]),
            ("number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
        ]
        return kinds.first { kind in kind.1.contains { schema[$0] != nil } }?.0
    }

    // MARK: Numbers and strings

    private mutating func narrowedNumber(_ schema: JSONMembers, isInteger: Bool) throws -> JSONMembers {
        let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
        guard let keyword = keywords.first(where: { schema[$0] != nil }) else { return schema }
        // In early drafts the exclusive keywords are flags of the other two.
        func bound(_ keyword: String, _ exclusive: String) -> (Decimal?, includes: Bool) {
            let itself = schema.number(keyword), other = schema.number(exclusive)
            guard let itself else { return (other, false) }
            guard let other else { return (itself, !schema.isTrue(exclusive)) }
            let isTighter = keyword == "minimum" ? other >= itself : other <= itself
            return isTighter ? (other, false) : (itself, true)
        }
        let low = bound("minimum", "exclusiveMinimum"), high = bound("maximum", "exclusiveMaximum")
        let rule = NumberRule(
            low: low.0, includesLow: low.includes, high: high.0, includesHigh: high.includes,
            step: schema.number("multipleOf"), isInteger: isInteger)
        guard let gbnf = rule.gbnf else { throw Self.refused(keyword, "leaves no number that a grammar can hold") }
        return placeholder(for: gbnf)
    }

    private mutating func placeholder(for rule: String) -> JSONMembers {
        var result = JSONMembers()
        result["const"] = .string(Self.placeholder(rules.count))
        rules.append(rule)
        return result
    }

    private func narrowedString(_ schema: JSONMembers) throws -> JSONMembers {
        var schema = schema
        if let format = schema["format"]?.string, let pattern = Self.formats[format], schema["pattern"] == nil {
            schema["pattern"] = .string(pattern)
        }
        guard let pattern = schema["pattern"]?.string else { return schema }
        do {
            schema["pattern"] = .string(try SchemaExpression.rewritten(pattern))
        } catch {
            throw Self.refused("pattern", "\(pattern) \(error.reason)")
        }
        return schema
    }

    // MARK: Objects and lists

    private mutating func narrowedObject(_ schema: JSONMembers) throws -> JSONMembers {
        var schema = schema
        var properties = schema.members("properties")
        var required = schema.strings("required")
        if let absent = schema["not"]?.members, absent.keys == ["required"], absent.strings("required").count == 1 {
            properties[absent.strings("required")[0]] = nil
        }
        let additional = schema["additionalProperties"]
        for name in required where properties[name] == nil {
            guard additional?.isFalse != true else {
                throw Self.refused("required", "asks for \(name.quoted), which its `properties` do not have")
            }
            properties[name] = additional?.members.map { .object($0) } ?? .object(JSONMembers())
        }
        if let fewest = schema.number("minProperties") {
            for name in properties.keys where Decimal(required.count) < fewest && !required.contains(name) {
                required.append(name)
            }
        }
        if let most = schema.number("maxProperties"), Decimal(properties.keys.count) > most {
            for name in properties.keys.reversed()
            where Decimal(properties.keys.count) > most && !required.contains(name) {
                properties[name] = nil
            }
        }
        for (name, property) in properties {
            // A property without a possible value can be left out, unless it is required.
            if property.isFalse, !required.contains(name) {
                properties[name] = nil
            } else {
                properties[name] = try narrow(property)
            }
        }
        if !properties.isEmpty || schema["properties"] != nil { schema["properties"] = .object(properties) }
        schema["required"] = required.isEmpty ? nil : .array(required.map { .string($0) })
        if !properties.isEmpty {
            // Names that are limited by patterns or by the number of properties are left out.
            let limits = ["patternProperties", "propertyNames", "maxProperties"]
            if limits.contains(where: { schema[$0] != nil }) { schema["additionalProperties"] = nil }
        }
        if let additional = schema["additionalProperties"], additional.members != nil {
            schema["additionalProperties"] = try narrow(additional)
        }
        return schema
    }

    private mutating func narrowedArray(_ schema: JSONMembers) throws -> JSONMembers {
        var schema = schema
        var first = schema["prefixItems"]?.items ?? schema["items"]?.items ?? []
        var rest = schema["items"]?.items == nil ? schema["items"] : schema["additionalItems"]
        if rest?.isFalse == true { rest = nil }
        let fewest = Int(truncating: (schema.number("minItems") ?? 0) as NSDecimalNumber)
        if let contained = schema["contains"], first.isEmpty {
            let count = max(1, Int(truncating: (schema.number("minContains") ?? 1) as NSDecimalNumber))
            guard count <= 64 else { throw Self.refused("minContains", "is larger than 64") }
            let item = try rest.map {
                JSONValue.object(try merged(try flattened($0), try flattened(contained), "contains"))
            }
            first = Array(repeating: item ?? contained, count: count)
        }
        if first.isEmpty, let lists = Self.distinctLists(schema, rest) {
            var result = JSONMembers()
            result["enum"] = .array(lists)
            return result
        }
        schema["prefixItems"] = nil
        guard !first.isEmpty else {
            schema["items"] = try rest.map { try narrow($0) }
            return schema
        }
        guard fewest <= 256 else { throw Self.refused("minItems", "is larger than 256") }
        // llama.cpp writes exactly these items.
        while first.count < fewest { first.append(rest ?? .object(JSONMembers())) }
        schema["items"] = .array(try first.map { try narrow($0) })
        return schema
    }

    /// All lists of a few different constants, in the order of the constants; `nil` for other lists.
    private static func distinctLists(_ schema: JSONMembers, _ item: JSONValue?) -> [JSONValue]? {
        guard schema.isTrue("uniqueItems"), let values = item?.members?["enum"]?.items,
            values.count <= 6
        else { return nil }
        let fewest = schema.number("minItems") ?? 0, most = schema.number("maxItems") ?? Decimal(values.count)
        let lists = (0..<1 << values.count)
            .map { set in values.indices.filter { set & 1 << $0 != 0 }.map { values[$0] } }
            .filter { (fewest...max(fewest, most)).contains(Decimal($0.count)) }
        return lists.isEmpty ? nil : lists.map { .array($0) }
    }
}
