import Foundation
import HearthBase

/// Checks a finished answer against a JSON schema, also what no grammar holds: uniqueness, conditions, exclusive alternatives.
package struct SchemaCheck: Sendable {
    /// How an answer misses its schema.
    package struct Flaw: Sendable, Hashable {
        /// The keyword that is not met.
        package let keyword: String
        /// Where in the answer, as a JSON pointer; empty for all of it.
        package let place: String
    }

    private let root: JSONValue

    /// - Parameter schema: a JSON object.
    package init?(_ schema: String) {
        guard let root = try? JSONValue(parsing: Data(schema.utf8)) else { return nil }
        self.root = root
    }

    /// The first flaw of an answer; `nil` for a valid one. One that is no JSON misses `type`.
    package func flaw(in answer: String) -> Flaw? {
        // What is no JSON document has no other keyword to miss.
        guard let value = try? JSONValue(parsing: Data(answer.utf8)) else { return Flaw(keyword: "type", place: "") }
        return flaw(value, root, "", 0)
    }

    private func isValid(_ value: JSONValue, _ schema: JSONValue, _ level: Int) -> Bool {
        flaw(value, schema, "", level + 1) == nil
    }

    private func flaw(_ value: JSONValue, _ schema: JSONValue, _ place: String, _ level: Int) -> Flaw? {
        func miss(_ keyword: String) -> Flaw { Flaw(keyword: keyword, place: place) }
        guard case .object(let schema) = schema else { return schema == .boolean(false) ? miss("false") : nil }
        // A reference that leads to itself without a value between allows nothing more to be said.
        guard level < 256 else { return nil }
        let level = level + 1
        if case .string(let reference)? = schema["$ref"], let target = resolved(reference),
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
            case .number: Self.missed(number: value, schema).map(miss)
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

    private func flaw(_ items: [JSONValue], _ schema: [String: JSONValue], _ place: String, _ level: Int) -> Flaw? {
        func miss(_ keyword: String) -> Flaw { Flaw(keyword: keyword, place: place) }
        if let fewest = schema["minItems"]?.decimal, Decimal(items.count) < fewest { return miss("minItems") }
        if let most = schema["maxItems"]?.decimal, Decimal(items.count) > most { return miss("maxItems") }
        if schema["uniqueItems"] == .boolean(true) {
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
            if count < schema["minContains"]?.decimal ?? 1 { return miss("contains") }
            if let most = schema["maxContains"]?.decimal, count > most { return miss("maxContains") }
        }
        return nil
    }

    private func flaw(
        _ members: [String: JSONValue], _ schema: [String: JSONValue], _ place: String, _ level: Int
    ) -> Flaw? {
        func miss(_ keyword: String) -> Flaw { Flaw(keyword: keyword, place: place) }
        func strings(_ value: JSONValue?) -> [String] { value?.items?.compactMap(\.text) ?? [] }
        if let fewest = schema["minProperties"]?.decimal, Decimal(members.count) < fewest {
            return miss("minProperties")
        }
        if let most = schema["maxProperties"]?.decimal, Decimal(members.count) > most { return miss("maxProperties") }
        if strings(schema["required"]).contains(where: { members[$0] == nil }) { return miss("required") }
        let properties = schema["properties"]?.members ?? [:], patterns = schema["patternProperties"]?.members ?? [:]
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
                if part == .boolean(false) { return miss("additionalProperties") }
                if let flaw = flaw(value, part, inside, level) { return flaw }
            }
        }
        for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
            for (name, needs) in schema[keyword]?.members ?? [:] where members[name] != nil {
                if needs.items != nil {
                    if strings(needs).contains(where: { members[$0] == nil }) { return miss(keyword) }
                } else if let flaw = flaw(.object(members), needs, place, level) {
                    return flaw
                }
            }
        }
        return nil
    }

    // MARK: Numbers and strings

    private static func missed(number: JSONValue, _ schema: [String: JSONValue]) -> String? {
        guard let value = number.decimal else { return nil }
        func exclusive(_ keyword: String) -> Bool { schema[keyword] == .boolean(true) }
        if let low = schema["minimum"]?.decimal, value < low || value == low && exclusive("exclusiveMinimum") {
            return "minimum"
        }
        if let high = schema["maximum"]?.decimal, value > high || value == high && exclusive("exclusiveMaximum") {
            return "maximum"
        }
        if let low = schema["exclusiveMinimum"]?.decimal, value <= low { return "exclusiveMinimum" }
        if let high = schema["exclusiveMaximum"]?.decimal, value >= high { return "exclusiveMaximum" }
        if let step = schema["multipleOf"]?.decimal, step > 0, !isWhole(value / step) { return "multipleOf" }
        return nil
    }

    private static func missed(_ text: String, _ schema: [String: JSONValue]) -> String? {
        let length = Decimal(text.unicodeScalars.count)
        if let fewest = schema["minLength"]?.decimal, length < fewest { return "minLength" }
        if let most = schema["maxLength"]?.decimal, length > most { return "maxLength" }
        if let pattern = schema["pattern"]?.text, !matches(text, pattern) { return "pattern" }
        if let format = schema["format"]?.text, let pattern = formats[format], !matches(text, pattern) {
            return "format"
        }
        return nil
    }

    private static let date = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    private static let time =
        "([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([zZ]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
    private static let formats = [
        "date": "^\(date)$", "time": "^\(time)$", "date-time": "^\(date)[tT]\(time)$",
        "uuid": "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", "email": "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$",
        "hostname": "^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$",
        "ipv4": "^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(\\.|$)){4}$", "ipv6": "^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$",
        "uri": "^[A-Za-z][A-Za-z0-9+.-]*:\\S+$", "duration": "^P(?=.)([0-9]+[YMWD])*(T([0-9]+[HMS])+)?$",
    ]

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        // A pattern that cannot be read was refused before the answer.
        guard let expression = try? NSRegularExpression(pattern: pattern) else { return true }
        return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    // MARK: Values

    private static func isWhole(_ value: Decimal) -> Bool {
        var (value, rounded) = (value, Decimal())
        NSDecimalRound(&rounded, &value, 0, .plain)
        return rounded == value
    }

    private static func hasType(_ value: JSONValue, _ type: JSONValue) -> Bool {
        switch (type.text, value) {
        case ("null", .null), ("boolean", .boolean), ("string", .string), ("array", .array), ("object", .object),
            ("number", .number):
            true
        case ("integer", .number): value.decimal.map(isWhole) ?? false
        default: false
        }
    }

    /// Whether two values are the same to a schema, for which 1 is 1.0.
    private static func areEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.number, .number): left.decimal == right.decimal
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && left.allSatisfy { key, value in right[key].map { areEqual(value, $0) } ?? false }
        default: left == right
        }
    }

    private func resolved(_ reference: String) -> JSONValue? {
        var place = root
        for part in reference.split(separator: "/").dropFirst() {
            let name = part.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
            let item = Int(name).flatMap { index in
                place.items.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            guard let next = place.members?[name] ?? item else { return nil }
            place = next
        }
        return place
    }
}

extension JSONValue {
    fileprivate var items: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    fileprivate var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
    fileprivate var decimal: Decimal? {
        guard case .number(let digits) = self else { return nil }
        return Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX"))
    }
}
