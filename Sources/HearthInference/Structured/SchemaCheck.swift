import Foundation
import HearthBase

/// Checks a finished answer against a JSON schema, with the keywords that no grammar can express: uniqueness,
/// conditions, exclusive alternatives.
package struct SchemaCheck: Sendable {
    /// A keyword that an answer violates.
    package struct Flaw: Sendable, Hashable {
        /// The violated keyword.
        package let keyword: String
        /// The place in the answer, as a JSON pointer; empty for the whole answer.
        package let place: String
    }

    private let root: JSONValue

    /// The schemas around the one that is checked, and the steps so far.
    private struct Level {
        var depth = 0
        let work: SchemaWork

        var next: Level { Level(depth: depth + 1, work: work) }
    }

    /// - Parameter schema: a JSON object.
    package init?(_ schema: String) {
        // The grammar of the same schema refuses one that is not JSON, before the prompt.
        guard let root = try? JSONValue(parsing: schema) else { return nil }
        self.root = root
    }

    /// Checks values with schemas of a document.
    init(root: JSONValue) { self.root = root }

    /// Whether a value meets a schema of the document. A schema that asks for too much work excludes nothing.
    func isValid(_ value: JSONValue, _ schema: JSONValue, _ work: SchemaWork) -> Bool {
        isValid(value, schema, Level(work: work)) || work.isExhausted
    }

    /// The first flaw of an answer; `nil` for a valid one, and if the schema asks for too much work. Text that is not
    /// JSON violates `type`.
    package func flaw(in answer: String) -> Flaw? {
        // Text that is no JSON document has no other flaw.
        guard let value = try? JSONValue(parsing: answer) else { return Flaw(keyword: "type", place: "") }
        let work = SchemaWork()
        let found = flaw(value, root, "", Level(work: work))
        // A flaw that was found with the last of the work may come of a part that was not checked.
        return work.isExhausted ? nil : found
    }

    private func isValid(_ value: JSONValue, _ schema: JSONValue, _ level: Level) -> Bool {
        flaw(value, schema, "", level.next) == nil
    }

    private func flaw(_ value: JSONValue, _ schema: JSONValue, _ place: String, _ level: Level) -> Flaw? {
        func miss(_ keyword: String) -> Flaw { Flaw(keyword: keyword, place: place) }
        guard case .object(let schema) = schema else { return schema.isFalse ? miss("false") : nil }
        // A reference that leads back to itself without a value in between adds no rule.
        guard level.depth < 256, level.work.spend() else { return nil }
        let level = level.next
        if let reference = schema["$ref"]?.string, let target = level.work.resolved(reference, in: root),
            let flaw = flaw(value, target, place, level)
        {
            return flaw
        }
        if let type = schema["type"] {
            let names = type.items ?? [type]
            guard names.contains(where: { Self.hasType(value, $0) }) else { return miss("type") }
        }
        if let constant = schema["const"], !Self.areEqual(value, constant) { return miss("const") }
        if let values = schema["enum"]?.items, !values.contains(where: { Self.areEqual(value, $0) }) {
            return miss("enum")
        }
        let own: Flaw? =
            switch value {
            case .number(_): value.number.flatMap { Self.missed($0, schema) }.map(miss)
            case .string(let text): Self.missed(text, schema).map(miss)
            case .array(let items): flaw(items, schema, place, level)
            case .object(let members): flaw(members, schema, place, level)
            default: nil
            }
        if let own { return own }
        for part in schema["allOf"]?.items ?? [] {
            if let flaw = flaw(value, part, place, level) { return flaw }
        }
        if let parts = schema["anyOf"]?.items, !parts.contains(where: { isValid(value, $0, level) }) {
            return miss("anyOf")
        }
        if let parts = schema["oneOf"]?.items, parts.filter({ isValid(value, $0, level) }).count != 1 {
            return miss("oneOf")
        }
        if let other = schema["not"], isValid(value, other, level) { return miss("not") }
        if let condition = schema["if"] {
            let keyword = isValid(value, condition, level) ? "then" : "else"
            if let part = schema[keyword], let flaw = flaw(value, part, place, level) { return flaw }
        }
        return nil
    }

    // MARK: Lists and objects

    private func flaw(_ items: [JSONValue], _ schema: JSONMembers, _ place: String, _ level: Level) -> Flaw? {
        func miss(_ keyword: String) -> Flaw { Flaw(keyword: keyword, place: place) }
        if let fewest = schema.number("minItems"), Decimal(items.count) < fewest { return miss("minItems") }
        if let most = schema.number("maxItems"), Decimal(items.count) > most { return miss("maxItems") }
        if schema.isTrue("uniqueItems") {
            for (index, item) in items.enumerated()
            where items[..<index].contains(where: { Self.areEqual($0, item) }) {
                return miss("uniqueItems")
            }
        }
        let first = schema["prefixItems"]?.items ?? schema["items"]?.items ?? []
        let rest = schema["items"]?.items == nil ? schema["items"] : schema["additionalItems"]
        for (index, item) in items.enumerated() {
            guard let part = index < first.count ? first[index] : rest else { continue }
            if let flaw = flaw(item, part, "\(place)/\(index)", level) { return flaw }
        }
        if let contained = schema["contains"] {
            let count = Decimal(items.filter { isValid($0, contained, level) }.count)
            if count < schema.number("minContains") ?? 1 { return miss("contains") }
            if let most = schema.number("maxContains"), count > most { return miss("maxContains") }
        }
        return nil
    }

    private func flaw(
        _ members: JSONMembers, _ schema: JSONMembers, _ place: String, _ level: Level
    ) -> Flaw? {
        func miss(_ keyword: String) -> Flaw { Flaw(keyword: keyword, place: place) }
        if let fewest = schema.number("minProperties"), Decimal(members.keys.count) < fewest {
            return miss("minProperties")
        }
        if let most = schema.number("maxProperties"), Decimal(members.keys.count) > most {
            return miss("maxProperties")
        }
        if schema.strings("required").contains(where: { members[$0] == nil }) { return miss("required") }
        let properties = schema.members("properties"), patterns = schema.members("patternProperties")
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            let inside = "\(place)/\(name)"
            if let names = schema["propertyNames"], !isValid(.string(name), names, level) {
                return miss("propertyNames")
            }
            var isNamed = false
            if let part = properties[name] {
                isNamed = true
                if let flaw = flaw(value, part, inside, level) { return flaw }
            }
            for (pattern, part) in patterns where Self.matches(name, pattern) {
                isNamed = true
                if let flaw = flaw(value, part, inside, level) { return flaw }
            }
            if !isNamed, let part = schema["additionalProperties"] {
                if part.isFalse { return miss("additionalProperties") }
                if let flaw = flaw(value, part, inside, level) { return flaw }
            }
        }
        for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
            for (name, needs) in schema.members(keyword) where members[name] != nil {
                if let names = needs.items?.compactMap(\.string) {
                    if names.contains(where: { members[$0] == nil }) { return miss(keyword) }
                } else if let flaw = flaw(.object(members), needs, place, level) {
                    return flaw
                }
            }
        }
        return nil
    }

    // MARK: Numbers and strings

    private static func missed(_ value: Decimal, _ schema: JSONMembers) -> String? {
        if let low = schema.number("minimum"), value < low || value == low && schema.isTrue("exclusiveMinimum") {
            return "minimum"
        }
        if let high = schema.number("maximum"), value > high || value == high && schema.isTrue("exclusiveMaximum") {
            return "maximum"
        }
        if let low = schema.number("exclusiveMinimum"), value <= low { return "exclusiveMinimum" }
        if let high = schema.number("exclusiveMaximum"), value >= high { return "exclusiveMaximum" }
        if let step = schema.number("multipleOf"), step > 0, !(value / step).isWhole { return "multipleOf" }
        return nil
    }

    private static func missed(_ text: String, _ schema: JSONMembers) -> String? {
        let length = Decimal(text.unicodeScalars.count)
        if let fewest = schema.number("minLength"), length < fewest { return "minLength" }
        if let most = schema.number("maxLength"), length > most { return "maxLength" }
        for case .string(let pattern) in SchemaGrammar.list(schema["pattern"]) where !matches(text, pattern) {
            return "pattern"
        }
        for case .string(let format) in SchemaGrammar.list(schema["format"]) {
            if let pattern = Formats.check[format], !matches(text, pattern) { return "format" }
        }
        return nil
    }

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        // An expression that cannot be read, and one that takes too long, excludes nothing.
        PatternTable.shared.pattern(pattern)?.matches(text) ?? true
    }

    // MARK: Values

    private static func hasType(_ value: JSONValue, _ type: JSONValue) -> Bool {
        switch (type.string, value) {
        case ("null", .null), ("boolean", .boolean), ("string", .string), ("array", .array),
            ("object", .object), ("number", .number(_)):
            true
        case ("integer", .number(_)): value.number?.isWhole ?? false
        default: false
        }
    }

    /// Whether two values are equal in a schema, where 1 equals 1.0.
    private static func areEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.number(_), .number(_)): left.number == right.number
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
        case (.object(let left), .object(let right)):
            left.keys.count == right.keys.count
                && left.allSatisfy { key, value in right[key].map { areEqual(value, $0) } ?? false }
        default: left == right
        }
    }
}
