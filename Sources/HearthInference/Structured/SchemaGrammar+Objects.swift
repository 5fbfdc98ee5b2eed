import HearthBase

/// Objects.
extension SchemaGrammar {
    /// A named property.
    private struct Property {
        let name: String
        var schema: JSONValue
        var isRequired: Bool
        var place: [String]
    }

    /// Properties whose names are not listed: the texts of their names, and their schema.
    private struct Extras {
        let names: Language
        let schema: JSONValue
        let place: [String]
    }

    /// The keywords of an object.
    private struct Shape {
        var properties: [Property] = []
        /// All names that `properties` speaks of.
        var declared: [String] = []
        var patterns: [(source: String, schema: JSONValue)] = []
        /// The schema of other properties; `nil` if there are none.
        var additional: JSONValue?
        var names: Language?
        var fewest = 0
        var most: Int?
    }

    mutating func object(_ schema: JSONMembers) throws -> String {
        var shape = try shape(schema)
        try require(schema, &shape)
        var extras = try extras(shape)
        try bound(&shape, &extras)
        var members: [(symbol: String, isRequired: Bool)] = []
        for property in shape.properties {
            do {
                members.append((try member(property), property.isRequired))
            } catch let flaw as SchemaFlaw where flaw.isContradiction && !property.isRequired {
                // A property without a possible value is left out.
                continue
            }
        }
        let required = members.count(where: \.isRequired)
        let fewest = max(0, shape.fewest - required)
        let most = shape.most.map { max(0, $0 - members.count) }
        let others = most == 0 ? [] : try extras.compactMap { try other($0, isRequired: fewest > 0) }
        guard fewest == 0 || !others.isEmpty else {
            throw contradiction("minProperties", "asks for more properties than the schema allows")
        }
        let rest = others.isEmpty ? nil : others.count == 1 ? others[0] : rule(others.joined(separator: " | "))
        return "\"{\" h-space \(body(members, rest, fewest, most)) h-space \"}\""
    }

    private mutating func member(_ property: Property) throws -> String {
        if property.schema.isFalse {
            throw at(property.place) { $0.contradiction("false", "allows no value") }
        }
        let value = try at(property.place) { try $0.symbol(property.schema) }
        return rule("\(Self.literal(JSONValue.string(property.name).line)) h-space \":\" h-space \(value)")
    }

    /// The members in their order, then `fewest` to `most` others.
    private mutating func body(
        _ members: [(symbol: String, isRequired: Bool)], _ other: String?, _ fewest: Int, _ most: Int?
    ) -> String {
        var rest = "", first: [String] = []
        if let other {
            rest = "(\",\" h-space \(other)){\(fewest),\(most.map { "\($0)" } ?? "")}"
            let more = "{\(max(0, fewest - 1)),\(most.map { "\(max(0, $0 - 1))" } ?? "")}"
            first.append("\(other) (\",\" h-space \(other))\(more)")
        }
        if fewest == 0 { first.append("\"\"") }
        for member in members.reversed() {
            let following = rest
            // What follows has a name, because two alternatives use it.
            let name =
                following.isEmpty || following.hasPrefix("h-") && !following.contains(" ") ? following : rule(following)
            rest = "(\",\" h-space \(member.symbol))\(member.isRequired ? "" : "?") \(name)"
            first = member.isRequired ? ["\(member.symbol) \(name)"] : ["\(member.symbol) \(name)"] + first
        }
        return first.count == 1 ? first[0] : "(\(first.joined(separator: " | ")))"
    }

    // MARK: Keywords

