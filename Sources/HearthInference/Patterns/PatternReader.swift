/// Reads regular expressions of ECMAScript, and the forms of other dialects that schemas contain: `(?P<name>…)`, `\A`,
/// `\Z`, `(?i)`, atomic groups and possessive repetitions.
struct PatternReader {
    let characters: [Unicode.Scalar]
    var position = 0
    private var depth = 0
    private var groupCount = 0
    /// All groups of the expression: references may come before their group.
    let groups: (count: Int, names: [String: Int])
    var flags = Flags()
    var hasReferences = false

    struct Flags {
        var ignoresCase = false
        var dotIsAll = false
        var hasLines = false
        var isExtended = false
    }

    /// The most bytes of an expression.
    static let maximumLength = 16 << 10
    private static let maximumDepth = 64
    /// The most repetitions that a number can say; a higher one means this many.
    static let maximumCount = 1 << 24

    /// Reads an expression.
    /// - Throws: ``PatternFlaw``.
    static func read(_ text: String) throws(PatternFlaw) -> (root: PatternNode, hasReferences: Bool) {
        var text = Substring(text)
        // Some schemas hold the literal of another language: /…/i.
        var flags = Flags()
        if text.hasPrefix("/^"), let end = text.lastIndex(of: "/"), end > text.startIndex,
            text[text.index(after: end)...].allSatisfy({ "gimsuy".contains($0) })
        {
            let letters = text[text.index(after: end)...]
            (flags.ignoresCase, flags.dotIsAll) = (letters.contains("i"), letters.contains("s"))
            text = text[..<end].dropFirst()
        }
        guard text.utf8.count <= maximumLength else {
            throw PatternFlaw(reason: "has more than \(maximumLength) bytes")
        }
        var reader = PatternReader(text, flags)
        let root = try reader.alternatives()
        guard reader.position == reader.characters.count else {
            throw PatternFlaw(reason: "has a parenthesis that closes nothing")
        }
        return (root, reader.hasReferences)
    }

    private init(_ text: Substring, _ flags: Flags) {
        characters = Array(text.unicodeScalars)
        groups = PatternNames.groups(in: characters)
        self.flags = flags
    }

    // MARK: Structure

    private mutating func alternatives() throws(PatternFlaw) -> PatternNode {
        let before = flags
        defer { flags = before }
        var parts = [try sequence()]
        while take("|") { parts.append(try sequence()) }
        return parts.count == 1 ? parts[0] : .alternatives(parts)
    }

    private mutating func sequence() throws(PatternFlaw) -> PatternNode {
        var items: [PatternNode] = []
        while let character = peek, character != "|", character != ")" {
            if flags.isExtended, skipsExtended(character) { continue }
            guard let item = try item() else { continue }
            items.append(try repeated(item))
        }
        return items.count == 1 ? items[0] : items.isEmpty ? .empty : .sequence(items)
    }

    /// One item; `nil` for flags, which match nothing.
    private mutating func item() throws(PatternFlaw) -> PatternNode? {
        let character = characters[position]
        position += 1
        switch character {
        case "(": return try group()
        case "[": return .set(cased(try characterClass()))
        case ".": return .set(flags.dotIsAll ? .any : .dot)
        case "^": return .begin(isOfLine: flags.hasLines)
        case "$": return .end(isOfLine: flags.hasLines)
        case "\\": return try escape()
        case "*", "+", "?": throw PatternFlaw(reason: "repeats nothing")
        default: return .set(cased(PatternSet(exact: CharacterRanges(character))))
        }
    }

    func cased(_ set: PatternSet) -> PatternSet { flags.ignoresCase ? set.ignoringCase : set }

