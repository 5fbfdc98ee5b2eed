import Foundation
import HearthBase

/// Rewrites a JSON schema so that llama.cpp's grammar for it admits only valid answers, as far as a grammar can.
///
/// llama.cpp ignores many keywords without a report. Each is expressed by other keywords, if necessary more narrowly
/// than in the schema; the rest is checked on the finished answer (``SchemaCheck``).
package struct SchemaNarrowing {
    /// The schema for llama.cpp.
    package private(set) var schema = ""
    /// The rules that replace constants in llama.cpp's grammar.
    var rules: [String] = []
    let root: JSONMembers
    private var depth = 0
    private var nodes = 0

    private static let maximumDepth = 64
    /// The most nodes: combined alternatives multiply.
    private static let maximumNodes = 5_000
    static let rootName = "hearth-root"

    /// - Throws: `grammar-unusable`, with the keyword that is not supported.
    package init(_ text: String) throws(LLMError) {
        do {
            guard let members = try JSONValue(parsing: text).members else {
                throw Self.unusable("it is no JSON object")
            }
            root = members
            var narrowed = try narrow(.object(members))
            // llama.cpp supports references into a document, but none to the whole document.
            if text.contains("\"#\""), var members = narrowed.members {
                members[Self.rootName] = .object(members)
                members["$ref"] = .string("#/\(Self.rootName)")
                narrowed = .object(members)
            }
            schema = narrowed.line
        } catch let error as LLMError {
            throw error
        } catch {
            throw Self.unusable("\(error)")
        }
    }

    /// llama.cpp's rule of the escapes in a string.
    private static let escapes = #"(["\\bfnrt] | "u" [0-9a-fA-F]{4})"#
    /// The escapes without halves of surrogate pairs, which no reader of JSON takes.
    private static let wholeEscapes =
        #"(["\\bfnrt] | "u" ([0-9abcefABCEF] [0-9a-fA-F]{3} | [dD] ([0-7] [0-9a-fA-F]{2} | "#
        + #"[89abAB] [0-9a-fA-F]{2} "\\u" [dD] [c-fC-F] [0-9a-fA-F]{2})))"#

    /// llama.cpp's grammar of ``schema`` with the rules that llama.cpp could not make.
    package func completed(_ gbnf: String) -> String {
        var gbnf = gbnf.replacingOccurrences(of: Self.escapes, with: Self.wholeEscapes)
        for (number, rule) in rules.enumerated() {
            gbnf = gbnf.replacingOccurrences(
                of: "\"\\\"\(Self.placeholder(number))\\\"\"", with: "hearth-rule-\(number)")
            gbnf += "hearth-rule-\(number) ::= \(rule)\n"
        }
        return gbnf
    }

    static func placeholder(_ number: Int) -> String { "@hearth-rule-\(number)@" }

    private static func unusable(_ reason: String) -> LLMError { OutputConstraint.unusable(reason) }

    static func refused(_ keyword: String, _ reason: String) -> LLMError {
        unusable("its `\(keyword)` \(reason)")
    }

    /// Keywords that neither the grammar nor the check supports.
    private static let unknown = [
        "$dynamicRef", "$recursiveRef", "unevaluatedProperties", "unevaluatedItems", "contentSchema",
    ]
    /// Keywords that do not restrict values.
    static let annotations: Set<String> = [
        "title", "description", "default", "examples", "example", "$schema", "$id", "id", "$comment", "$defs",
        "definitions", "readOnly", "writeOnly", "deprecated",
    ]

    // MARK: One schema

    mutating func narrow(_ node: JSONValue) throws -> JSONValue {
        guard var schema = node.members else {
            if node == .boolean(true) { return .object(JSONMembers()) }
            throw Self.unusable("one of its schemas is \(node.line) and no object")
        }
        depth += 1
        nodes += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth, nodes <= Self.maximumNodes else {
            throw Self.unusable("its alternatives combine to too many")
        }
        for keyword in Self.unknown where schema[keyword] != nil { throw Self.refused(keyword, "is not followed") }
        for keyword in ["$defs", "definitions"] { schema[keyword] = try narrowedValues(schema, keyword) }

        let meaning = schema.keys.filter { !Self.annotations.contains($0) }
        if let reference = schema["$ref"], meaning.count == 1 {
            return .object(try checkedReference(reference, schema))
        }
        schema = try flattened(.object(schema))
        if let branches = try branches(&schema) { return try alternatives(branches, schema) }
        return .object(try narrowedSingle(schema))
    }

    private mutating func narrowedValues(_ schema: JSONMembers, _ keyword: String) throws -> JSONValue? {
        guard var values = schema[keyword]?.members else { return schema[keyword] }
        for (key, value) in values { values[key] = try narrow(value) }
        return .object(values)
    }

    /// Narrows the alternatives of a schema, each merged with the schema's other keywords.
    private mutating func alternatives(_ branches: [JSONMembers], _ schema: JSONMembers) throws
        -> JSONValue
    {
        var result = JSONMembers()
        for keyword in ["$defs", "definitions"] { result[keyword] = schema[keyword] }
        var narrowed: [JSONValue] = []
        var failure: (any Error)?
        for var branch in branches {
            branch["$defs"] = nil
            branch["definitions"] = nil
            // An alternative without a possible value is dropped if another one remains.
            do { narrowed.append(try narrow(.object(branch))) } catch { failure = error }
        }
        if narrowed.isEmpty, let failure { throw failure }
        result["anyOf"] = .array(narrowed)
        return .object(result)
    }

    /// The alternatives of a schema, `nil` if it has none.
    private mutating func branches(_ schema: inout JSONMembers) throws -> [JSONMembers]? {
        for keyword in ["anyOf", "oneOf"] {
            guard let parts = schema[keyword]?.items else { continue }
            var others = schema
            others[keyword] = nil
            guard !parts.isEmpty else { throw Self.refused(keyword, "has no alternative") }
            let says = others.keys.contains { !Self.annotations.contains($0) }
            return try parts.map { part in
                // References are kept, so that the expansion of a recursive schema ends.
                guard says else { return part.members ?? JSONMembers() }
                return try merged(others, try flattened(part), keyword)
            }
        }
        if let condition = schema["if"]?.members {
            var others = schema
            for keyword in ["if", "then", "else"] { others[keyword] = nil }
            var held = try merged(others, condition, "if")
            if let then = schema["then"] { held = try merged(held, try flattened(then), "then") }
            // The properties of a condition become required, because an absent property meets any condition.
            var required = held.strings("required")
            for name in condition.members("properties").keys where !required.contains(name) { required.append(name) }
            held["required"] = .array(required.map { .string($0) })
            guard var failed = Self.without(condition, others) else { return [held] }
            if let other = schema["else"] { failed = try merged(failed, try flattened(other), "else") }
            return [held, failed]
        }
        for keyword in ["dependentSchemas", "dependencies", "dependentRequired"] {
            guard var dependencies = schema[keyword]?.members, let name = dependencies.keys.first,
                let needs = dependencies[name]
            else {
                schema[keyword] = nil
                continue
            }
            dependencies[name] = nil
            schema[keyword] = .object(dependencies)
            var present = schema
            present["required"] = .array((Set(schema.strings("required")).union([name])).sorted().map { .string($0) })
            if let names = needs.items {
                var also = JSONMembers()
                also["required"] = .array(names)
                present = try merged(present, also, keyword)
            } else {
                present = try merged(present, try flattened(needs), keyword)
            }
            if schema.strings("required").contains(name) { return [present] }
            return [present, Self.without(property: name, schema)]
        }
        if let types = schema["type"]?.items {
            schema["type"] = nil
            if schema["enum"] != nil || schema["const"] != nil { return nil }
            return types.map { type in
                var branch = schema
                branch["type"] = type
                return branch
            }
        }
        return nil
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
        properties[name] = nil
        result["properties"] = .object(properties)
        return result
    }
}