    private mutating func shape(_ schema: JSONMembers) throws -> Shape {
        var shape = Shape()
        shape.fewest = try count("minProperties", of: schema) ?? 0
        shape.most = try count("maxProperties", of: schema)
        if let most = shape.most, shape.fewest > most {
            throw contradiction("minProperties", "is larger than its `maxProperties`")
        }
        for keyword in ["properties", "patternProperties"] {
            guard let value = schema[keyword], value.members == nil else { continue }
            throw flaw(keyword, "is \(value.kind) and no object")
        }
        let properties = schema.members("properties")
        shape.declared = properties.keys
        for (source, schema) in schema.members("patternProperties") {
            // A pattern that cannot be read would say nothing of any name.
            if (try? Pattern(source)) == nil {
                guard isLenient else { throw flaw("patternProperties", "\(source.quoted) is no regular expression") }
                loosen("patternProperties", "\(source.quoted) is no regular expression")
                continue
            }
            shape.patterns.append((source, schema))
        }
        let others = schema["additionalProperties"] ?? schema["unevaluatedProperties"]
        let isOpen = properties.isEmpty && shape.patterns.isEmpty
        shape.additional = others ?? (isOpen || shape.fewest > properties.count ? .boolean(true) : nil)
        if others?.isFalse == true { shape.additional = nil }
        if let names = schema["propertyNames"] { try limit(names, &shape) }
        let absent = schema["not"]?.members.map { $0.keys == ["required"] ? $0.strings("required") : [] } ?? []
        for (name, schema) in properties {
            if absent == [name] || !schema.isFalse && !isName(name, shape.names) { continue }
            shape.properties.append(
                Property(
                    name: name, schema: try matched(name, schema, shape), isRequired: false,
                    place: ["properties", name]))
        }
        return shape
    }

    private func isName(_ name: String, _ names: Language?) -> Bool {
        guard let names else { return true }
        let length = name.unicodeScalars.count
        return names.automaton.matches(name.unicodeScalars) && length >= names.fewest && length <= names.most ?? Int.max
    }

    private mutating func limit(_ names: JSONValue, _ shape: inout Shape) throws {
        if names.isFalse {
            shape.names = Language(automaton: TextAutomaton([]), key: "none")
            return
        }
        guard names != .boolean(true) else { return }
        let schema = try flattened(names)
        if schema["enum"] != nil || schema["const"] != nil {
            let words = try at(["propertyNames"]) { try $0.constants(schema).compactMap(\.string) }
            shape.names = Language(automaton: TextAutomaton(words), key: "w\(words)")
        } else {
            shape.names = try at(["propertyNames"]) { try $0.language(of: schema) }
        }
    }

    /// The schema of a property with those of the patterns that its name matches.
    private func matched(_ name: String, _ schema: JSONValue, _ shape: Shape) throws -> JSONValue {
        var schema = schema
        for (source, other) in shape.patterns
        where PatternTable.shared.pattern(source)?.matches(name) == true && schema != other {
            if schema.isFalse || other.isFalse { return .boolean(false) }
            schema = .object(try merged(try flattened(schema), try flattened(other), "patternProperties"))
        }
        return schema
    }

    /// Marks the required properties and adds those that are not listed.
    private func require(_ schema: JSONMembers, _ shape: inout Shape) throws {
        guard let value = schema["required"], value.flag == nil else { return }
        guard let names = value.items?.map(\.string), !names.contains(nil) else {
            throw flaw("required", "is no list of names")
        }
        for name in names.compactMap(\.self) {
            if let index = shape.properties.firstIndex(where: { $0.name == name }) {
                shape.properties[index].isRequired = true
                continue
            }
            guard !shape.declared.contains(name), isName(name, shape.names) else {
                throw contradiction("required", "asks for \(name.quoted), which another keyword excludes")
            }
            let patterns = shape.patterns.filter { PatternTable.shared.pattern($0.source)?.matches(name) == true }
            guard let own = patterns.first?.schema ?? shape.additional ?? (isClosed(schema) ? nil : .boolean(true))
            else {
                throw contradiction("required", "asks for \(name.quoted), which its `properties` do not have")
            }
            shape.declared.append(name)
            shape.properties.append(
                Property(
                    name: name, schema: try matched(name, own, shape), isRequired: true, place: ["additionalProperties"]
                ))
        }
    }

    private func isClosed(_ schema: JSONMembers) -> Bool {
        (schema["additionalProperties"] ?? schema["unevaluatedProperties"])?.isFalse == true
    }

