import Foundation
import HearthBase

/// Writes the grammar of a JSON schema: it admits only valid answers, as far as a grammar can.
///
/// Where a grammar cannot hold a keyword exactly, the grammar is narrower than the schema; what is left is checked on the
/// finished answer (``SchemaCheck``). Several schemas may be written into one grammar.
package struct SchemaGrammar {
    /// The rules as GBNF, with texts as `@0`, `@1`.
    private(set) var rules: [String] = []
    private(set) var texts: [TextMachine] = []
    /// The keywords that the grammar does not hold.
    package private(set) var loosened: [String] = []
    /// Whether a part that cannot be held admits any value, in place of an error: a tool with an odd schema is still
    /// offered.
    let isLenient: Bool
    private(set) var root = JSONMembers()
    /// The names of the rules of schemas that were written.
    private var names: [JSONValue: String] = [:]
    private var textNumbers: [String: Int] = [:]
    /// The place of the schema that is written, as parts of a JSON pointer.
    private var place: [String] = []
    private var depth = 0
    private var nodes = 0
    private var ruleCount = 0
    /// The states of the patterns' automata so far; one that was too large counts as many.
    var patternWork = 0
    let work: SchemaWork
    static let maximumPatternWork = 80_000

    private static let maximumDepth = 96
    /// The most schemas, with those that combine others: combined alternatives multiply.
    private static let maximumNodes = 60_000
    /// The most places of a schema's grammar.
    private static let maximumPlaces = 3_000_000

    /// - Parameter isLenient: whether parts that cannot be held admit any value.
    package init(isLenient: Bool = false) { self.init(isLenient: isLenient, work: SchemaWork()) }

    /// - Parameter work: counts the steps, also those of other grammars.
    init(isLenient: Bool, work: SchemaWork) {
        self.isLenient = isLenient
        self.work = work
        _ = text(.anything, fewest: 0, most: nil, key: "")
        rules = Self.basics
    }

    /// Rules of JSON. White space is where models write it, and bounded.
    private static let basics = [
        ##"h-space ::= | " " | "\n"{1,2} [ \t]{0,20}"##,
        ##"h-string ::= "\"" @0 "\"""##,
        ##"h-key ::= "\"" @0 @key "\"""##,
        ##"h-integer ::= "-"? ("0" | [1-9] [0-9]{0,15})"##,
        ##"h-number ::= h-integer ("." [0-9]{1,16})? ([eE] [-+]? [1-9] [0-9]?)?"##,
        ##"h-boolean ::= "true" | "false""##,
        ##"h-null ::= "null""##,
        ##"h-member ::= h-key h-space ":" h-space h-value"##,
        ##"h-object ::= "{" h-space (h-member ("," h-space h-member)*)? h-space "}""##,
        ##"h-array ::= "[" h-space (h-value ("," h-space h-value)*)? h-space "]""##,
        ##"h-value ::= h-object | h-array | h-string | h-number | h-boolean | h-null"##,
    ]

    /// The grammar of a schema.
    /// - Throws: `grammar-unusable`, with the keyword that cannot be held and its place.
    package static func grammar(of schema: String) throws(LLMError) -> Grammar {
        var writer = SchemaGrammar()
        let root = try writer.add(schema)
        return try writer.grammar("root ::= \(root)\n")
    }

    /// Writes a schema.
    /// - Returns: the name of its rule.
    /// - Throws: `grammar-unusable`.
    package mutating func add(_ schema: String) throws(LLMError) -> String {
        do {
            try OutputConstraint.checkForm(ofSchema: schema)
            let value: JSONValue
            do { value = try JSONValue(parsing: schema) } catch { throw OutputConstraint.unusable("\(error)") }
            guard let members = value.members else { throw OutputConstraint.unusable("it is no JSON object") }
            return try add(value, in: members)
        } catch let error as LLMError {
            guard isLenient else { throw error }
            loosened.append(error.message)
            return "h-object"
        } catch {
            throw OutputConstraint.unusable("\(error)")
        }
    }

    /// Writes a part of a document.
    /// - Throws: `grammar-unusable`.
    package mutating func add(_ schema: JSONValue, in document: JSONMembers) throws(LLMError) -> String {
        read(document)
        do {
            return try symbol(schema)
        } catch let flaw as SchemaFlaw {
            throw OutputConstraint.unusable(flaw.sentence)
        } catch {
            throw OutputConstraint.unusable("\(error)")
        }
    }

    /// Begins with another document, whose references lead into itself.
    mutating func read(_ document: JSONMembers) {
        (root, names, place, depth, nodes) = (document, [:], [], 0, 0)
        work.begin()
    }

    /// The grammar of these rules and of the written schemas.
    package func grammar(_ others: String) throws(LLMError) -> Grammar {
        try Grammar(others + rules.joined(separator: "\n") + "\n", texts: texts, maximumPlaces: Self.maximumPlaces)
    }

    // MARK: Rules

    /// Defines a rule and returns its name.
    mutating func rule(_ body: String) -> String {
        ruleCount += 1
        rules.append("h-\(ruleCount) ::= \(body)")
        return "h-\(ruleCount)"
    }

    /// Adds a rule with a name of its own.
    mutating func define(_ line: String) { rules.append(line) }

    /// A machine of texts as a symbol.
    mutating func text(_ automaton: TextAutomaton, fewest: Int, most: Int?, key: String) -> String {
        let key = "\(key)\u{0}\(fewest)\u{0}\(most ?? -1)"
        if let number = textNumbers[key] { return "@\(number)" }
        textNumbers[key] = texts.count
        texts.append(TextMachine(automaton, fewest: fewest, most: most))
        return "@\(texts.count - 1)"
    }

    mutating func loosen(_ keyword: String, _ reason: String) {
        loosened.append(flaw(keyword, reason).sentence)
    }

    /// The flaw of a keyword of the schema that is written.
    func flaw(_ keyword: String, _ reason: String, isContradiction: Bool = false) -> SchemaFlaw {
        SchemaFlaw(keyword: keyword, place: place, reason: reason, isContradiction: isContradiction)
    }

    /// The flaw of a schema that no value meets.
    func contradiction(_ keyword: String, _ reason: String) -> SchemaFlaw {
        flaw(keyword, reason, isContradiction: true)
    }

    /// Runs `body` at a place below the present one.
    mutating func at<Value>(
        _ parts: [String], _ body: (inout SchemaGrammar) throws -> Value
    ) rethrows -> Value {
        place += parts
        defer { place.removeLast(parts.count) }
        return try body(&self)
    }

    // MARK: One schema

    /// Keywords that neither the grammar nor the check supports.
    private static let unknown = ["$dynamicRef", "$recursiveRef", "unevaluatedItems", "contentSchema"]
    /// Keywords that do not restrict values.
    static let annotations: Set<String> = [
        "title", "description", "default", "examples", "example", "$schema", "$id", "id", "$comment", "$defs",
        "definitions", "readOnly", "writeOnly", "deprecated", "$anchor", "$vocabulary", "contentMediaType",
        "contentEncoding",
    ]

    /// The name of the rule of a schema.
    mutating func symbol(_ node: JSONValue) throws -> String {
        if let name = names[node] { return name }
        guard let members = node.members else {
            if node == .boolean(true) { return "h-value" }
            if node == .boolean(false) { throw contradiction("false", "allows no value") }
            throw flaw("", "is \(node.kind) and no schema")
        }
        let schema = members.filter { !Self.annotations.contains($0.key) }
        if schema.isEmpty { return "h-value" }
        // The name is known before the rule is written, so that a schema may contain itself.
        ruleCount += 1
        let name = "h-\(ruleCount)"
        names[node] = name
        depth += 1
        nodes += 1
        defer { depth -= 1 }
        do {
            guard depth <= Self.maximumDepth, nodes <= Self.maximumNodes else {
                throw flaw("", "combines too many alternatives")
            }
            rules.append("\(name) ::= \(try body(schema))")
            return name
        } catch let flaw as SchemaFlaw {
            guard isLenient, !flaw.isContradiction || depth == 1 else {
                // Nothing fits the rule, which others may name already.
                rules.append("\(name) ::= \(name)")
                names[node] = nil
                throw flaw
            }
            loosened.append(flaw.sentence)
            rules.append("\(name) ::= \(depth == 1 ? "h-object" : "h-value")")
            return name
        }
    }

    private mutating func body(_ members: JSONMembers) throws -> String {
        var schema = members
        for keyword in Self.unknown where schema[keyword] != nil {
            guard isLenient else { throw flaw(keyword, "is not followed") }
            loosen(keyword, "is not followed")
            schema[keyword] = nil
        }
        if let reference = schema["$ref"], schema.count == 1 {
            let target = try resolved(reference)
            return try symbol(.object(target))
        }
        schema = try flattened(.object(schema))
        if let branches = try branches(&schema) { return try alternatives(branches) }
        return try single(schema)
    }

    /// The rules of alternatives. One without a possible value is dropped if another one remains.
    private mutating func alternatives(_ branches: [JSONValue]) throws -> String {
        var names: [String] = []
        var failure: SchemaFlaw?
        for branch in branches {
            do {
                let name = try symbol(branch)
                if !names.contains(name) { names.append(name) }
            } catch let flaw as SchemaFlaw {
                failure = failure ?? flaw
            }
        }
        if names.isEmpty, let failure { throw failure }
        return names.joined(separator: " | ")
    }

    private mutating func single(_ schema: JSONMembers) throws -> String {
        if schema["const"] != nil || schema["enum"] != nil {
            return try constants(schema).map { Self.literal($0.line) }.joined(separator: " | ")
        }
        let type = try schema["type"].map(typeName) ?? Self.impliedType(schema)
        switch type {
        case "integer", "number": return try number(schema, isInteger: type == "integer")
        case "string": return try string(schema)
        case "object": return try object(schema)
        case "array": return try array(schema)
        case "boolean", "null":
            guard schema["not"] == nil else {
                let values: [JSONValue] = type == "null" ? [.null] : [.boolean(true), .boolean(false)]
                return try held(values, schema).map(\.line).map(Self.literal).joined(separator: " | ")
            }
            return type == "null" ? "h-null" : "h-boolean"
        default: return "h-value"
        }
    }

    private func typeName(_ type: JSONValue) throws -> String {
        let known = ["integer", "number", "string", "object", "array", "boolean", "null"]
        guard let name = type.string, known.contains(name) else {
            throw flaw("type", "is \(type.kind), which is no type")
        }
        return name
    }

    private static func impliedType(_ schema: JSONMembers) -> String? {
        let kinds: [(String, [String])] = [
            (
                "object",
                [
                    "properties", "required", "additionalProperties", "patternProperties", "minProperties",
                    "maxProperties", "propertyNames", "unevaluatedProperties",
                ]
            ),
            ("array", ["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"]),
            ("string", ["pattern", "minLength", "maxLength", "format"]),
            ("number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
        ]
        return kinds.first { kind in kind.1.contains { schema[$0] != nil } }?.0
    }

    // MARK: Constants

    /// The values of `const` and `enum` that meet the other keywords.
    func constants(_ schema: JSONMembers) throws -> [JSONValue] {
        var values = schema["enum"]?.items ?? []
        if let constant = schema["const"] { values = [constant] }
        if schema["const"] == nil, schema["enum"]?.items == nil { throw flaw("enum", "is no list") }
        guard !values.isEmpty else { throw contradiction("enum", "is empty") }
        return try held(values, schema)
    }

    private func held(_ values: [JSONValue], _ schema: JSONMembers) throws -> [JSONValue] {
        let check = SchemaCheck(root: .object(root))
        let held = values.filter { check.isValid($0, .object(schema), work) }
        guard !held.isEmpty else {
            let keyword = schema["const"] != nil ? "const" : schema["enum"] != nil ? "enum" : "not"
            throw contradiction(keyword, "has no value that the keywords beside it allow")
        }
        return held
    }

    /// A text in the notation of grammars.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\x" + String(repeating: "0", count: 2 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

/// The reason why a schema cannot be used.
struct SchemaFlaw: Error {
    let keyword: String
    /// The place of the keyword's schema, as parts of a JSON pointer.
    let place: [String]
    let reason: String
    /// Whether no value meets the schema.
    let isContradiction: Bool

    var sentence: String {
        let pointer = place.map {
            "/" + $0.replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1")
        }.joined()
        let place = pointer.isEmpty ? "" : " at \(pointer)"
        return keyword.isEmpty ? "its schema\(place) \(reason)" : "its `\(keyword)`\(place) \(reason)"
    }
}
