import Foundation
import HearthBase

/// Strings and numbers.
extension SchemaGrammar {
    /// The texts of a schema of strings.
    struct Language {
        var automaton = TextAutomaton.anything
        var fewest = 0
        var most: Int?
        /// Identifies the automaton.
        var key = ""

        var machine: TextMachine { TextMachine(automaton, fewest: fewest, most: most) }
    }

    mutating func string(_ schema: JSONMembers) throws -> String {
        let language = try language(of: schema)
        return "\"\\\"\" \(text(language)) \"\\\"\""
    }

    mutating func text(_ language: Language) -> String {
        text(language.automaton, fewest: language.fewest, most: language.most, key: language.key)
    }

    /// The texts that a schema allows.
    mutating func language(of schema: JSONMembers) throws -> Language {
        var language = Language()
        var asked: [String] = []
        if let fewest = try count("minLength", of: schema) {
            language.fewest = fewest
            asked.append("minLength")
        }
        if let most = try count("maxLength", of: schema) {
            language.most = most
            asked.append("maxLength")
        }
        if let most = language.most, language.fewest > most {
            throw contradiction("minLength", "is larger than its `maxLength`")
        }
        for value in Self.list(schema["pattern"]) {
            guard let source = value.string else { throw flaw("pattern", "is no text") }
            asked.append("pattern")
            try take(pattern: source, &language)
        }
        for value in Self.list(schema["format"]) {
            guard let name = value.string, Formats.check[name] != nil else { continue }
            asked.append("format")
            take(format: name, &language)
        }
        for other in Self.list(schema["not"]) {
            asked.append("not")
            try exclude(other, &language)
        }
        if language.machine.isEmpty {
            throw contradiction(
                asked.first ?? "type",
                asked.count < 2
                    ? "fits no text"
                    : "and its \(asked.dropFirst().map { "`\($0)`" }.joined(separator: ", ")) fit no text together")
        }
        return language
    }

    /// The values of a keyword that merged schemas may have several of.
    static func list(_ value: JSONValue?) -> [JSONValue] { value.map { $0.items ?? [$0] } ?? [] }

    /// A whole number that is not negative; `nil` if the keyword is missing.
    func count(_ keyword: String, of schema: JSONMembers) throws -> Int? {
        guard let value = schema[keyword] else { return nil }
        guard let number = value.number, number >= 0 else { throw flaw(keyword, "is \(value.kind) and no count") }
        return Int(truncating: min(number, Decimal(TextMachine.maximumLength)) as NSDecimalNumber)
    }

    private mutating func take(pattern source: String, _ language: inout Language) throws {
        let pattern: Pattern
        do {
            pattern = try Pattern(source)
        } catch {
            guard isLenient else { throw flaw("pattern", "\(source.quoted) \(error.reason)") }
            return loosen("pattern", "\(source.quoted) \(error.reason)")
        }
        // Many large expressions together would take too long.
        let texts =
            patternWork < Self.maximumPatternWork
            ? pattern.texts : Pattern.Texts(automaton: .anything, isLoosened: true)
        patternWork += texts.isLoosened && texts.automaton == .anything ? 8_000 : texts.automaton.size
        if texts.isLoosened { loosen("pattern", "\(source.quoted) is checked on the finished value") }
        do {
            language.automaton = try language.automaton.intersection(texts.automaton)
            patternWork += language.automaton.size
            language.fewest = max(language.fewest, texts.fewest)
            if let most = texts.most { language.most = min(language.most ?? most, most) }
            language.key += "p\(source)\u{1}"
        } catch {
            loosen("pattern", "\(source.quoted) is checked on the finished value")
        }
    }

    /// Holds a format: in the form that models write, or in any form if another keyword excludes that one.
    private mutating func take(format name: String, _ language: inout Language) {
        for source in [Formats.written[name], Formats.check[name]].compactMap(\.self) {
            guard let texts = PatternTable.shared.pattern(source)?.texts,
                let both = try? language.automaton.intersection(texts.automaton)
            else { continue }
            var narrowed = language
            narrowed.automaton = both
            narrowed.key += "f\(source)\u{1}"
            if narrowed.machine.isEmpty { continue }
            language = narrowed
            return
        }
        loosen("format", "\(name.quoted) is checked on the finished value")
    }