    /// Properties become required, or are left out, until their number is within the bounds.
    private mutating func bound(_ shape: inout Shape, _ extras: inout [Extras]) throws {
        // Names of few texts are listed too.
        var kept: [Extras] = []
        for extra in extras {
            guard let words = extra.names.words(atMost: 64) else {
                kept.append(extra)
                continue
            }
            for word in words {
                shape.properties.append(
                    Property(name: word, schema: extra.schema, isRequired: false, place: extra.place))
            }
        }
        extras = kept
        let required = shape.properties.count(where: \.isRequired)
        if let most = shape.most, required > most {
            throw contradiction("maxProperties", "is less than the number of required properties")
        }
        var missing = shape.fewest - required
        for index in shape.properties.indices where missing > 0 && !shape.properties[index].isRequired {
            guard try hasValue(shape.properties[index]) else { continue }
            shape.properties[index].isRequired = true
            missing -= 1
        }
        guard let most = shape.most else { return }
        for index in shape.properties.indices.reversed()
        where shape.properties.count > most && !shape.properties[index].isRequired {
            shape.properties.remove(at: index)
        }
    }

    private mutating func hasValue(_ property: Property) throws -> Bool {
        do {
            _ = try member(property)
            return true
        } catch let flaw as SchemaFlaw where flaw.isContradiction {
            return false
        }
    }

    // MARK: Names that are not listed

    /// Names that match one pattern, and names that match none. Names that match several are not written.
    private mutating func extras(_ shape: Shape) throws -> [Extras] {
        guard shape.additional != nil || !shape.patterns.isEmpty else { return [] }
        var base = shape.names ?? Language()
        if !shape.declared.isEmpty {
            guard exclude(TextAutomaton(shape.declared), "d\(shape.declared)", &base) else { return [] }
        }
        var found: [Extras] = []
        let languages = shape.patterns.map { pattern -> Pattern.Texts? in
            guard patternWork < Self.maximumPatternWork else { return nil }
            let texts = PatternTable.shared.pattern(pattern.source)?.texts
            patternWork += texts.map { $0.isLoosened && $0.automaton == .anything ? 8_000 : $0.automaton.size } ?? 0
            return texts
        }
        for (index, pattern) in shape.patterns.enumerated() where !pattern.schema.isFalse {
            guard let own = languages[index], let both = try? base.automaton.intersection(own.automaton) else {
                continue
            }
            var names = base
            names.automaton = both
            names.fewest = max(names.fewest, own.fewest)
            if let most = own.most { names.most = min(names.most ?? most, most) }
            names.key += "p\(pattern.source)\u{1}"
            let others = shape.patterns.indices.filter { $0 != index && shape.patterns[$0].schema != pattern.schema }
            guard excludes(others, shape, &names), !names.machine.isEmpty else { continue }
            found.append(Extras(names: names, schema: pattern.schema, place: ["patternProperties", pattern.source]))
        }
        if let additional = shape.additional {
            var names = base
            if excludes(Array(shape.patterns.indices), shape, &names), !names.machine.isEmpty {
                found.append(Extras(names: names, schema: additional, place: ["additionalProperties"]))
            }
        }
        return found
    }

    /// Takes the names that match some patterns out of a language.
    /// - Returns: whether that is possible.
    private mutating func excludes(_ patterns: [Int], _ shape: Shape, _ names: inout Language) -> Bool {
        for index in patterns {
            // Everything that matches, as ECMAScript reads it.
            guard patternWork < Self.maximumPatternWork,
                let matching = PatternTable.shared.pattern(shape.patterns[index].source)?.matching,
                exclude(matching, "x\(shape.patterns[index].source)", &names)
            else { return false }
        }
        return true
    }

    private mutating func exclude(_ automaton: TextAutomaton, _ key: String, _ names: inout Language) -> Bool {
        guard let both = try? names.automaton.intersection(automaton.complement) else { return false }
        patternWork += both.size
        names.automaton = both
        names.key += key + "\u{1}"
        return true
    }

    /// A member with a name that is not listed; `nil` if no value fits it and it is not needed.
    private mutating func other(_ extra: Extras, isRequired: Bool) throws -> String? {
        do {
            let value = try at(extra.place) { try $0.symbol(extra.schema) }
            let key = rule("\"\\\"\" \(text(extra.names)) @key \"\\\"\"")
            return rule("\(key) h-space \":\" h-space \(value)")
        } catch let flaw as SchemaFlaw where flaw.isContradiction && !isRequired {
            return nil
        }
    }
}