    private mutating func group() throws(PatternFlaw) -> PatternNode? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw PatternFlaw(reason: "is nested too deeply") }
        guard take("?") else {
            groupCount += 1
            let number = groupCount
            return .group(try body(), number: number)
        }
        if take(":") || take(">") { return try body() }
        if take("=") { return .look(try body(), isAhead: true, isNegated: false) }
        if take("!") { return .look(try body(), isAhead: true, isNegated: true) }
        if take("<=") { return .look(try body(), isAhead: false, isNegated: false) }
        if take("<!") { return .look(try body(), isAhead: false, isNegated: true) }
        if take("#") {
            _ = name(until: ")")
            return nil
        }
        if take("P=") {
            let name = name(until: ")")
            return try reference(named: name)
        }
        if take("P<") || take("<") {
            guard !name(until: ">").isEmpty else { throw PatternFlaw(reason: "has a group without a name") }
            groupCount += 1
            let number = groupCount
            return .group(try body(), number: number)
        }
        return try flagged()
    }

    private mutating func body() throws(PatternFlaw) -> PatternNode {
        let body = try alternatives()
        guard take(")") else { throw PatternFlaw(reason: "has a group that is not closed") }
        return body
    }

    /// `(?i)` for the rest of the group, or `(?i:…)`.
    private mutating func flagged() throws(PatternFlaw) -> PatternNode? {
        let before = flags
        var isSet = true
        while let letter = peek, letter != ")", letter != ":" {
            position += 1
            switch letter {
            case "i": flags.ignoresCase = isSet
            case "s": flags.dotIsAll = isSet
            case "m": flags.hasLines = isSet
            case "x": flags.isExtended = isSet
            case "u", "a", "U", "L": break
            case "-": isSet = false
            default: throw PatternFlaw(reason: "has a group of an unknown kind")
            }
        }
        if take(")") { return nil }
        guard take(":") else { throw PatternFlaw(reason: "has a group that is not closed") }
        let node = try body()
        flags = before
        return node
    }

    // MARK: Repetitions

    private mutating func repeated(_ item: PatternNode) throws(PatternFlaw) -> PatternNode {
        var item = item
        var isRepeated = false
        while let (low, high) = try repetition() {
            guard !isRepeated else { throw PatternFlaw(reason: "repeats a repetition") }
            isRepeated = true
            let isLazy = take("?")
            _ = take("+")
            item = .repeated(item, low: low, high: high, isLazy: isLazy)
        }
        return item
    }

    private mutating func repetition() throws(PatternFlaw) -> (Int, Int?)? {
        if flags.isExtended { while let next = peek, skipsExtended(next) {} }
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        guard peek == "{" else { return nil }
        let start = position
        position += 1
        let low = number()
        var high = low
        if take(",") { high = number() ?? (peek == "}" ? nil : -1) }
        let isOpen = characters[position - 1] == ","
        // Other braces stand for themselves.
        guard take("}"), low != nil || high != nil, high != -1 else {
            position = start
            return nil
        }
        if let low, let high, high < low { throw PatternFlaw(reason: "has a repetition that ends before it begins") }
        return (low ?? 0, isOpen ? nil : high)
    }

    mutating func number() -> Int? {
        var value: Int?
        while let next = peek, let digit = Int(String(next)), next.isASCII {
            value = min(Self.maximumCount, (value ?? 0) * 10 + digit)
            position += 1
        }
        return value
    }

    // MARK: Pieces

    var peek: Unicode.Scalar? { position < characters.count ? characters[position] : nil }

    mutating func take(_ text: String) -> Bool {
        guard position <= characters.count, characters[position...].starts(with: text.unicodeScalars) else {
            return false
        }
        position += text.unicodeScalars.count
        return true
    }

    /// The text up to a character, which is skipped.
    mutating func name(until end: Unicode.Scalar) -> String {
        let start = position
        while let next = peek, next != end { position += 1 }
        let text = String(String.UnicodeScalarView(characters[start..<position]))
        if position < characters.count { position += 1 }
        return text
    }

    /// Skips a space or a comment between the items of an extended expression.
    private mutating func skipsExtended(_ character: Unicode.Scalar) -> Bool {
        if character == "#" {
            while let next = peek, next != "\n" { position += 1 }
            return true
        }
        guard character.properties.isWhitespace else { return false }
        position += 1
        return true
    }
}