    /// Excludes the texts of a schema, if it is one of texts alone.
    private mutating func exclude(_ other: JSONValue, _ language: inout Language) throws {
        if other == .boolean(true) { throw contradiction("not", "excludes every value") }
        guard let schema = other.members?.filter({ !Self.annotations.contains($0.key) }) else { return }
        if schema.isEmpty || schema.keys == ["type"] && Self.list(schema["type"]).contains("string") {
            throw contradiction("not", "excludes every value")
        }
        if schema.keys == ["anyOf"] {
            for part in Self.list(schema["anyOf"]) { try exclude(part, &language) }
            return
        }
        guard patternWork < Self.maximumPatternWork else { return }
        var keys = schema.keys.filter { $0 != "type" }
        let automaton: TextAutomaton
        if let values = schema["enum"]?.items ?? schema["const"].map({ [$0] }) {
            keys.removeAll { $0 == "enum" || $0 == "const" }
            automaton = TextAutomaton(values.compactMap(\.string))
        } else if let source = schema["pattern"]?.string, let pattern = try? Pattern(source) {
            keys.removeAll { $0 == "pattern" }
            let texts = pattern.texts
            guard !texts.isLoosened, texts.fewest == 0, texts.most == nil else { return }
            automaton = texts.automaton
        } else {
            return
        }
        guard keys.isEmpty, let both = try? language.automaton.intersection(automaton.complement) else { return }
        patternWork += both.size
        language.automaton = both
        language.key += "n\(other.line)\u{1}"
    }

    // MARK: Numbers

    func number(_ schema: JSONMembers, isInteger: Bool) throws -> String {
        let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
        guard let keyword = keywords.first(where: { schema[$0] != nil }) else {
            return isInteger ? "h-integer" : "h-number"
        }
        for keyword in keywords {
            guard let value = schema[keyword], value.number == nil, value.flag == nil else { continue }
            throw flaw(keyword, "is \(value.kind) and no number")
        }
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
        if let gbnf = rule.gbnf { return gbnf }
        if let low = low.0, let high = high.0, low > high {
            throw contradiction(keyword, "leaves no number: the lowest one is above the highest")
        }
        let hasStep = schema["multipleOf"] != nil
        throw flaw(
            hasStep ? "multipleOf" : keyword, "leaves no number that a grammar can hold", isContradiction: !hasStep)
    }
}

/// The formats of strings that are followed.
enum Formats {
    private static let days =
        "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])"
    private static let clock =
        "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
    private static let octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"

    /// The form in which a grammar writes each.
    static let written = [
        "date": "^[12][0-9]{3}-(\(days))$", "time": "^\(clock)$", "date-time": "^[12][0-9]{3}-(\(days))T\(clock)$",
        "email": "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,2}@[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,2}\\.[a-z]{2,8}$",
        "idn-email": "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,2}@[a-z0-9]{1,20}\\.[a-z]{2,8}$",
        "hostname": "^[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){0,4}$", "ipv4": "^(\(octet)\\.){3}\(octet)$",
        "ipv6": "^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
        "uri": "^https?://[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){1,3}(/[A-Za-z0-9._~-]{1,30}){0,6}/?$",
        "url": "^https?://[a-z0-9]{1,20}(\\.[a-z0-9]{1,20}){1,3}(/[A-Za-z0-9._~-]{1,30}){0,6}/?$",
        "uri-reference": "^(/[A-Za-z0-9._~-]{1,30}){1,6}$",
        "duration": "^P([0-9]{1,4}D|T[0-9]{1,4}[HMS]|[0-9]{1,3}DT[0-9]{1,2}H)$",
        "json-pointer": "^(/[A-Za-z0-9_-]{1,30}){0,6}$",
    ]

    private static let anyDate = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    private static let anyTime =
        "([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([zZ]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"

    /// The form that a finished text must have.
    static let check = [
        "date": "^\(anyDate)$", "time": "^\(anyTime)$", "date-time": "^\(anyDate)[tT]\(anyTime)$",
        "uuid": "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", "email": "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$",
        "idn-email": "^[^@\\s]+@[^@\\s]+$",
        "hostname": "^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$",
        "ipv4": "^(\(octet)\\.){3}\(octet)$", "ipv6": "^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$",
        "uri": "^[A-Za-z][A-Za-z0-9+.-]*:\\S+$", "url": "^[A-Za-z][A-Za-z0-9+.-]*:\\S+$", "uri-reference": "^\\S*$",
        "duration": "^P(?=.)([0-9]+[YMWD])*(T([0-9]+[HMS])+)?$", "json-pointer": "^(/[^/]*)*$",
    ]
}
